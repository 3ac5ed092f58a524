/** The lines of docs/publishing.md, tried. */
import { drizzle } from 'drizzle-orm/node-postgres'
import knexOf from 'knex'
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely'
import t, { type Test } from 'tap'
import type { Db } from '@svc/core'
import { startHost, type Host } from './support/host.ts'
import { startReceiver } from './support/receiver.ts'

/** Runs `work` in a transaction of the library, which fails afterwards where `fails`. */
type Transact = (work: (db: Db) => Promise<void>, fails: boolean) => Promise<void>

const libraries: Record<string, (t: Test, host: Host) => Transact> = {
  'a client of pg': (_t, host) => async (work, fails) => {
    const client = await host.app.svc.database.connect()
    try {
      await client.query('begin')
      await work(client)
      await client.query(fails ? 'rollback' : 'commit')
    } finally {
      client.release()
    }
  },

  knex: (t, host) => {
    const knex = knexOf({ client: 'pg' })
    t.teardown(() => knex.destroy())
    return async (work, fails) => {
      const connection = await host.app.svc.database.connect()
      try {
        await knex.transaction(
          async (trx) => {
            await trx.raw('select 1')
            await work(connection)
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
    const kysely = new Kysely({ dialect: new PostgresDialect({ pool: host.app.svc.database }) })
    return (work, fails) =>
      kysely.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx)
        await work({
          async query(text, values) {
            const { rows } = await trx.executeQuery(CompiledQuery.raw(text, values))
            return { rows }
          },
        })
        failIf(fails)
      })
  },

  drizzle: (_t, host) => async (work, fails) => {
    const client = await host.app.svc.database.connect()
    try {
      await drizzle(client).transaction(async (tx) => {
        await tx.execute('select 1')
        await work(client)
        failIf(fails)
      })
    } finally {
      client.release()
    }
  },
}

function failIf(fails: boolean): void {
  if (fails) throw new Error('the order was refused')
}

for (const [name, make] of Object.entries(libraries)) {
  t.test(
    `an event published in a transaction of ${name} is as good as the transaction`,
    async (t) => {
      const host = await startHost(t)
      const receiver = await startReceiver(t)
      await host.register(receiver.url)
      const transact = make(t, host)
      const publish = (n: number) => async (db: Db) => {
        await host.app.svc.events.publish('order.created', { n }, { db })
      }

      await transact(publish(1), true).catch(() => {})
      await transact(publish(2), false)

      const [request] = await receiver.got(1)
      t.same(JSON.parse(request!.body).payload, { n: 2 })
      const { rows } = await host.app.svc.database.query('select payload from svc."__svc.events"')
      t.same(rows, [{ payload: '{"n":2}' }])
    },
  )
}
