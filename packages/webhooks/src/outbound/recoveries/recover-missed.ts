/** Makes deliveries of events that a webhook never got one of: a recovery of what was missed. */
import {
  noteOpenTransactions,
  compileFilterMatch,
  DeferredFilters,
  endedSpan,
  EVERYWHERE,
  findPayloads,
  isStatementTimeout,
  setCounted,
  subjectOf,
  tenantOfEvent,
  tryLockRecoveries,
  uuidv7,
  type Core,
  type Db,
  type RecoveredPortion,
  type Recovery,
} from '@svc/core/internal'
import type { Webhook } from '../../schemas.ts'
import {
  countedMissed,
  deleteMissed,
  findMissed,
  insertMissed,
  readMissed,
  takeMissed,
  type MissedEvent,
} from './missed-events.ts'
import { DAY_MS } from '../../tables/log-spans.ts'
import { findWebhook } from '../../tables/webhooks.ts'
import { QUEUE, SUBSCRIPTION, type DeliveryData } from '../delivery-queue.ts'

type Wants = Pick<Webhook, 'id' | 'tenant' | 'events' | 'filter'>

/**
 * Begins to recover all that a webhook has missed since a moment, in the transaction in which it
 * becomes active again. What was missed is determined after the commit, when every publish has ended
 * that may have seen the webhook inactive: nothing falls between the two. After the commit the caller
 * notifies the pumps: `core.queues.recipientsChanged(QUEUE)`.
 */
export async function recoverMissed(
  core: Core,
  db: Db,
  webhookId: string,
  since: string,
): Promise<Recovery> {
  const request = {
    queue: QUEUE,
    recipient: webhookId,
    what: 'missing' as const,
    since,
    until: null,
  }
  return await core.queues.recover(db, { ...request, perSecond: null })
}

