import { randomUUID } from 'node:crypto'
import { assertTransaction } from '../postgres/foreign-clients.ts'
import type { Db } from '../postgres/transaction.ts'

/** What `kysely.transaction().execute` gives to its function. */
export interface KyselyTransaction {
  readonly isTransaction: boolean
  executeQuery: (query: never) => Promise<{
    readonly rows: unknown[]
    readonly numAffectedRows?: bigint | undefined
  }>
  withoutPlugins(): unknown
}

interface Executor {
  executeQuery(query: object): Promise<{ rows: unknown[]; numAffectedRows?: bigint | undefined }>
}

/**
 * A transaction of kysely.
 *
 * @throws InvalidTransaction
 * @example
 * await kysely.transaction().execute(async (trx) => {
 *   await trx.insertInto('orders').values({ id: 42 }).execute()
 *   await app.svc.events.publish('order.created', { id: 42 }, { db: fromKysely(trx) })
 * })
 */
export function fromKysely(trx: KyselyTransaction): Db {
  assertTransaction(trx, 'kysely')
  // Plugins would rename the columns of our statements.
  const plain = trx.withoutPlugins() as Executor
  return {
    async query(sql, parameters = []) {
      const { rows, numAffectedRows } = await plain.executeQuery({
        sql,
        parameters,
        // The same object as CompiledQuery.raw makes.
        query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
        queryId: { queryId: randomUUID() },
      })
      return {
        rows,
        rowCount: numAffectedRows === undefined ? rows.length : Number(numAffectedRows),
      }
    },
  }
}
