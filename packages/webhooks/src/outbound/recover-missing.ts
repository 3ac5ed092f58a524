/** Makes deliveries of events that a webhook never got one of: a recovery of what is missing. */
import {
  noteOpenTransactions,
  compileFilterMatch,
  DeferredFilters,
  endedSpan,
  EVERYWHERE,
  setCounted,
  tenantOfEvent,
  tryLockRecoveries,
  uuidv7,
  type Core,
  type Db,
  type RecoveredPortion,
  type Recovery,
} from '@svc/core/internal'
import type { Webhook } from '../schemas.ts'
import {
  countMissing,
  deleteMissing,
  insertMissing,
  readMissing,
  takeMissing,
  type MissingEvent,
} from '../tables/missing-events.ts'
import { findWebhook } from '../tables/webhooks.ts'
import { QUEUE, SUBSCRIPTION } from './constants.ts'
import type { DeliveryData } from './delivery/delivery-job.ts'

type Wants = Pick<Webhook, 'id' | 'tenant' | 'events' | 'filter'>

/**
 * Begins to recover all that a webhook has missed since a moment, in the transaction in which it
 * becomes active again. What is missing is determined after the commit, when every publish has ended
 * that may have seen the webhook inactive: nothing falls between the two. After the commit the caller
 * notifies the pumps: `core.queues.groupsChanged(QUEUE)`.
 */
export async function recoverMissed(
  core: Core,
  db: Db,
  webhookId: string,
  since: string,
): Promise<Recovery> {
  const request = { queue: QUEUE, group: webhookId, what: 'missing' as const, since, until: null }
  return await core.queues.recover(db, { ...request, perSecond: null })
}

/** Writes down what is missing. Returns how many deliveries it will be. */
export async function prepareMissing(
  db: Db,
  recovery: Recovery,
  webhook: Wants,
  logDays: number,
): Promise<number> {
  const wanted = await insertMissing(db, { recovery, webhook, subscription: SUBSCRIPTION, logDays })
  const deliveries = wanted - (await dropUnmatched(db, recovery.id, webhook))
  await setCounted(db, recovery.id, deliveries)
  return deliveries
}

/** What {@link prepareMissing} would return; where a filter has to be asked, by writing it down. */
export async function previewMissing(
  db: Db,
  recovery: Recovery,
  webhook: Wants,
  logDays: number,
): Promise<number> {
  if (webhook.filter !== null) return prepareMissing(db, recovery, webhook, logDays)
  return countMissing(db, { recovery, webhook, subscription: SUBSCRIPTION, logDays })
}

/** Of all recoveries of this process, which share its time. */
const filters = new DeferredFilters()

/** Events whose payloads are read at a time. */
const READ_AT_A_TIME = 200

async function dropUnmatched(db: Db, recoveryId: string, { filter }: Wants): Promise<number> {
  if (filter === null) return 0
  const match = compileFilterMatch(filter)
  let dropped = 0
  for (let n = '0'; ;) {
    const read = await readMissing(db, recoveryId, n, READ_AT_A_TIME)
    const unmatched: typeof read = []
    for (const one of read) {
      const { event, eventId, payload } = one
      const { isMatch } = await filters.decide(match, () => ({
        event,
        tenant: tenantOfEvent(eventId),
        payload: JSON.parse(payload) as unknown,
      }))
      if (isMatch !== true) unmatched.push(one)
    }
    await deleteMissing(
      db,
      recoveryId,
      unmatched.map((one) => one.n),
    )
    dropped += unmatched.length
    if (read.length < READ_AT_A_TIME) return dropped
    n = read.at(-1)?.n ?? n
  }
}

/** A portion of such a recovery: see `Worker.recoverMissing`. */
export async function recoverMissingPortion(
  core: Core,
  logDays: number,
  db: Db,
  recovery: Recovery,
  limit: number,
): Promise<RecoveredPortion> {
  const { id, group } = recovery
  if (recovery.deliveries === null) {
    // The first portion notes which transactions are open. The next one comes when they have ended.
    if (recovery.hasNotedTransactions) {
      const webhook = await findWebhook(db, group, EVERYWHERE)
      if (webhook === undefined) return { done: 0, isFinished: true }
      // Another recovery that is counted at the same time would find the same events.
      if (!(await tryLockRecoveries(db, group))) {
        return { done: 0, isFinished: false, waitSeconds: 1 }
      }
      // Also what was published meanwhile by those who still saw it inactive.
      const until = await endedSpan(db, null)
      await prepareMissing(db, { ...recovery, until }, webhook, logDays)
    } else await noteOpenTransactions(db, recovery)
    return { done: 0, isFinished: false }
  }
  const events = await takeMissing(db, id, limit)
  await core.queues.insert(
    db,
    QUEUE,
    events.map((event) => jobOf(event, group)),
  )
  return { done: events.length, isFinished: events.length < limit }
}

/** Parked, as redriven dead letters are: new deliveries keep their latency, however many these are. */
function jobOf({ event, eventId }: MissingEvent, target: string) {
  const deliveryId = uuidv7()
  const data: DeliveryData = { event, eventId, target, deliveryId }
  return { id: deliveryId, data, group: target, parked: true }
}
