/**
 * `@svc/core/adapters`: the transactions of other libraries as the option `db`. Typed by structure:
 * nothing of the libraries is imported, and any version fits that has these methods.
 */
import { randomUUID } from 'node:crypto'
import { assertTransaction } from './postgres/foreign-clients.ts'
import type { Db } from './postgres/transaction.ts'

export type { Db } from './postgres/transaction.ts'

/** What `drizzle(…).transaction` gives to its function. */
export interface DrizzleTransaction {
  execute: (...query: never[]) => unknown
  rollback(): never
}

interface DrizzleSession {
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
  const { session } = tx as unknown as { session: DrizzleSession }
  return {
    query: async (sql, params = []) =>
      answerOf(await session.prepareQuery({ sql, params }, undefined, undefined, false).execute()),
  }
}

/** What `knex.transaction` gives to its function, on the client `pg`. */
export interface KnexTransaction {
  // oxlint-disable-next-line typescript/no-explicit-any -- as knex declares it
  client: any
  isTransaction?: boolean
}

interface KnexClient {
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
      const connection = await (trx.client as KnexClient).acquireConnection()
      return connection.query(text, values)
    },
  }
}

/** What `kysely.transaction().execute` gives to its function. */
export interface KyselyTransaction {
  readonly isTransaction: boolean
  executeQuery: (query: never) => Promise<{
    readonly rows: unknown[]
    readonly numAffectedRows?: bigint | undefined
  }>
  withoutPlugins(): unknown
}

interface KyselyExecutor {
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
  const plain = trx.withoutPlugins() as KyselyExecutor
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

/** What `prisma.$transaction` gives to its function. */
export interface PrismaTransaction {
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): PromiseLike<T>
  $executeRawUnsafe(text: string, ...values: unknown[]): PromiseLike<number>
}

/**
 * For a statement that returns no rows: Prisma has another method, which returns how many rows
 * changed.
 */
const CHANGES_ALONE = /^\s*(?:insert|update|delete)\b(?![^]*\breturning\b)/i

/**
 * An interactive transaction of prisma, on Postgres.
 *
 * @throws InvalidTransaction
 * @example
 * await prisma.$transaction(async (tx) => {
 *   await tx.order.create({ data: { id: 42 } })
 *   await app.svc.events.publish('order.created', { id: 42 }, { db: fromPrisma(tx) })
 * })
 */
export function fromPrisma(tx: PrismaTransaction): Db {
  assertTransaction(tx, 'prisma')
  return {
    async query(text, values = []) {
      if (CHANGES_ALONE.test(text)) {
        return { rows: [], rowCount: await tx.$executeRawUnsafe(text, ...values) }
      }
      const rows = await tx.$queryRawUnsafe<unknown[]>(text, ...values)
      return { rows, rowCount: rows.length }
    },
  }
}

/** What the drivers beneath these libraries answer: pg an object with `rows`, postgres.js an array. */
interface Answer {
  // oxlint-disable-next-line typescript/no-explicit-any -- a row is what its statement says
  rows: any[]
  rowCount: number | null
}

function answerOf(result: unknown): Answer {
  const { rows, rowCount, affectedRows, count } = result as Record<string, unknown>
  return {
    rows: Array.isArray(result) ? [...(result as unknown[])] : ((rows as unknown[]) ?? []),
    rowCount:
      ([rowCount, affectedRows, count].find((n) => typeof n === 'number') as number) ?? null,
  }
}
