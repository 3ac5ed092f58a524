/**
 * The condition of rows whose transaction `column` (xid8) was committed after a snapshot was taken,
 * however early it began. The lower bound is for the index.
 */
export const committedSince = (column: string, snapshot: string): string =>
  `${column} >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
   and not pg_visible_in_snapshot(${column}, ${snapshot}::pg_snapshot)`
