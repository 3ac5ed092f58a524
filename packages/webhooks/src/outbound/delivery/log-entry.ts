import { uuidv7, type Ended, type Result, type Settled } from '@svc/core/internal'
import type { DeliveryStatus } from '../../delivery-schemas.ts'
import { isUndecided } from './undecided-deliveries.ts'
import type { LogRow } from '../../tables/delivery-log.ts'
import { lastErrorOf, type DeadDelivery } from '../lifecycle-events.ts'
import { skippedAttempt, type AttemptRecord } from './attempt-record.ts'
import { attemptNumberOf, type DeliveryData, type DeliveryJob } from './delivery-job.ts'

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
  // Of these the next attempt has the same number: it is the first one of the statistics.
  const isRepeated = result === 'postponed' || result === 'parked'
  return [
    isRepeated
      ? rowOf(job.data, record, STATUS[result], nextAttemptAt)
      : attemptRow(job, record, STATUS[result], nextAttemptAt),
  ]
}

/** The row of an attempt that was made, with the values for the statistics. */
export function attemptRow(
  job: DeliveryJob,
  record: AttemptRecord,
  status: DeliveryStatus,
  nextAttemptAt: Date | null,
): LogRow {
  const row = rowOf(job.data, record, status, nextAttemptAt)
  if (record.attempt !== 1 || status === 'skipped' || record.error === 'lost') return row
  // The clocks of the process and of Postgres may differ.
  const sinceMs = Math.max(0, Date.parse(record.attemptedAt) - job.createdAt.getTime())
  return { ...row, firstAttemptMs: Math.min(Math.round(sinceMs), 2 ** 31 - 1) }
}

/** The lifecycle events of deliveries that have become dead letters. */
export const deadDeliveriesOf = (settled: Settled<DeliveryData, AttemptRecord>[]): DeadDelivery[] =>
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
  rowOf(job.data, skippedAttempt(attemptNumberOf(job)), 'skipped', null)

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
