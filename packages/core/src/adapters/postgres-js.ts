import { assertTransaction } from '../postgres/foreign-clients.ts'
import type { Db } from '../postgres/transaction.ts'
import { answerOf } from './answer.ts'

/** What `sql.begin` gives to its function. */
export interface PostgresJsTransaction {
  unsafe: (text: string, values?: never[]) => PromiseLike<unknown>
  savepoint: unknown
}

interface Options {
  options?: { serializers?: Record<number, (value: string) => unknown> }
}

/** The type of `jsonb` in Postgres. */
const JSONB = 3802

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
  // postgres.js writes a string for a parameter of type jsonb as JSON by default: our strings are
  // JSON already.
  const writesJson = (sql as Options).options?.serializers?.[JSONB]?.('') !== ''
  const parameter = (value: unknown) =>
    writesJson && typeof value === 'string' ? new TextParameter(value) : value
  return {
    query: async (text, values = []) =>
      answerOf(await sql.unsafe(text, values.map(parameter) as never[])),
  }
}

/** The same text, whether postgres.js writes it as a string or as JSON. */
class TextParameter {
  #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }

  toJSON(): unknown {
    return JSON.parse(this.#text)
  }
}
