import type { DeadLetter, FanOutJob, Job } from '@svc/core/internal'

/** The data of a job of the delivery queue. */
export interface DeliveryData extends Omit<FanOutJob, 'eventId'> {
  /** The id of the webhook. */
  recipient: string
  /** `null` where no event made the delivery. */
  eventId: string | null
  /** JSON text, where no event holds it. */
  payload?: string
  /**
   * The address that it goes to instead of the webhook's own. Its result does not change the
   * webhook's state.
   */
  url?: string
  /** A test: it is marked as one, and no event has happened. */
  isTest?: boolean
}

export type DeliveryJob = Job<DeliveryData>

/** The number of the attempt in its delivery: a redriven job goes on counting. */
export const attemptNumberOf = ({ data, attempt }: DeliveryJob): number =>
  (data.attemptsBefore ?? 0) + attempt

/** How many attempts the delivery of a dead letter has had. */
export const attemptCountOf = ({ data, attempts }: DeadLetter<DeliveryData>): number =>
  (data.attemptsBefore ?? 0) + attempts

/** The key of an event in a map: no event name holds a line break. */
export const eventKey = (name: string, id: string | null): string => `${name}\n${id}`
