/** The queue of deliveries, and how many of a webhook wait in it. */
import type { Core, Db } from '@svc/core/internal'

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
