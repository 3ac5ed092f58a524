import { uuidv7, type Job, type Settled } from '@svc/core/kit'
import type { NewLogRow } from '../delivery-log.ts'
import type { DeliveryStatus } from '../schemas.ts'
import { lostAttempt, skippedAttempt, type Attempt } from './attempt.ts'
import { attemptOf, deliveryJobOf } from './job.ts'

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
): NewLogRow[] {
  // What the pump itself has failed (a fault of ours) has no attempt to show.
  if (made === undefined || became === 'postponed') return []
  if (!job.lost) return [rowOf(job, made, STATUS[became], nextAttemptAt)]
  const noticedAt = new Date(made.attemptedAt)
  const lost = rowOf(job, lostAttempt(made.attempt - 1, noticedAt), 'failed', noticedAt)
  return [lost, rowOf(job, made, STATUS[became], nextAttemptAt)]
}

/** The row of a job that nobody wants any more. */
export const skippedRow = (job: Job): NewLogRow =>
  rowOf(job, skippedAttempt(attemptOf(job)), 'skipped', null)

function rowOf(
  job: Job,
  made: Attempt,
  status: DeliveryStatus,
  nextAttemptAt: Date | null,
): NewLogRow {
  const { target, event, eventId, deliveryId, payload = null } = deliveryJobOf(job)
  return {
    id: uuidv7(),
    webhookId: target,
    event,
    eventId,
    payload,
    deliveryId,
    ...made,
    status,
    nextAttemptAt,
  }
}
