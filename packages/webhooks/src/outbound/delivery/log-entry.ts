import { uuidv7, type Job, type Result, type Settled } from '@svc/core/internal'
import type { LogRow } from '../../tables/delivery-log.ts'
import type { DeliveryStatus } from '../../schemas.ts'
import { skippedAttempt, type Attempt } from './attempt.ts'
import { attemptOf, deliveryJobOf, type DeliveryJob } from './delivery-job.ts'

const STATUS: Record<Exclude<Result, 'postponed' | 'parked'>, DeliveryStatus> = {
  completed: 'delivered',
  retry: 'failed',
  dead: 'dead',
  cancelled: 'skipped',
}

/** The row of an attempt. What the pump itself has failed (a fault of ours) has none to show. */
export function rowsOf(
  { job, result, nextAttemptAt }: Settled,
  made: Attempt | undefined,
): LogRow[] {
  if (made === undefined || result === 'postponed' || result === 'parked') return []
  return [rowOf(deliveryJobOf(job), made, STATUS[result], nextAttemptAt)]
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
