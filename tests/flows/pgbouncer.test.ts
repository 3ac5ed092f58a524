// promise: While all, a tenant or a handler is paused, no attempt begins in any process, and nothing is lost or used up; the order stays
// promise: Guard, publishes, deliveries, retries and order work behind PgBouncer in transaction mode, and no session keeps any state
// What works behind a PgBouncer in transaction mode: all of it, by polling.
import { setTimeout as wait } from 'node:timers/promises'
import { advance, drain } from '@svc/testing'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { startPgBouncer, withoutPgBouncer } from '../support/pgbouncer.ts'
import { until } from '../support/until.ts'
import { wholeHost } from '../support/whole-host.ts'
import { openReceiver } from '../support/receiver.ts'

const POOL_SIZE = 5

async function startHost(
  t: Test,
  database: string,
  subscribe?: (app: FastifyInstance) => Promise<void>,
): Promise<FastifyInstance> {
  const app = await wholeHost(t, { database: { connectionString: database, max: 4 } })
  app.get('/orders', async () => [])
  await subscribe?.(app)
  await app.ready()
  return app
}

async function openSessions(t: Test, url: string): Promise<pg.Client[]> {
  const clients = Array.from({ length: POOL_SIZE }, () => new pg.Client(url))
  for (const client of clients) {
    t.teardown(() => client.end())
    await client.connect()
  }
  return clients
}

const WAYS = {
  'refuses settings of connections': {},
  'swallows settings of connections': { ignore_startup_parameters: 'options,extra_float_digits' },
}

for (const [way, settings] of Object.entries(WAYS)) {
  t.test(
    `two hosts behind a PgBouncer that ${way} guard, publish, deliver and retry`,
    { skip: withoutPgBouncer },
    async (t) => {
      const database = await emptyDatabase(t)
      const url = await startPgBouncer(t, database, {
        ...settings,
        default_pool_size: String(POOL_SIZE),
      })
      const handled: unknown[] = []
      const partner = await openReceiver(t)
      const [working, other] = await Promise.all([
        startHost(t, url, (app) =>
          app.svc.events.subscribe('order.created', (payload) => void handled.push(payload)),
        ),
        startHost(t, url),
      ])

      const user = await other.svc.auth.createUser({ email: 'ada@example.com', name: 'Ada' })
      const key = await other.svc.auth.createApiKey({ userId: user.id, scopes: ['read'] })
      const statusOf = async (app: FastifyInstance) => {
        const headers = { authorization: `Bearer ${key.key}` }
        return (await app.inject({ url: '/orders', headers })).statusCode
      }
      t.equal(await statusOf(working), 200)
      await other.svc.auth.revokeApiKey(key.id)
      await until(async () => (await statusOf(working)) === 401)

      const webhook = await working.svc.webhooks.register({
        url: partner.url,
        events: ['order.created'],
        ordered: true,
      })
      partner.secret = webhook.secret
      partner.answer(503)
      await other.svc.transaction(async (db) => {
        await other.svc.events.publish('order.created', { id: 1 }, { db })
        await other.svc.events.publish('order.created', { id: 2 }, { db })
      })
      await partner.waitFor(1)
      partner.answer(200)
      await drain(working)
      await advance(working, 3600)
      await partner.waitFor(3)
      await drain(working)
      t.ok(partner.received.every(({ verified }) => verified))
      t.strictSame(
        partner.received.map(({ body, headers }) => [body.payload.id, headers['x-svc-attempt']]),
        [
          [1, '1'],
          [1, '2'],
          [2, '1'],
        ],
      )
      t.strictSame(new Set(handled), new Set([{ id: 1 }, { id: 2 }]))
      await until(async () => (await working.svc.health()).ok)

      await other.svc.webhooks.pauseAll()
      await wait(1000)
      const next = working.svc.webhooks.feed({ wait: 25 })
      // The reader has read where the feed ends.
      await wait(500)
      await working.svc.events.publish('order.created', { id: 3 })
      t.match((await next).events, [{ payload: { id: 3 } }])
      await wait(1500)
      t.equal(partner.received.length, 3, 'nothing is sent while all is paused')
      await other.svc.webhooks.resumeAll()
      await partner.waitFor(4)
      await drain(working)

      // A transaction on each server connection at a time, so that all are looked at.
      const sessions = await openSessions(t, url)
      for (const session of sessions) await session.query('begin')
      for (const session of sessions) {
        const { rows } = await session.query(
          `select current_setting('enable_seqscan') as "seqScan",
                  current_setting('statement_timeout') as timeout,
                  (select count(*)::int from pg_prepared_statements) as prepared,
                  (select count(*)::int from pg_listening_channels()) as channels,
                  (select count(*)::int from pg_locks
                    where locktype = 'advisory' and pid = pg_backend_pid()) as locks`,
        )
        const untouched = { seqScan: 'on', timeout: '0', prepared: 0, channels: 0, locks: 0 }
        t.strictSame(rows, [untouched], 'nothing stays behind in a session')
      }
    },
  )
}
