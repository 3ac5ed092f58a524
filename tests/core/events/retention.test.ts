import { retainEvents } from '@svc/core/internal'
import t from 'tap'
import { sweepEvents } from '../../../packages/core/src/events/events-table.ts'
import { deleteRetiredJobs } from '../../../packages/core/src/jobs/pg-boss/jobs-table.ts'
import { startHost, type Host } from '../support/host.ts'
import { until } from '../../support/until.ts'

/** Without workers there are no periodic tasks either, which delete old events as well. */
const WITHOUT_WORKERS = { core: { worker: { enabled: false } } }

const age = ({ app }: Host, days: number) =>
  app.svc.database.query(
    `update svc."__svc.events" set published_at = published_at - make_interval(days => $1)`,
    [days],
  )

const idsOf = async ({ app }: Host) => {
  const { rows } = await app.svc.database.query(`select id from svc."__svc.events" order by id`)
  return rows.map(({ id }) => id)
}

t.test('old events are deleted, and their ids can be published again', async (t) => {
  const host = await startHost(t, WITHOUT_WORKERS)
  const { events, database } = host.app.svc
  await events.publish('a', 1, { id: 'old' })
  await age(host, 32)
  await events.publish('a', 1, { id: 'new' })
  await sweepEvents(database, 30)
  t.strictSame(await idsOf(host), ['new'])
  t.match(await events.publish('a', 1, { id: 'old' }), { duplicate: false })
})

t.test('an event is kept while a job or a dead letter needs it', async (t) => {
  const host = await startHost(t, {
    core: { worker: { maxAttempts: 1 } },
    setUp: ({ svc }) =>
      svc.events.subscribe('dies', () => {
        throw new Error('always')
      }),
  })
  const idle = await startHost(t, {
    ...WITHOUT_WORKERS,
    database: host.database,
    setUp: ({ svc }) => svc.events.subscribe('waits', () => {}),
  })
  await idle.app.svc.events.publish('waits', 1, { id: 'waiting' })
  await idle.app.svc.events.publish('dies', 1, { id: 'dead' })
  await idle.app.svc.events.publish('nobody', 1, { id: 'unwanted' })
  await until(
    () => host.core.queues.deadLetters(host.core.db, '__svc.sub/dies', {}),
    ({ length }) => length === 1,
  )
  await host.app.close()
  await age(idle, 1000)
  await sweepEvents(idle.app.svc.database, 30)
  t.strictSame(await idsOf(idle), ['dead', 'waiting'])
})

t.test('an event is kept while a recovery may still make a job for it', async (t) => {
  const host = await startHost(t, WITHOUT_WORKERS)
  const { events, database } = host.app.svc
  await events.publish('a', 1, { id: 'before' })
  await age(host, 10)
  await events.publish('a', 1, { id: 'missed' })
  await age(host, 32)
  await database.query(
    `insert into svc."__svc.work" (id, queue, recipient, what, since, until)
     values (gen_random_uuid(), 'q', 'g', 'missing', now() - interval '33 days', now())`,
  )
  await sweepEvents(database, 30)
  t.strictSame(await idsOf(host), ['missed'])
  await database.query('update svc."__svc.work" set finished_at = now()')
  await sweepEvents(database, 30)
  t.strictSame(await idsOf(host), [])
})

t.test('every process keeps events as long as one of them needs them', async (t) => {
  const host = await startHost(t, {
    ...WITHOUT_WORKERS,
    async setUp(_app, core) {
      await core.fanOut.declare('test', 'test.queue', ['a'])
      core.retainEventsAtLeast(90)
      core.retainEventsAtLeast(60)
    },
  })
  await host.app.svc.events.publish('b', 1, { id: 'x' })
  await age(host, 80)
  await sweepEvents(host.app.svc.database, 30)
  t.strictSame(await idsOf(host), ['x'])
  await age(host, 20)
  await sweepEvents(host.app.svc.database, 30)
  t.strictSame(await idsOf(host), [])
})

t.test('an event is kept as long as the delivery log shows a delivery of it', async (t) => {
  const host = await startHost(t, WITHOUT_WORKERS)
  const { events, database } = host.app.svc
  const ids = ['late', 'other']
  for (const id of ids) await events.publish('a', 1, { id })
  await retainEvents(database, [{ name: 'a', id: 'other' }], 30)
  const { rows } = await database.query(
    `select keep_until from svc."__svc.events" where keep_until is not null`,
  )
  t.strictSame(rows, [], 'a young one is kept for long enough as it is')
  await age(host, 40)
  await retainEvents(database, [{ name: 'a', id: 'late' }], 30)
  await retainEvents(database, [], 30)
  await sweepEvents(database, 30)
  t.strictSame(await idsOf(host), ['late'])
})

t.test('jobs made for a retired subscription are deleted', async (t) => {
  const host = await startHost(t, {
    ...WITHOUT_WORKERS,
    setUp: async ({ svc }) => {
      await svc.events.subscribe('kept', () => {})
      await svc.events.subscribe('retired', () => {})
    },
  })
  const { events, database } = host.app.svc
  await events.publish('kept', 1)
  await events.publish('retired', 1)
  await database.query(`delete from svc."__svc.subscriptions" where subscription = 'retired'`)
  await deleteRetiredJobs(database, '__svc.sub/')
  const { rows } = await database.query('select name from svc_jobs.job')
  t.strictSame(rows, [{ name: '__svc.sub/kept' }])
})

t.test('a job whose event was deleted is dropped and logged', async (t) => {
  const host = await startHost(t, {
    ...WITHOUT_WORKERS,
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
  })
  await host.app.svc.events.publish('a', 1, { id: 'x' })
  await host.app.svc.database.query(`delete from svc."__svc.events"`)
  const got: unknown[] = []
  const { log } = await startHost(t, {
    database: host.database,
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  await until(() =>
    log.find(({ msg }) => msg === 'the event of a job was not found; the job is cancelled'),
  )
  t.strictSame(got, [])
})
