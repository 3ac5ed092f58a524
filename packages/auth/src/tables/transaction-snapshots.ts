/**
 * True for rows whose transaction `column` (xid8) was committed after the snapshot was taken, even if
 * it began before. The lower bound is for the index.
 */
export const committedSince = (column: string, snapshot: string): string =>
  `${column} >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
   and not pg_visible_in_snapshot(${column}, ${snapshot}::pg_snapshot)`
