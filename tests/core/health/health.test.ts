import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { until } from '../../support/until.ts'
import { startHost, type Host } from '../support/host.ts'

/** A busy machine may not count the queues in time: none are shown then. */
const counted = async ({ app }: Host) =>
  (await until(app.svc.health, ({ queues }) => queues.length > 0)).queues

t.test('a working host is healthy', async (t) => {
  const { app } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('order.placed', () => {}),
  })
  const health = await until(app.svc.health, ({ ok, queues }) => ok && queues.length > 0)
  t.strictSame(
    {
      ...health,
      database: { ok: health.database.ok, latencyMs: typeof health.database.latencyMs },
    },
    {
      ok: true,
      database: { ok: true, latencyMs: 'number' },
      listener: { ok: true },
      tasks: { ok: true, failing: [] },
      queues: [
        { queue: '__svc.sub/order.placed', waiting: 0, active: 0, oldestSeconds: 0, dead: 0 },
        // The template knows the plugins as well.
        { queue: '__svc.webhooks.deliver', waiting: 0, active: 0, oldestSeconds: 0, dead: 0 },
      ],
      paused: [],
    },
  )
})

t.test('the health of a host counts waiting, active and dead jobs', async (t) => {
  const hold = Promise.withResolvers<void>()
  const { app, database } = await startHost(t, {
    core: { worker: { maxAttempts: 1 } },
    setUp: ({ svc }) =>
      svc.events.subscribe('order.placed', async ({ fails }: { fails: boolean }) => {
        if (fails) throw new Error('no')
        await hold.promise
      }),
  })
  t.teardown(() => hold.resolve())
  const { health, events } = app.svc
  await events.publish('order.placed', { fails: true })
  await until(health, ({ queues }) => queues[0]?.dead === 1)
  await events.publish('order.placed', { fails: false })
  t.match((await until(health, ({ queues }) => queues[0]?.active === 1)).queues[0], { waiting: 0 })

  // A host that only publishes sees the queues of the others.
  const publisher = await startHost(t, { database, core: { worker: { enabled: false } } })
  t.match(await counted(publisher), [{ active: 1, dead: 1 }])
})

t.test('jobs that are due count for the oldest, jobs that are put off do not', async (t) => {
  const host = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('order.placed', () => {}),
  })
  const { database, events } = host.app.svc
  for (const id of ['a', 'b', 'c']) await events.publish('order.placed', {}, { id })
  const put = (id: string, start: string) =>
    database.query(
      `update svc_jobs.job set start_after = now() + $2::interval where data ->> 'eventId' = $1`,
      [id, start],
    )
  await put('a', '1 hour')
  await put('b', '-90 seconds')
  const queues = await counted(host)
  t.match(queues, [{ waiting: 3, active: 0 }])
  const { oldestSeconds } = queues[0]!
  t.ok(oldestSeconds >= 90 && oldestSeconds < 300, `${oldestSeconds} seconds`)
  await database.query('update svc_jobs.job set blocked = true, priority = -2')
  t.match(await counted(host), [{ waiting: 3, oldestSeconds: 0 }], 'those that stand apart')
})

t.test('health is not ok as soon as Postgres is unreachable, and ok when it is back', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { app } = await startHost(t, {
    database: proxy.url,
    setUp: ({ svc }) => svc.events.subscribe('order.placed', () => {}),
  })
  await until(app.svc.health, ({ ok }) => ok)
  proxy.cut()
  const cut = await until(app.svc.health, ({ listener }) => !listener.ok)
  t.match(cut, { ok: false, database: { ok: false, latencyMs: Number }, queues: [] })
  proxy.mend()
  const mended = await until(app.svc.health, ({ ok, queues }) => ok && queues.length > 0)
  t.match(mended.queues, [{ queue: '__svc.sub/order.placed' }])
})

t.test('health waits no longer than two seconds for a silent Postgres', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { app } = await startHost(t, { database: proxy.url })
  await until(app.svc.health, ({ database }) => database.ok)
  proxy.silence()
  const startedAt = performance.now()
  const probes = await Promise.all([app.svc.health(), app.svc.health()])
  const tookMs = performance.now() - startedAt
  for (const health of probes) t.match(health, { ok: false, database: { ok: false }, queues: [] })
  t.ok(tookMs >= 1500 && tookMs < 10_000, `took ${tookMs} ms, on a machine that may be busy`)
  proxy.mend()
  await until(app.svc.health, ({ database }) => database.ok)
})

t.test('health: a closing host is not ok, and a closed one still answers', async (t) => {
  const { app } = await startHost(t)
  const { health } = app.svc

  t.match(await until(health, ({ ok }) => ok), { ok: true })
  const closing = app.close()
  const draining = await health()
  await closing
  t.match(draining, { ok: false })
  t.match(await health(), { ok: false, database: { ok: false }, queues: [] })
})
