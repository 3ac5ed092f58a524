import type { DeadLetter, FanOutJob, Job } from '@svc/core/internal'

/** What a job of the delivery queue holds. */
export interface DeliveryJob extends Omit<FanOutJob, 'eventId'> {
  /** The webhook. */
  target: string
  /** `null` where no event made the delivery. */
  eventId: string | null
  /** JSON text, where no event holds it. */
  payload?: string
}

export const deliveryJobOf = ({ data }: { data: unknown }): DeliveryJob => data as DeliveryJob

/** Which attempt of its delivery a job makes: a redriven one goes on counting. */
export const attemptOf = (job: Job): number =>
  (deliveryJobOf(job).attemptsBefore ?? 0) + job.attempt

/** How many attempts a dead letter's delivery has had. */
export const attemptsOf = (letter: DeadLetter): number =>
  (deliveryJobOf(letter).attemptsBefore ?? 0) + letter.attempts

/** Of an event in a map: no name holds a line break. */
export const keyOf = (name: string, id: string | null): string => `${name}\n${id}`
