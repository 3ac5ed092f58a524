/**
 * Writes what settled deliveries result in: rows of the log, deactivated webhooks, the retention of
 * events.
 */
import {
  isLockConflict,
  retainEvents,
  type Core,
  type Db,
  type EventKey,
  type Recorder,
  type Settled,
} from '@svc/core/internal'
import { disable, reactivateIn } from '../health/disable-and-resume.ts'
import { insertLogRows, RECORD_ATTEMPTS, type LogRow } from '../../tables/delivery-log.ts'
import { findDeletedWebhooks, keepWebhooks } from '../../tables/webhooks.ts'
import { QUEUE, type DeliveryData, type DeliveryJob } from '../delivery-queue.ts'
import { isLifecycleEvent, publishDead } from '../lifecycle-events.ts'
import { deadDeliveriesOf, rowsOf, skippedRow, type AttemptRecord } from './attempt-record.ts'

type SettledDelivery = Settled<DeliveryData, AttemptRecord>

/**
 * The row of an ordinary delivery. The others resume a webhook, or lock the row of an old event, which a transaction of the host may hold.
 */
export const attempts: Recorder<DeliveryData, AttemptRecord> = {
  function: RECORD_ATTEMPTS,
  rowsOf(ended) {
    const { job } = ended
    const isOrdinary = job.isProbe !== true && !isOld(job, Date.now() - DAY_MS)
    return isOrdinary ? rowsOf(ended).map((row) => ({ ...row, job: job.id })) : null
  },
}

export async function recordDeliveries(
  core: Core,
  db: Db,
  deliveryLogRetentionDays: number,
  given: SettledDelivery[],
): Promise<void> {
  const { settled, dropped } = await dropDeadOfDeleted(core, db, given)
  const ended = settled.filter(({ result }) => result !== 'postponed' && result !== 'parked')
  await insertAccepted(core, db, [
    ...settled.flatMap((one) => rowsOf(one, one.nextAttemptAt)),
    ...dropped.map(skippedRow),
  ])
  await retainEvents(db, olderEventsOf(settled), deliveryLogRetentionDays)
  const gone = ended.filter(isGone).map(({ job }) => job.data)
  // The delivery of a lifecycle event publishes no further one.
  const told = new Set(
    gone.filter(({ event }) => !isLifecycleEvent(event)).map(({ recipient }) => recipient),
  )
  await disable(
    core,
    db,
    [...new Set(gone.map(({ recipient }) => recipient))],
    'gone',
    (id) => !told.has(id),
  )
  await publishDead(core, db, deadDeliveriesOf(ended))
  await resumeReached(core, db, ended)
}

/**
 * Deliveries whose last attempt ends when their webhook is deleted already leave no dead letter: as those that wait,
 * they are logged as skipped and dropped. `settled` has the result of an attempt that is tried again for them, and
 * `dropped` their jobs with the next attempt. In the transaction that has made the dead letters.
 */
async function dropDeadOfDeleted(
  core: Core,
  db: Db,
  settled: SettledDelivery[],
): Promise<{ settled: SettledDelivery[]; dropped: DeliveryJob[] }> {
  const dead = settled.filter(({ result }) => result === 'dead')
  const deleted = dead.length === 0 ? new Set<string>() : await deletedOf(db, dead)
  if (deleted.size === 0) return { settled, dropped: [] }
  await core.queues.dropDeadLetters(db, QUEUE, [...deleted])
  const isDropped = ({ job, result }: SettledDelivery): boolean =>
    result === 'dead' && deleted.has(job.data.recipient)
  return {
    settled: settled.map((one) => (isDropped(one) ? { ...one, result: 'retry' } : one)),
    dropped: settled.filter(isDropped).map(({ job }) => ({ ...job, attempt: job.attempt + 1 })),
  }
}

/**
 * A deletion that begins after this waits for the transaction, and finds its dead letters. Those that
 * come while a deletion is not committed are deleted at the end of its move.
 */
async function deletedOf(db: Db, dead: SettledDelivery[]): Promise<Set<string>> {
  const idsOf = (some: SettledDelivery[]) => new Set(some.map(({ job }) => job.data.recipient))
  // These are made inactive, which locks them: two transactions with both locks would wait for each other.
  const gone = idsOf(dead.filter(({ outcome }) => outcome.kind === 'rejected'))
  const ids = [...idsOf(dead)]
  const kept = new Set(
    await keepWebhooks(
      db,
      ids.filter((id) => !gone.has(id)),
    ),
  )
  return new Set(
    await findDeletedWebhooks(
      db,
      ids.filter((id) => !kept.has(id)),
    ),
  )
}

/** A row that Postgres refuses decides nothing about the delivery that it tells of, nor what follows from it. */
export async function insertAccepted(core: Core, db: Db, rows: LogRow[]): Promise<void> {
  if (rows.length === 0) return
  await db.query('savepoint svc_log')
  try {
    await insertLogRows(db, rows)
  } catch (error) {
    if (isLockConflict(error)) throw error
    // Rejects where the connection is lost.
    await db.query('rollback to savepoint svc_log')
    core.log.error(
      { err: error, rows: rows.length, deliveryId: rows[0]?.deliveryId },
      'Postgres refused rows of the delivery log; their deliveries are settled without them',
    )
  }
}

/**
 * A successful probe resumes its webhook in the transaction that records the delivery: without another
 * waiting job no later probe would resume it.
 */
async function resumeReached(core: Core, db: Db, ended: SettledDelivery[]): Promise<void> {
  for (const { job, outcome } of ended.filter(hasReached)) {
    const url = outcome.kind === 'completed' ? outcome.detail?.testedUrl : undefined
    if (url !== undefined) await reactivateIn(core, db, job.data.recipient, url)
  }
}

/** Whether the receiver answered 410: the attempts that are used up end as `failed`. */
export const isGone = ({ outcome }: SettledDelivery): boolean => outcome.kind === 'rejected'

/** Whether a probe has succeeded. */
export const hasReached = ({ job, outcome }: SettledDelivery): boolean =>
  outcome.kind === 'completed' && job.isProbe === true

const DAY_MS = 24 * 3600 * 1000

/**
 * The events that a row of the log may outlive: those of deliveries that took days, or were redriven.
 * All other events are kept as long as the log anyway.
 */
function olderEventsOf(settled: { job: DeliveryJob }[]): EventKey[] {
  const yesterday = Date.now() - DAY_MS
  return settled.flatMap(({ job }) => {
    const { event: name, eventId: id } = job.data
    return isOld(job, yesterday) && id !== null ? [{ name, id }] : []
  })
}

const isOld = ({ data, createdAt }: DeliveryJob, yesterday: number): boolean =>
  data.attemptsBefore !== undefined || createdAt.getTime() < yesterday
