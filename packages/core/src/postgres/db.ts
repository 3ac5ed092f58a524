/** What statements run on, and the check of the option `db` of `events.publish` and of every operation that writes. */
import type { Client, Pool } from 'pg'
import { NoTransaction } from '../errors.ts'
import { kindOf } from '../options/check-options.ts'
import { foreignDb } from './foreign-clients.ts'

/**
 * Anything that answers a statement: a pool or client of `pg`, the `db` of `svc.transaction`, what an
 * adapter of `@svc/core/adapters` returns. As the option `db` it must be inside a transaction.
 *
 * @example
 * const { rows } = await db.query('select item from orders where id = $1', [42])
 */
export interface Db {
  // oxlint-disable-next-line typescript/no-explicit-any -- a row is what its statement says
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount?: number | null }>
}

export const BEGIN = 'begin on a client of the pool, and pass that client'
const PASS =
  'pass the client of pg that your transaction runs on, such an object, or what fromDrizzle, fromKysely, fromKnex, fromPrisma or fromPostgresJs of @svc/core/adapters makes of the transaction of your library'

/**
 * What is written with `db` takes two statements or more. Outside a transaction each would be
 * committed by itself, and a process that ends between them would leave an event without its jobs.
 *
 * @param caller the name of the function that was given `db`, for the message
 * @throws NoTransaction
 */
export function checkedDb(db: unknown, caller: string): Db {
  if (db === null) throw new NoTransaction(caller, 'null', BEGIN)
  const { query, totalCount, getTransactionStatus } = db as Partial<Pool & Client>
  if (typeof query !== 'function') {
    const { what, right } = foreignDb(db) ?? { what: kindOf(db), right: PASS }
    throw new NoTransaction(caller, what, right)
  }
  if (totalCount !== undefined) throw new NoTransaction(caller, 'a pool', BEGIN)
  if (getTransactionStatus?.call(db as Client) === 'I') {
    throw new NoTransaction(caller, 'a client outside a transaction', 'begin on it first')
  }
  return db as Db
}
