import type pg from 'pg'
import t from 'tap'
import { startHost, type Host } from '../support/host.ts'
import { until } from '../../support/until.ts'

const countOf = async ({ app }: Host, table: string) => {
  const { rows } = await app.svc.database.query(`select count(*)::int as n from ${table}`)
  return rows[0].n as number
}

async function inTransaction(
  host: Host,
  run: (client: pg.PoolClient) => Promise<void>,
  end: string,
) {
  const client = await host.app.svc.database.connect()
  try {
    await client.query('begin')
    await run(client)
    await client.query(end)
  } finally {
    client.release()
  }
}

t.test('a publish that is rolled back leaves nothing', async (t) => {
  const got: unknown[] = []
  const host = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  const { events } = host.app.svc

  await inTransaction(
    host,
    async (db) => {
      t.match(await events.publish('a', 'never', { db, id: 'x' }), { duplicate: false })
    },
    'rollback',
  )

  t.equal(await countOf(host, 'svc."__svc.events"'), 0)
  t.equal(await countOf(host, 'svc_jobs.job'), 0)
  t.match(await events.publish('a', 'then', { id: 'x' }), { duplicate: false })
  await until(() => got.length === 1)
  t.strictSame(got, ['then'])
})

t.test('a publish is delivered after its commit, and not before', async (t) => {
  const got: unknown[] = []
  const host = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  const { events } = host.app.svc

  await inTransaction(
    host,
    async (db) => {
      await events.publish('a', 'first', { db })
      await events.publish('a', 'second', { db })
      await events.publish('a', 'other')
      await until(() => got.length === 1)
      t.strictSame(got, ['other'])
    },
    'commit',
  )

  await until(() => got.length === 3)
  t.strictSame(new Set(got), new Set(['first', 'second', 'other']))
})

t.test('an object with only query(text, values) is accepted as an adapter', async (t) => {
  const got: unknown[] = []
  const host = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  // pg-boss looks a queue up once, and remembers it.
  await host.app.svc.events.publish('a', 0)
  await until(() => got.length === 1)
  await host.app.svc.events.publish('a', 'so that it is known where the queue is')
  const statements: string[] = []
  await inTransaction(
    host,
    async (client) => {
      const db = {
        async query(text: string, values?: unknown[]) {
          statements.push(text)
          const { rows } = await client.query(text, values)
          return { rows }
        },
      }
      await host.app.svc.events.publish('a', 1, { db })
    },
    'commit',
  )
  t.equal(statements.length, 1, 'one for the event and its jobs')
  await until(() => got.includes(1))
})

t.test('a publish with a client outside of a transaction is refused', async (t) => {
  const { app } = await startHost(t)
  const client = await app.svc.database.connect()
  await client.query('select 1')
  const code = 'SVC_CORE_NO_TRANSACTION'
  await t.rejects(app.svc.events.publish('a', 1, { db: client }), {
    code,
    message: /got a client outside a transaction: begin on it first/,
  })
  client.release()
  await t.rejects(app.svc.events.publish('a', 1, { db: app.svc.database }), {
    code,
    message: /got a pool: begin on a client of the pool/,
  })
  await t.rejects(app.svc.events.publish('a', 1, { db: {} as never }), {
    code,
    message: /got an object: pass the client of pg/,
  })
  await t.rejects(app.svc.events.publish('a', 1, { db: null as never }), {
    code,
    message: /got null/,
  })
  await t.rejects(app.svc.events.publish('a', 1, null as never), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: /must be an object, got null/,
  })
})

t.test(
  'publishes with all connections of the pool held by their transactions come through',
  async (t) => {
    const host = await startHost(t, { core: { worker: { enabled: false } } })
    const declared = await startHost(t, {
      database: host.database,
      setUp: ({ svc }) => svc.events.subscribe('made.later', () => {}),
    })
    t.ok(declared)
    const { options } = host.app.svc.database
    const clients = await Promise.all(
      Array.from({ length: options.max ?? 0 }, () => host.app.svc.database.connect()),
    )
    for (const client of clients) await client.query('begin')
    await Promise.all(clients.map((db) => host.app.svc.events.publish('made.later', 1, { db })))
    for (const client of clients) {
      await client.query('commit')
      client.release()
    }
    t.equal(await countOf(host, 'svc."__svc.events"'), clients.length)
  },
)

t.test('a transaction of our own wakes the workers at its commit', async (t) => {
  const got: unknown[] = []
  const { core } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  await core.transaction(async (db) => {
    await core.bus.publish([{ name: 'a', payload: '1' }], { db })
    await core.bus.publish([{ name: 'a', payload: '2' }], { db })
  })
  await t.rejects(
    core.transaction(async (db) => {
      await core.bus.publish([{ name: 'a', payload: '3' }], { db })
      throw new Error('changed my mind')
    }),
    { message: 'changed my mind' },
  )
  await until(() => got.length === 2)
  t.same(new Set(got), new Set([1, 2]))
})
