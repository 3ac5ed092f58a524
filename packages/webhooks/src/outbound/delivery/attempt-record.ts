import type { Failure } from '../http/post-result.ts'
import { uuidv7, type Ended, type Result, type Settled } from '@svc/core/internal'
import type { DeliveryStatus } from '../../delivery-schemas.ts'
import { isUndecided } from './undecided-deliveries.ts'
import type { LogRow } from '../../tables/delivery-log.ts'
import { lastErrorOf, type DeadDelivery } from '../lifecycle-events.ts'
import { attemptNumberOf, type DeliveryData, type DeliveryJob } from '../delivery-queue.ts'

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
