/** Transactions of callers, whose end this process has to poll for. */
import type { Db } from '@svc/core/internal'

/** The id of the transaction that `db` is in. */
export async function findTransactionId(db: Db): Promise<string> {
  const { rows } = await db.query('select pg_current_xact_id()::text as id')
  return rows[0].id
}

/**
 * The ids of the transactions that are committed, rolled back, or so old that Postgres has
 * forgotten their status, and of those that a failover has undone. The status of an id that the server has
 * not assigned yet is an error, for all ids of the statement, so that it is asked for older ones alone.
 */
export async function findEndedTransactions(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query(
    `select id from unnest($1::text[]) as id
      where case
        -- All ids before this one are assigned. Those from it on may be, to open transactions.
        when id::xid8 < pg_snapshot_xmax(pg_current_snapshot())
          then pg_xact_status(id::xid8) is distinct from 'in progress'
        -- Each id was assigned before this statement began, so that one assigned now is later. It is
        -- called for only while nothing has ended that began after the transaction.
        else id::xid8 > pg_current_xact_id()
      end`,
    [ids],
  )
  return rows.map(({ id }) => id)
}
