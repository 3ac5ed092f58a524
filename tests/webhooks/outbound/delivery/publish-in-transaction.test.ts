// promise: An event published in a transaction exists if and only if the transaction commits
/** The lines of docs/webhooks/publish.md, tried. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import knexOf from 'knex'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import type { Db } from '@svc/core'
import { fromDrizzle, fromKnex, fromKysely, fromPostgresJs, fromPrisma } from '@svc/core/adapters'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost, type Host } from '../../support/host.ts'
import { openPrisma } from '../../support/prisma.ts'

const orders = pgTable('orders', { id: integer() })

/** Places an order in a transaction of the library, publishes within it, and fails it after that where told to. */
type Place = (id: number, publish: (db: Db) => Promise<unknown>, fails: boolean) => Promise<void>

const libraries: Record<string, (t: Test, host: Host) => Place> = {
  pg: (_t, host) => async (id, publish, fails) => {
    const client = await host.app.svc.database.connect()
    try {
      await client.query('begin')
      await client.query('insert into orders (id) values ($1)', [id])
      await publish(client)
      failIf(fails)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  },

  knex: (t, host) => {
    const knex = knexOf({ client: 'pg', connection: host.database })
    t.teardown(() => knex.destroy())
    return (id, publish, fails) =>
      knex.transaction(async (trx) => {
        await trx('orders').insert({ id })
        await publish(fromKnex(trx))
        failIf(fails)
      })
  },

  kysely: (_t, host) => {
    const dialect = new PostgresDialect({ pool: host.app.svc.database })
    const kysely = new Kysely<{ orders: { id: number } }>({
      dialect,
      plugins: [new CamelCasePlugin()],
    })
    return (id, publish, fails) =>
      kysely.transaction().execute(async (trx) => {
        await trx.insertInto('orders').values({ id }).execute()
        await publish(fromKysely(trx))
        failIf(fails)
      })
  },

  drizzle: (_t, host) => (id, publish, fails) =>
    drizzle(host.app.svc.database).transaction(async (tx) => {
      await tx.insert(orders).values({ id })
      await publish(fromDrizzle(tx))
      failIf(fails)
    }),

  'drizzle on postgres.js': (t, host) => {
    const sql = postgres(host.database, { onnotice: () => {} })
    t.teardown(() => sql.end())
    return (id, publish, fails) =>
      drizzlePostgresJs(sql).transaction(async (tx) => {
        await tx.insert(orders).values({ id })
        await publish(fromDrizzle(tx))
        failIf(fails)
      })
  },

  'postgres.js': (t, host) => {
    const sql = postgres(host.database, { onnotice: () => {} })
    t.teardown(() => sql.end())
    return async (id, publish, fails) => {
      await sql.begin(async (tx) => {
        await tx`insert into orders (id) values (${id})`
        await publish(fromPostgresJs(tx))
        failIf(fails)
      })
    }
  },

  // Drizzle replaces the client's functions that write times and JSON.
  'postgres.js, also used by drizzle': (t, host) => {
    const sql = postgres(host.database, { onnotice: () => {} })
    t.teardown(() => sql.end())
    drizzlePostgresJs(sql)
    return async (id, publish, fails) => {
      await sql.begin(async (tx) => {
        await tx`insert into orders (id) values (${id})`
        await publish(fromPostgresJs(tx))
        failIf(fails)
      })
    }
  },

  prisma: (t, host) => {
    const opened = openPrisma(t, host.database)
    return async (id, publish, fails) =>
      (await opened).$transaction(async (tx) => {
        await tx.order.create({ data: { id } })
        await publish(fromPrisma(tx))
        failIf(fails)
      })
  },
}

function failIf(fails: boolean): void {
  if (fails) throw new Error('the card was refused')
}

for (const [name, placing] of Object.entries(libraries)) {
  t.test(`an event published in a transaction of ${name} is part of it`, async (t) => {
    const host = await startHost(t)
    const { database, events } = host.app.svc
    const receiver = await openReceiver(t)
    await host.register(receiver.url)
    await database.query('create table orders (id integer primary key)')
    const place = placing(t, host)
    const publish = (id: number) => (db: Db) => events.publish('order.created', { id }, { db })

    await t.rejects(place(1, publish(1), true), { message: 'the card was refused' })
    await place(2, publish(2), false)

    const [request] = await receiver.waitFor(1)
    t.same(request!.body.payload, { id: 2 })
    t.same((await database.query('select id from orders')).rows, [{ id: 2 }])
    const { rows } = await database.query('select payload from svc."__svc.events"')
    t.same(rows, [{ payload: '{"id":2}' }])

    // More than publish: an operation that reads, writes and counts rows.
    const register = (db: Db) =>
      host.app.svc.webhooks.register({ url: receiver.url, events: ['*'] }, { db })
    const before = (await host.app.svc.webhooks.list()).length
    await t.rejects(place(3, register, true), { message: 'the card was refused' })
    t.equal((await host.app.svc.webhooks.list()).length, before)
    await place(4, register, false)
    const note = { text: '"1"', at: ['2030-01-31', null] }
    await place(6, (db) => host.app.svc.kv.set('note', note, { db }), false)
    t.same(await host.app.svc.kv.get('note'), note)
    const [made] = await host.app.svc.webhooks.list()
    await place(5, (db) => host.app.svc.webhooks.delete(made!.id, { db }), false)
    t.equal((await host.app.svc.webhooks.list()).length, before)
  })
}
