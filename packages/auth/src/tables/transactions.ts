/** Transactions of callers, whose end this process has to poll for. */
import type { Db } from '@svc/core/internal'

/** The id of the transaction that `db` is in. */
export async function findTransactionId(db: Db): Promise<string> {
  const { rows } = await db.query('select pg_current_xact_id()::text as id')
  return rows[0].id
}

/**
 * The ids of the transactions that are committed, rolled back, or so old that Postgres has
 * forgotten their status.
 */
export async function findEndedTransactions(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query(
    `select id from unnest($1::text[]) as id
      where pg_xact_status(id::xid8) is distinct from 'in progress'`,
    [ids],
  )
  return rows.map(({ id }) => id)
}
