/** Counts the deliveries of webhooks that have not ended. */
import type { Core, Db } from '@svc/core/internal'
import { QUEUE } from './constants.ts'

/** The most that are counted for a single webhook. */
export const MOST_COUNTED = 10_000
/** The most that are counted for each webhook of a list. */
export const MOST_COUNTED_IN_LIST = 1000

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
