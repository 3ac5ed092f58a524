import { assertTransaction } from '../postgres/foreign-clients.ts'
import type { Db } from '../postgres/transaction.ts'

/** What `knex.transaction` gives to its function, on the client `pg`. */
export interface KnexTransaction {
  // oxlint-disable-next-line typescript/no-explicit-any -- as knex declares it
  client: any
  isTransaction?: boolean
}

interface Client {
  /** On a transaction: returns its one connection, which goes back when it ends. */
  acquireConnection(): Promise<Db>
}

/**
 * A transaction of knex.
 *
 * @throws InvalidTransaction
 * @example
 * await knex.transaction(async (trx) => {
 *   await trx('orders').insert({ id: 42 })
 *   await app.svc.events.publish('order.created', { id: 42 }, { db: fromKnex(trx) })
 * })
 */
export function fromKnex(trx: KnexTransaction): Db {
  assertTransaction(trx, 'knex')
  return {
    // On the connection itself: `raw` would take the `?` of a statement for a parameter.
    async query(text, values) {
      const connection = await (trx.client as Client).acquireConnection()
      return connection.query(text, values)
    },
  }
}
