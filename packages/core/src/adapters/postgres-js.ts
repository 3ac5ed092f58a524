import { assertTransaction } from '../postgres/foreign-clients.ts'
import type { Db } from '../postgres/transaction.ts'
import { answerOf } from './answer.ts'

/** What `sql.begin` gives to its function. */
export interface PostgresJsTransaction {
  unsafe: (text: string, values?: never[]) => PromiseLike<unknown>
  typed: unknown
  savepoint: unknown
}

/**
 * The type of a parameter, as text. Postgres reads it as 0 and finds the type out. postgres.js takes
 * the number 0 for a type that is not given, and would write a string by the client's function for
 * the type that Postgres has found: for `jsonb` as JSON, or as drizzle has set it.
 */
const AS_IT_IS = '0'

type Typed = (value: string, type: string) => unknown

/**
 * A transaction of postgres.js.
 *
 * @throws InvalidTransaction
 * @example
 * await sql.begin(async (sql) => {
 *   await sql`insert into orders (id) values (42)`
 *   await app.svc.events.publish('order.created', { id: 42 }, { db: fromPostgresJs(sql) })
 * })
 */
export function fromPostgresJs(sql: PostgresJsTransaction): Db {
  assertTransaction(sql, 'postgres.js')
  const typed = sql.typed as Typed
  const parameter = (value: unknown) => (typeof value === 'string' ? typed(value, AS_IT_IS) : value)
  return {
    query: async (text, values = []) =>
      answerOf(await sql.unsafe(text, values.map(parameter) as never[])),
  }
}
