import { uuidv7, type DeadLetter, type Job, type Settled } from '@svc/core/kit'
import type { LogRow } from '../delivery-log.ts'
import type { DeliveryStatus } from '../schemas.ts'
import { lostAttempt, skippedAttempt, type Attempt } from './attempt.ts'
import { attemptOf, attemptsOf, deliveryJobOf, type DeliveryJob } from './job.ts'

const STATUS: Record<Exclude<Settled['became'], 'postponed'>, DeliveryStatus> = {
  done: 'delivered',
  retry: 'failed',
  dead: 'dead',
  dropped: 'skipped',
}

/** The row of an attempt, after that of the one before it where its process died. */
export function rowsOf(
  { job, became, nextAttemptAt }: Settled,
  made: Attempt | undefined,
): LogRow[] {
  // What the pump itself has failed (a fault of ours) has no attempt to show.
  if (made === undefined || became === 'postponed') return []
  const data = deliveryJobOf(job)
  if (!job.lost) return [rowOf(data, made, STATUS[became], nextAttemptAt)]
  const noticedAt = new Date(made.attemptedAt)
  const lost = rowOf(data, lostAttempt(made.attempt - 1, noticedAt), 'failed', noticedAt)
  return [lost, rowOf(data, made, STATUS[became], nextAttemptAt)]
}

/** The row of a delivery whose last attempt ended with its process. */
export function lostRow(letter: DeadLetter): LogRow {
  const data = deliveryJobOf(letter)
  return rowOf(data, lostAttempt(attemptsOf(letter), letter.deadAt), 'dead', null)
}

/** The row of a job that nobody wants any more. */
export const skippedRow = (job: Job): LogRow =>
  rowOf(deliveryJobOf(job), skippedAttempt(attemptOf(job)), 'skipped', null)

export function rowOf(
  { target, event, eventId, deliveryId, payload }: DeliveryJob,
  made: Attempt,
  status: DeliveryStatus,
  nextAttemptAt: Date | null,
): LogRow {
  return {
    id: uuidv7(),
    webhookId: target,
    event,
    eventId,
    payload: payload ?? null,
    deliveryId,
    ...made,
    status,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  }
}
