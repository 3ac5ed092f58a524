import { assertTransaction } from '../postgres/foreign-clients.ts'
import type { Db } from '../postgres/transaction.ts'
import { answerOf } from './answer.ts'

/** What `drizzle(…).transaction` gives to its function. */
export interface DrizzleTransaction {
  execute: (...query: never[]) => unknown
  rollback(): never
}

interface Session {
  prepareQuery(
    query: { sql: string; params: unknown[] },
    fields: undefined,
    name: undefined,
    isResponseInArrayMode: false,
  ): { execute(): Promise<unknown> }
}

/**
 * A transaction of drizzle, on pg (`node-postgres`), postgres.js or another driver of its for Postgres.
 *
 * @throws InvalidTransaction
 * @example
 * await drizzle(pool).transaction(async (tx) => {
 *   await tx.insert(orders).values({ id: 42 })
 *   await app.svc.events.publish('order.created', { id: 42 }, { db: fromDrizzle(tx) })
 * })
 */
export function fromDrizzle(tx: DrizzleTransaction): Db {
  assertTransaction(tx, 'drizzle')
  // Drizzle's own `execute` takes parameters only in its templates.
  const { session } = tx as unknown as { session: Session }
  return {
    query: async (sql, params = []) =>
      answerOf(await session.prepareQuery({ sql, params }, undefined, undefined, false).execute()),
  }
}
