import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost } from '../support/host.ts'
import { bringLostJobsBack } from '../support/lost-jobs.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { until } from '../../support/until.ts'

t.test(
  'during an outage of Postgres publishes reject, and no publish that resolved is lost',
  async (t) => {
    const proxy = await proxyPostgres(t, await freshDatabase(t))
    const handled = new Set<number>()
    const heard: string[] = []
    const { app, core, log } = await startHost(t, {
      database: proxy.url,
      setUp(app, core) {
        void app.svc.events.subscribe('a', (payload: number) => void handled.add(payload))
        core.notifications.listen('channel', (payload) => void heard.push(payload))
      },
    })
    const resolved = new Set<number>()
    const rejected: number[] = []
    let next = 0
    const publishMany = () =>
      Promise.all(
        Array.from({ length: 20 }, async () => {
          const n = next++
          await app.svc.events.publish('a', n).then(
            () => resolved.add(n),
            () => rejected.push(n),
          )
        }),
      )

    for (let round = 0; round < 3; round++) {
      const before = publishMany()
      await until(() => resolved.size > round * 20)
      proxy.cut()
      await before
      await publishMany()
      await t.rejects(app.svc.events.publish('a', -1), 'nobody is told that it is published')
      await t.rejects(app.svc.kv.get('key'))
      proxy.mend()
      await until(() =>
        app.svc.kv.get('key').then(
          () => true,
          () => false,
        ),
      )
      await publishMany()
    }
    // The answers to some claims were lost on their way.
    await bringLostJobsBack(app)
    await until(() => [...resolved].every((n) => handled.has(n)))

    t.ok(rejected.length > 0)
    t.ok(resolved.size >= 3 * 20)
    await until(async () => {
      await core.notifications.send('channel', 'back')
      return heard.includes('back')
    })
    await until(() => app.svc.jobs.getQueues().then((queues) => queues.length > 0))
    t.ok(
      log.filter(({ level }) => level === 50).length < 30,
      'an outage does not flood the log with errors',
    )
  },
)

t.test('idle connections that are lost are replaced', async (t) => {
  const handled: unknown[] = []
  const { app } = await startHost(t, {
    setUp: (app) => app.svc.events.subscribe('a', (payload) => void handled.push(payload)),
  })
  for (let round = 0; round < 3; round++) {
    await app.svc.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const publish = () =>
      app.svc.events.publish('a', round).then(
        () => true,
        () => false,
      )
    await until(publish)
    await until(() => handled.includes(round))
  }
  t.same(new Set(handled), new Set([0, 1, 2]))
})

t.test('a host closes while Postgres is unavailable', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { app } = await startHost(t, {
    database: proxy.url,
    setUp: (app) => app.svc.events.subscribe('a', () => {}),
  })
  await app.svc.events.publish('a', 1)
  proxy.cut()
  await app.close()
  t.equal(proxy.connections(), 0)
})
