import { drizzle } from 'drizzle-orm/node-postgres'
import knexOf, { type Knex } from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { fromDrizzle, fromKnex, fromKysely, fromPostgresJs, fromPrisma } from '@svc/core/adapters'
import type { Db } from '@svc/core'
import { foreignDb } from '../../../packages/core/src/postgres/foreign-clients.ts'
import { startHost } from '../support/host.ts'

interface Given {
  outside: unknown
  /** Calls with what a transaction of the library is. */
  transaction: (use: (trx: unknown) => Promise<void>) => Promise<void>
}

/** The libraries that are installed; for the others objects of their shape. */
const libraries: Record<string, (t: Test, pool: pg.Pool) => Promise<Given>> = {
  drizzle: async (t, pool) => {
    const client = await pool.connect()
    t.teardown(() => client.release())
    const outside = drizzle(client)
    return { outside, transaction: (use) => outside.transaction(use) }
  },
  kysely: async (_t, pool) => {
    const outside = new Kysely({ dialect: new PostgresDialect({ pool }) })
    return { outside, transaction: (use) => outside.transaction().execute(use) }
  },
  knex: async (t, pool) => {
    const outside = knexOf({ client: 'pg' })
    const connection = await pool.connect()
    t.teardown(() => connection.release())
    t.teardown(() => outside.destroy())
    return {
      outside,
      transaction: (use) =>
        outside.transaction((trx: Knex.Transaction) => use(trx), { connection }),
    }
  },
  prisma: async () => {
    const inside = { $queryRawUnsafe() {}, $executeRawUnsafe() {}, $transaction() {} }
    return { outside: { ...inside, $connect() {} }, transaction: (use) => use(inside) }
  },
  'postgres.js': async () => {
    const sql = () => Object.assign(() => {}, { unsafe() {}, array() {}, json() {} })
    const inside = Object.assign(sql(), { savepoint() {} })
    return { outside: Object.assign(sql(), { begin() {} }), transaction: (use) => use(inside) }
  },
}

const adapters: Record<string, (db: never) => unknown> = {
  drizzle: fromDrizzle,
  kysely: fromKysely,
  knex: fromKnex,
  prisma: fromPrisma,
  'postgres.js': fromPostgresJs,
}

for (const [name, open] of Object.entries(libraries)) {
  t.test(`the error for a transaction of ${name} says what to pass instead`, async (t) => {
    const { app } = await startHost(t)
    const { outside, transaction } = await open(t, app.svc.database)
    const refused = (db: unknown, what: string) =>
      t
        .rejects(app.svc.events.publish('a', 1, { db: db as never }), {
          code: 'SVC_CORE_NO_TRANSACTION',
          message: `pass ${adapters[name]!.name}(`,
        })
        .then(() => t.match(foreignDb(db), { what }))
    await refused(outside, `a connection of ${name} outside a transaction`)
    const adapter = adapters[name]!
    const invalid = {
      code: 'SVC_CORE_INVALID_TRANSACTION',
      message: `a transaction of ${name}, got`,
    }
    t.throws(() => adapter(outside as never), invalid)
    t.throws(() => adapter(null as never), invalid)
    await transaction(async (trx) => {
      await refused(trx, `a transaction of ${name}`)
      t.strictSame(Object.keys(adapter(trx as never) as Db), ['query'])
    })
  })
}

t.test('a client or pool of pg is not taken for another library’s transaction', async (t) => {
  t.equal(foreignDb(new pg.Client()), undefined)
  t.equal(foreignDb(new pg.Pool()), undefined)
  t.equal(foreignDb({ query: async () => ({ rows: [] }) }), undefined)
  for (const value of [null, undefined, 5, 'x', {}, () => {}]) t.equal(foreignDb(value), undefined)
})
