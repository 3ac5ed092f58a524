/**
 * What is recorded of attempts: rows of the log, and in the transaction that settles deliveries, deactivated
 * webhooks and the retention of events.
 */
import {
  isLockConflict,
  retainEvents,
  uuidv7,
  type Core,
  type Db,
  type Ended,
  type EventKey,
  type Recorder,
  type Result,
  type Settled,
} from '@svc/core/internal'
import type { DeliveryStatus } from '../../delivery-schemas.ts'
import { insertLogRows, RECORD_ATTEMPTS, type LogRow } from '../../tables/delivery-log.ts'
import { findDeletedWebhooks, keepWebhooks } from '../../tables/webhooks.ts'
import {
  attemptNumberOf,
  isUndecided,
  QUEUE,
  type DeliveryData,
  type DeliveryJob,
} from '../delivery-queue.ts'
import { disable, reactivateIn } from '../health/disable-and-resume.ts'
import type { Failure } from '../http/post-result.ts'
import {
  isLifecycleEvent,
  lastErrorOf,
  publishDead,
  type DeadDelivery,
} from '../lifecycle-events.ts'

type SettledDelivery = Settled<DeliveryData, AttemptRecord>

/** One attempt, for the log and for a dead letter. */
export interface AttemptRecord {
  /** 1, 2, … over all attempts of the delivery. */
  attempt: number
  statusCode: number | null
  /**
   * `transform`: the webhook's transform threw, or no host has had it for a week. `secret`: no host could
   * read the webhook's secret for a week. `lost`: its process died.
   */
  error: Failure | 'transform' | 'secret' | 'lost' | null
  durationMs: number | null
  responseBody: string | null
  /** ISO 8601. */
  attemptedAt: string
  /**
   * How many milliseconds the steps took, at most 32767 of each: name, connection, TLS, to the first byte of the
   * answer, and its rest. There where it made a connection, or failed; `null` for steps that it did not have.
   */
  phases?: (number | null)[]
  /** Where it connected to, likewise. */
  address?: string
  /** Of a failed attempt: a line for each header of the answer, the first KiB of them. */
  responseHeaders?: string
  /** Where the attempt says something about the receiver of the webhook: its address. Not in the log. */
  testedUrl?: string
}

/**
 * The record of what sent no request: the webhook or the event is deleted, or its transform gave `null`. With an
 * `error` it is an attempt that failed for a reason of the host, or whose process died before it was recorded.
 */
export const unsent = (
  attempt: number,
  error: 'transform' | 'secret' | 'lost' | null = null,
  at = new Date(),
): AttemptRecord => ({
  attempt,
  statusCode: null,
  error,
  durationMs: null,
  responseBody: null,
  attemptedAt: at.toISOString(),
})

/** The one place where core's results become the statuses of the API. */
const STATUS: Record<Result, DeliveryStatus> = {
  completed: 'delivered',
  retry: 'failed',
  // These were attempts where they have a record: the proxy failed, or a probe did.
  postponed: 'failed',
  parked: 'failed',
  dead: 'dead',
  cancelled: 'skipped',
}

/**
 * The row of an attempt; none where there was none, or the pump itself failed it, a fault of ours.
 * `nextAttemptAt`: where that is known.
 */
export function rowsOf(
  { job, outcome, result }: Ended<DeliveryData, AttemptRecord>,
  nextAttemptAt: Date | null = null,
): LogRow[] {
  const record = 'detail' in outcome ? outcome.detail : undefined
  if (record === undefined) return []
  const row = rowOf(job.data, record, STATUS[result], nextAttemptAt)
  // Of these the next attempt has the same number: it is the first one of the statistics.
  const isRepeated = result === 'postponed' || result === 'parked'
  const isMade = !isRepeated && result !== 'cancelled' && record.error !== 'lost'
  if (!isMade || record.attempt !== 1) return [row]
  // The clocks of the process and of Postgres may differ.
  const sinceMs = Math.max(0, Date.parse(record.attemptedAt) - job.createdAt.getTime())
  return [{ ...row, firstAttemptMs: Math.min(Math.round(sinceMs), 2 ** 31 - 1) }]
}

/** The lifecycle events of deliveries that have become dead letters. */
export const deadDeliveriesOf = (settled: SettledDelivery[]): DeadDelivery[] =>
  settled
    .filter(({ job, result }) => result === 'dead' && job.data.url === undefined)
    .map(({ job, outcome }) => {
      const { deliveryId, event, eventId } = job.data
      const webhookId = job.data.recipient
      const record = 'detail' in outcome ? outcome.detail : undefined
      const lastError = record === undefined ? null : lastErrorOf(record)
      return { webhookId, deliveryId, event, eventId, attempts: attemptNumberOf(job), lastError }
    })

/** The rows of jobs that are deleted. One whose filter is not decided may never have been a delivery. */
export const skippedRows = (jobs: readonly DeliveryJob[]): LogRow[] =>
  jobs.filter((job) => !isUndecided(job)).map(skippedRow)

/** The row of a job that is deleted before its attempt. */
export const skippedRow = (job: DeliveryJob): LogRow =>
  rowOf(job.data, unsent(attemptNumberOf(job)), 'skipped', null)

export function rowOf(
  { recipient, event, eventId, deliveryId, payload, url, isTest }: DeliveryData,
  record: AttemptRecord,
  status: DeliveryStatus,
  nextAttemptAt: Date | null,
): LogRow {
  return {
    id: uuidv7(),
    webhookId: recipient,
    event,
    eventId,
    payload: payload ?? null,
    deliveryId,
    ...record,
    status,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    ...(url === undefined ? {} : { url }),
    ...(isTest === true ? { isTest } : {}),
  }
}

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
    // Rejects where the connection has ended.
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

/** Whether the attempt has failed, and that says something about the receiver. */
export const isFailure = ({ outcome }: SettledDelivery): boolean =>
  outcome.kind !== 'completed' && 'detail' in outcome && outcome.detail?.testedUrl !== undefined

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
