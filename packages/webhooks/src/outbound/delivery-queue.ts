/** The queue of deliveries, and how many of a webhook wait in it. */
import type { Core, Db, DeadLetter, FanOutJob, Job } from '@svc/core/internal'

/** The subscription through which published events fan out to webhooks. */
export const SUBSCRIPTION = '__svc.webhooks'

/** One job is one delivery to one webhook; the webhook's id is its recipient. */
export const QUEUE = '__svc.webhooks.deliver'

/** The most that are counted for a single webhook. */
export const MOST_COUNTED = 10_000
/** The most that are counted for each webhook of a list. */
export const MOST_COUNTED_IN_LIST = 1000

/** How many deliveries of each webhook have not ended. */
export const waitingOf = (
  { queues }: Pick<Core, 'queues'>,
  db: Db,
  ids: string[],
  most: number,
): Promise<Map<string, number>> => queues.count(db, QUEUE, ids, most)

/** Webhooks with the count that the table does not have. */
export async function withWaiting<Row extends { id: string }>(
  core: Pick<Core, 'queues'>,
  db: Db,
  rows: Row[],
  most = MOST_COUNTED_IN_LIST,
): Promise<(Row & { waiting: number })[]> {
  const ids = rows.map(({ id }) => id)
  const counts = await waitingOf(core, db, ids, most)
  return rows.map((row) => ({ ...row, waiting: counts.get(row.id) ?? 0 }))
}

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

/** Whether the filter of a delivery is not decided yet. A redriven one was, and so was a retried one. */
export const isUndecided = ({ data, retryCount }: DeliveryJob): boolean =>
  data.filter !== undefined && data.attemptsBefore === undefined && retryCount === 0

/** How many attempts the delivery of a dead letter has had. */
export const attemptCountOf = ({ data, attempts }: DeadLetter<DeliveryData>): number =>
  (data.attemptsBefore ?? 0) + attempts

/** The key of an event in a map: no event name holds a line break. */
export const eventKey = (name: string, id: string | null): string => `${name}\n${id}`
