import type { Core } from '@svc/core/internal'
import t from 'tap'
import { startHost } from '../support/host.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { explainingPool, nodesOf } from '../../support/query-plans.ts'
import { until } from '../../support/until.ts'
import { QUEUE, testWorker } from '../support/worker.ts'

const A = '00000000-0000-4000-8000-00000000000a'
const B = '00000000-0000-4000-8000-00000000000b'
const want = (core: Core, recipient: string, events: string[]) =>
  core.fanOut.setRecipient(core.svc.database, 'test', { id: recipient, events })

t.test('an event becomes one job for each recipient that wants it', async (t) => {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  await core.queues.define(QUEUE)
  await core.fanOut.declare('test', QUEUE, ['a', 'b'])
  await want(core, A, ['a', 'a'])
  await want(core, B, ['*', 'a'])
  const jobs = async () => {
    const { rows } = await app.svc.database.query(
      `delete from svc_jobs.job where name = $1 returning data ->> 'event' as event, group_id as recipient, id, data`,
      [QUEUE],
    )
    t.ok(
      rows.every(
        ({ id, data, recipient }) => data.deliveryId === id && data.recipient === recipient,
      ),
    )
    return rows.map(({ event, recipient }) => `${event} ${recipient === A ? 'A' : 'B'}`).toSorted()
  }

  for (const name of ['a', 'b', 'undeclared']) await app.svc.events.publish(name, 1, { id: '1' })
  t.strictSame(await jobs(), ['a A', 'a B', 'b B'])

  await app.svc.events.publish('a', 1, { id: '1' })
  t.strictSame(await jobs(), [], 'a replay makes none')

  await want(core, A, [])
  await want(core, B, ['b'])
  for (const name of ['a', 'b']) await app.svc.events.publish(name, 1, { id: '2' })
  t.strictSame(await jobs(), ['b B'])

  await core.fanOut.declare('test', QUEUE, ['a'])
  await app.svc.events.publish('b', 1, { id: '3' })
  t.strictSame(await jobs(), [], 'what is declared no more fans out no more')
})

t.test('a change of recipients that is rolled back has no effect', async (t) => {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  await t.rejects(
    core.transaction(async (db) => {
      await core.fanOut.setRecipient(db, 'test', { id: A, events: ['*'] })
      throw new Error('no')
    }),
  )
  const { rowCount } = await app.svc.database.query(`select from svc."__svc.recipients"`)
  t.equal(rowCount, 0)
})

t.test(
  'a recipient that keeps failing does not keep the others waiting, and recovers',
  async (t) => {
    let isBroken = true
    const done = { A: 0, B: 0 }
    const { core, app } = await startHost(t, {
      core: { worker: { maxAttempts: 1000 } },
      async setUp(_app, core) {
        await testWorker(core, async (_name, { recipient }) => {
          await new Promise(setImmediate)
          if (recipient === A && isBroken) return { kind: 'failed' }
          done[recipient === A ? 'A' : 'B']++
          return { kind: 'completed' }
        })
        await core.fanOut.declare('test', QUEUE, ['a', 'b'])
        await want(core, A, ['a'])
        await want(core, B, ['b'])
      },
    })
    const publish = (name: string, n: number) =>
      Promise.all(Array.from({ length: n }, () => app.svc.events.publish(name, 1)))
    await publish('a', 300)
    await publish('b', 100)
    await until(() => done.B === 100)
    t.equal(done.A, 0)
    isBroken = false
    await until(() => done.A === 300)
    await publish('a', 10)
    await until(() => done.A === 310)
    t.ok(core)
  },
)

t.test('a host that fails to boot changes nothing for running hosts', async (t) => {
  const { app, core, database } = await startHost(t, { core: { worker: { enabled: false } } })
  await core.queues.define(QUEUE)
  await core.fanOut.declare('test', QUEUE, ['a', 'b'])
  await want(core, A, ['*'])

  const other = startHost(t, {
    database,
    async setUp(_app, { fanOut }) {
      await fanOut.declare('test', QUEUE, ['b', 'c'])
      throw new Error('another plugin fails')
    },
  })
  await t.rejects(other, { message: 'another plugin fails' })

  await app.svc.events.publish('a', 1)
  const { rows } = await app.svc.database.query(
    `select data ->> 'event' as event from svc_jobs.job where name = $1`,
    [QUEUE],
  )
  t.strictSame(rows, [{ event: 'a' }])
})

t.test('the recipients of an event are found by their index', async (t) => {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  const { database } = app.svc
  await core.queues.define(QUEUE)
  await core.fanOut.declare('test', QUEUE, ['rare', 'common'])
  await want(core, A, ['rare'])
  await database.query(
    `insert into svc."__svc.recipients" (subscription, event_name, recipient)
     select 'test', 'common', md5(n::text)::uuid from generate_series(1, 20000) as n`,
  )
  await database.query('analyze svc."__svc.recipients"')

  await app.svc.transaction(async (db) => {
    await app.svc.events.publish('rare', 1, { db })
    const { rows } = await db.query(
      `select seq_tup_read::int as scanned,
              pg_stat_get_xact_tuples_returned('svc.recipients_by_tenant'::regclass)::int as found
         from pg_stat_xact_user_tables where relname = '__svc.recipients'`,
    )
    t.strictSame(rows, [{ scanned: 0, found: 1 }])
  })
})

t.test('no event of a batch is compared with each other one', async (t) => {
  const { pool, plans } = explainingPool(t, await freshDatabase(t))
  const { app, core } = await startHost(t, { core: { database: pool, worker: { enabled: false } } })
  await core.queues.define(QUEUE)
  await core.fanOut.declare('test', QUEUE, ['a'])
  await want(core, A, ['a'])
  const ids = Array.from({ length: 300 }, (_, n) => `event ${n}`)
  const publish = async (ids: string[]) => {
    const results = await Promise.all(ids.map((id) => app.svc.events.publish('a', 1, { id })))
    return results.filter(({ duplicate }) => !duplicate).length
  }
  /** Rows that were read, or compared, in vain: the most of one statement. */
  const inVain = () => {
    const most = plans.flatMap(nodesOf).map((node) => node['Rows Removed by Join Filter'] ?? 0)
    plans.length = 0
    return Math.max(...most)
  }

  t.equal(await publish(ids.slice(0, 100)), 100)
  plans.length = 0
  t.equal(await publish(ids), 200, 'some of them exist')
  t.ok(plans.some((plan) => nodesOf(plan).some((node) => node['Actual Rows'] === 300)))
  t.ok(inVain() < 3000)
  t.equal(await publish(ids.map((id) => `${id} of another kind`)), 300, 'all of them are new')
  t.ok(inVain() < 3000)
})

t.test(
  'deduplicated events share a transaction, and one event for each key is published',
  async (t) => {
    const { app, core } = await startHost(t)
    const claim = async (key: string) => {
      const event = { name: 'a', payload: '1', deduplicationKey: { key, ttlSeconds: 60 } }
      return (await core.bus.publish([event]))[0]
    }
    const keys = Array.from({ length: 40 }, (_, n) => `key ${n % 20}`)
    const published = await Promise.all(keys.map(claim))
    t.equal(published.filter((result) => result !== null).length, 20)
    t.equal(await claim('key 0'), null, 'also later')

    const { rows } = await app.svc.database.query(
      `select count(*)::int as events, count(distinct xmin::text)::int as transactions
       from svc."__svc.events" where name = 'a'`,
    )
    t.same(rows, [{ events: 20, transactions: 1 }])
  },
)
