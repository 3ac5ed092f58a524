import type { Db } from '@svc/core/internal'

const PORTION = 5000

/**
 * Deletes in portions, which keep no lock for long. The last parameter of the statement is how many rows it
 * deletes at most. Returns how many it has deleted.
 */
export async function deleteInPortions(
  db: Db,
  statement: string,
  values: readonly unknown[],
  stopping?: AbortSignal,
): Promise<number> {
  for (let deleted = 0; ;) {
    const { rowCount } = await db.query(statement, [...values, PORTION])
    deleted += rowCount ?? 0
    if ((rowCount ?? 0) < PORTION || stopping?.aborted) return deleted
  }
}