/** The days of a span, one after another. Of events that are older than the log nothing is known: they are left out. */
function* slicesOf(
  { since, until }: { since: string; until: string },
  logDays: number,
): Generator<{ since: string; until: string }> {
  const endMs = Date.parse(until)
  let ms = Math.max(Date.parse(since), Date.now() - logDays * DAY_MS)
  while (ms < endMs) {
    const nextMs = Math.min(endMs, ms + DAY_MS)
    yield { since: isoOf(ms), until: isoOf(nextMs) }
    ms = nextMs
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** Writes down what was missed. Returns how many deliveries it will be. */
export async function prepareMissed(
  db: Db,
  recovery: Recovery,
  webhook: Wants,
  logDays: number,
): Promise<number> {
  for (const slice of slicesOf(recovery, logDays)) await prepareSlice(db, recovery, webhook, slice)
  const { count } = await countedMissed(db, recovery.id)
  await setCounted(db, recovery.id, count)
  return count
}

async function prepareSlice(
  db: Db,
  recovery: Recovery,
  webhook: Wants,
  span: { since: string; until: string },
): Promise<void> {
  const { last } = await countedMissed(db, recovery.id)
  const slice = { recovery, webhook, subscription: SUBSCRIPTION, ...span }
  if ((await insertMissed(db, recovery.id, slice, last)) > 0) {
    await dropUnmatched(db, recovery.id, webhook, last)
  }
}

/** How long a preview counts. */
const PREVIEW_MS = 5000

/**
 * How many deliveries a recovery of what was missed would make, counted up to `most` and for a few seconds:
 * `isAll` says whether these are all.
 */
export async function previewMissed(
  db: Db,
  span: { queue: string; since: string; until: string },
  webhook: Wants,
  { logDays, most }: { logDays: number; most: number },
): Promise<{ count: number; isAll: boolean }> {
  const untilMs = performance.now() + PREVIEW_MS
  let count = 0
  try {
    for (const days of slicesOf(span, logDays)) {
      const slice = { recovery: span, webhook, subscription: SUBSCRIPTION, ...days }
      const missed = await findMissed(db, slice, most + 1)
      for (let n = 0; n < missed.length; n += READ_AT_A_TIME) {
        const some = missed.slice(n, n + READ_AT_A_TIME)
        count +=
          webhook.filter === null
            ? some.length
            : await countMatched(db, webhook.filter, some, untilMs)
        if (count > most) return { count: most, isAll: false }
        if (performance.now() > untilMs) return { count, isAll: false }
      }
      if (missed.length > most || performance.now() > untilMs) return { count, isAll: false }
    }
  } catch (error) {
    if (!isStatementTimeout(error)) throw error
    return { count, isAll: false }
  }
  return { count, isAll: true }
}

async function countMatched(
  db: Db,
  filter: NonNullable<Wants['filter']>,
  keys: { name: string; id: string }[],
  untilMs: number,
): Promise<number> {
  const match = compileFilterMatch(filter)
  let count = 0
  for (const { name, id, payload, changed } of await findPayloads(db, keys)) {
    if (performance.now() > untilMs) break
    const { isMatch } = await filters.decide(match, () =>
      subjectOf(name, tenantOfEvent(id), JSON.parse(payload), changed),
    )
    if (isMatch === true) count += 1
  }
  return count
}

/** The filters of all recoveries of this process: together they take a bounded share of its time. */
const filters = new DeferredFilters()

/** Events whose payloads are read at a time. */
const READ_AT_A_TIME = 200

/** Deletes those after the number `after` that the filter does not match. */
async function dropUnmatched(
  db: Db,
  recoveryId: string,
  { filter }: Wants,
  after: string,
): Promise<void> {
  if (filter === null) return
  const match = compileFilterMatch(filter)
  for (let n = after; ;) {
    const read = await readMissed(db, recoveryId, n, READ_AT_A_TIME)
    const unmatched: typeof read = []
    for (const one of read) {
      const { event, eventId, payload, changed } = one
      const { isMatch } = await filters.decide(match, () =>
        subjectOf(event, tenantOfEvent(eventId), JSON.parse(payload), changed),
      )
      if (isMatch !== true) unmatched.push(one)
    }
    await deleteMissed(
      db,
      recoveryId,
      unmatched.map((one) => one.n),
    )
    if (read.length < READ_AT_A_TIME) return
    n = read.at(-1)?.n ?? n
  }
}

/** A portion of such a recovery: see `WorkerRecovery`. */
export async function recoverMissedPortion(
  core: Core,
  logDays: number,
  db: Db,
  recovery: Recovery,
  most: number,
): Promise<RecoveredPortion> {
  const { id, recipient } = recovery
  if (recovery.deliveries === null) return countPortion(logDays, db, recovery)
  const events = await takeMissed(db, id, most)
  await core.queues.insert(
    db,
    QUEUE,
    events.map((event) => jobOf(event, recipient)),
  )
  return { done: events.length, isFinished: events.length < most }
}

const COUNTED_IN_PORTION_MS = 500

/**
 * Writes down what was missed, a day of the span or more in each portion. The first portion notes which transactions
 * are open. The next one comes when they have ended.
 */
async function countPortion(
  logDays: number,
  db: Db,
  recovery: Recovery,
): Promise<RecoveredPortion> {
  const { id, recipient, position } = recovery
  const done = position && 'countedTo' in position ? position : null
  if (done === null && !recovery.hasNotedTransactions) {
    await noteOpenTransactions(db, recovery)
    return { done: 0, isFinished: false }
  }
  const webhook = await findWebhook(db, recipient, EVERYWHERE)
  if (webhook === undefined) return { done: 0, isFinished: true }
  // Another recovery that is counted at the same time would find the same events.
  if (!(await tryLockRecoveries(db, recipient))) {
    return { done: 0, isFinished: false, waitSeconds: 1, position }
  }
  // Also what was published meanwhile by those who still saw it inactive.
  const span = done ?? { countedTo: recovery.since, until: await endedSpan(db, null) }
  const endMs = performance.now() + COUNTED_IN_PORTION_MS
  for (const slice of slicesOf({ since: span.countedTo, until: span.until }, logDays)) {
    await prepareSlice(db, recovery, webhook, slice)
    if (slice.until < span.until && performance.now() > endMs) {
      return { done: 0, isFinished: false, position: { countedTo: slice.until, until: span.until } }
    }
  }
  const { count } = await countedMissed(db, id)
  await setCounted(db, id, count)
  return { done: 0, isFinished: count === 0 }
}

/** The job waits with the retries, as a redriven dead letter does: new deliveries keep their latency. */
function jobOf({ event, eventId }: MissedEvent, recipient: string) {
  const deliveryId = uuidv7()
  const data: DeliveryData = { event, eventId, recipient, deliveryId }
  return { id: deliveryId, data, recipient: recipient, isLate: true }
}
