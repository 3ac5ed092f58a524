/** The lines of docs/publishing.md, tried. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import knexOf from 'knex'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import t, { type Test } from 'tap'
import type { Db } from '@svc/core'
import { startHost, type Host } from '../../support/host.ts'
import { startReceiver } from '../../support/receiver.ts'

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
    const knex = knexOf({ client: 'pg' })
    t.teardown(() => knex.destroy())
    return async (id, publish, fails) => {
      const connection = await host.app.svc.database.connect()
      try {
        await knex.transaction(
          async (trx) => {
            await trx('orders').insert({ id })
            await publish(connection)
            failIf(fails)
          },
          { connection },
        )
      } finally {
        connection.release()
      }
    }
  },

  kysely: (_t, host) => {
    const dialect = new PostgresDialect({ pool: host.app.svc.database })
    const kysely = new Kysely<{ orders: { id: number } }>({ dialect })
    return (id, publish, fails) =>
      kysely.transaction().execute(async (trx) => {
        await trx.insertInto('orders').values({ id }).execute()
        const db: Db = {
          async query(text, values) {
            const { rows } = await trx.executeQuery(CompiledQuery.raw(text, values))
            return { rows }
          },
        }
        await publish(db)
        failIf(fails)
      })
  },

  drizzle: (_t, host) => async (id, publish, fails) => {
    const orders = pgTable('orders', { id: integer() })
    const client = await host.app.svc.database.connect()
    try {
      await drizzle(client).transaction(async (tx) => {
        await tx.insert(orders).values({ id })
        await publish(client)
        failIf(fails)
      })
    } finally {
      client.release()
    }
  },
}

function failIf(fails: boolean): void {
  if (fails) throw new Error('the card was refused')
}

for (const [name, placing] of Object.entries(libraries)) {
  t.test(`an event published in a transaction of ${name} stands and falls with it`, async (t) => {
    const host = await startHost(t)
    const { database, events } = host.app.svc
    const receiver = await startReceiver(t)
    await host.register(receiver.url)
    await database.query('create table orders (id integer primary key)')
    const place = placing(t, host)
    const publish = (id: number) => (db: Db) => events.publish('order.created', { id }, { db })

    await t.rejects(place(1, publish(1), true), { message: 'the card was refused' })
    await place(2, publish(2), false)

    const [request] = await receiver.got(1)
    t.same(JSON.parse(request!.body).payload, { id: 2 })
    t.same((await database.query('select id from orders')).rows, [{ id: 2 }])
    const { rows } = await database.query('select payload from svc."__svc.events"')
    t.same(rows, [{ payload: '{"id":2}' }])
  })
}
