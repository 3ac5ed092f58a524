import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Stats } from '@svc/webhooks'
import { useCore, type Db } from '@svc/core/internal'
import { openReceiver } from '../../support/receiver.ts'
import { QUEUE } from '../../../packages/webhooks/src/outbound/delivery-queue.ts'
import { THE_PROCESS } from '../../../packages/webhooks/src/caller.ts'
import { statsOperation } from '../../../packages/webhooks/src/operations/stats.ts'
import {
  eraseStats,
  readStats,
  rollUpOlder,
  rollUpRecent,
} from '../../../packages/webhooks/src/tables/stats.ts'
import { nodesOf } from '../../support/query-plans.ts'
import { until, untilCount } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { startWorkerChild } from '../limits/support/worker-child.ts'

const sumOf = (stats: Stats) =>
  stats.points.reduce(
    (sum, { attempts, deliveries }) => ({
      delivered: sum.delivered + attempts.delivered,
      failed: sum.failed + attempts.failed,
      skipped: sum.skipped + attempts.skipped,
      dead: sum.dead + deliveries.dead,
    }),
    { delivered: 0, failed: 0, skipped: 0, dead: 0 },
  )

t.test('the statistics are those of the log, before and after they are rolled up', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 2 } } })
  const { svc } = app
  const receiver = await openReceiver(t, {
    answer: ({ headers }) => (headers['x-svc-event'] === 'order.shipped' ? 500 : 200),
  })
  const { id } = await register(receiver.url)
  const of = { url: receiver.url, events: ['order.created'], tenant: 'acme' }
  const acme = await svc.webhooks.register(of)
  for (let n = 0; n < 5; n++) await svc.events.publish('order.created', { n })
  await svc.events.publish('order.shipped', {})
  await svc.events.publish('order.created', {}, { tenant: 'acme' })
  await untilCount(9, () => svc.webhooks.listDeliveries())
  const stats = async (query = ''): Promise<Stats> => (await ask('GET', `/stats?${query}`)).body
  const expect = async (message: string) => {
    const all = await stats('by=minute')
    t.same(sumOf(all), { delivered: 7, failed: 2, skipped: 0, dead: 1 }, message)
    t.equal(all.points.length, 60, message)
    t.same(sumOf(await stats('tenant=acme')), { delivered: 1, failed: 0, skipped: 0, dead: 0 })
    t.equal(sumOf(await stats('tenant=')).delivered, 6)
    t.equal(sumOf(await stats(`webhookId=${acme.id}`)).delivered, 1)
    t.equal(sumOf(await stats(`webhookId=${id}&event=order.shipped`)).failed, 2)
    const [last] = (await stats()).points.filter(({ attempts }) => attempts.delivered > 0)
    t.ok((last?.durationMs.p50 ?? -1) >= 0)
    t.ok((last?.firstAttemptMs.p99 ?? -1) >= (last?.firstAttemptMs.p50 ?? 0))
  }
  await expect('from the recent attempts')
  const core = await useCore(app)
  await core.transaction(rollUpRecent)
  await expect('from the minutes')
  await core.transaction((db) => rollUpOlder(db, 'minute', 'hour', -1))
  t.equal(sumOf(await stats('by=hour')).delivered, 7, 'from the hours')
  await core.transaction((db) => rollUpOlder(db, 'hour', 'day', -1))
  t.equal(sumOf(await stats('by=day')).delivered, 7, 'from the days')
})

t.test('the statistics of a host with many webhooks are a few rows', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  await core.db.query(
    `insert into svc."__svc.webhooks.recent_attempts" (at, webhook_id, tenant, event, status, duration_ms)
     select now() - n % 3 * interval '1 minute', gen_random_uuid(),
            case when n % 4 = 0 then 'acme' when n % 4 = 1 then 'globex' end, 'order.created', 'delivered', n % 100
       from generate_series(1, 8000) as n`,
  )
  await core.transaction(rollUpRecent)
  let read = 0
  const explaining: Db = {
    async query(text, values) {
      const { rows } = await core.db.query(`explain (analyze, format json) ${text}`, values)
      for (const node of nodesOf(rows[0]['QUERY PLAN'][0].Plan)) {
        if (node['Relation Name'] !== undefined) read += node['Actual Rows']
      }
      return core.db.query(text, values)
    },
  }
  const span = {
    from: new Date(Date.now() - 3 * 3_600_000).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
    by: 'day' as const,
  }
  const delivered = async (reach: string | null) =>
    (await readStats(explaining, { ...span, reach })).reduce((sum, row) => sum + row.delivered, 0)
  t.equal(await delivered(null), 8000)
  t.equal(await delivered('acme'), 2000)
  t.equal(await delivered(''), 4000)
  t.ok(read <= 20, `${read} rows`)
  read = 0
  await readStats(explaining, { ...span, by: 'hour', reach: null })
  t.ok(read <= 4, `${read} rows of hours`)
  await eraseStats(core.db, 'acme', [])
  t.equal(await delivered(null), 6000, 'what is erased of a tenant is not in the totals')
  t.equal(await delivered('acme'), 0)
})

t.test('the same statistics that are asked for at once are read once', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  const released = Promise.withResolvers<void>()
  let reads = 0
  const readDb: Db = {
    async query(text, values) {
      reads++
      await released.promise
      return core.db.query(text, values)
    },
  }
  const { run } = statsOperation({ readDb })
  const stats = (query: { by?: 'day' }) => run(THE_PROCESS, query)
  const answers = [stats({}), stats({}), stats({ by: 'day' })]
  released.resolve()
  await Promise.all(answers)
  t.equal(reads, 2)
  await stats({})
  t.equal(reads, 3, 'what is read quickly is not remembered')
})

t.test('a span that is empty, or has too many points, is refused', async (t) => {
  const { ask } = await startHost(t)
  const from = '2026-01-01T00:00:00Z'
  const query = `/stats?from=${from}&by=minute`
  t.match(await ask('GET', `${query}&to=2026-01-02T00:00:00Z`), {
    status: 400,
    body: { code: 'SVC_WEBHOOKS_TOO_MANY_POINTS' },
  })
  t.match(await ask('GET', `${query}&to=${from}`), {
    status: 400,
    body: { code: 'SVC_WEBHOOKS_INVALID_SPAN' },
  })
  const { status, body } = await ask('GET', `${query}&to=2026-01-01T16:40:00Z`)
  t.equal(status, 200)
  t.equal(body.points.length, 1000)
  t.match(body, { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T16:40:00.000Z', by: 'minute' })
  t.same(body.points[0].durationMs, { p50: null, p95: null, p99: null })
  for (const query of ['by=second', 'event=', 'event=a%20b']) {
    t.equal((await ask('GET', `/stats?${query}`)).status, 400, query)
  }
  const atTheEnds = [
    ['to=0001-01-01T00:00:00Z', 400],
    ['to=0001-01-01T05:00:00Z', 200],
    ['by=day&to=9999-12-31T23:59:59Z', 200],
  ] as const
  for (const [span, status] of atTheEnds) {
    t.equal((await ask('GET', `/stats?${span}`)).status, status, span)
  }
})

/** Numbers from 0 to 1, always the same. */
function* seeded(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    yield state / 2 ** 31
  }
}

t.test('the statistics are those of the log, whichever processes were killed', async (t) => {
  const numbers = seeded(7)
  const random = () => numbers.next().value
  const publisher = await startHost(t, { core: { worker: { enabled: false } } })
  const { svc } = publisher.app
  const receiver = await openReceiver(t, { answer: () => (random() < 0.3 ? 500 : 200) })
  for (const tenant of ['acme', null]) {
    await svc.webhooks.register({ url: receiver.url, events: ['*'], tenant })
  }
  const core = await useCore(publisher.app)
  let isOver = false
  const rollUps = (async () => {
    for (; !isOver; await pause(100)) await core.transaction(rollUpRecent)
  })()
  const children = await Promise.all([1, 2].map(() => startWorkerChild(t, publisher.database)))
  for (let n = 0; n < 120; n++) {
    const options = random() < 0.5 ? { tenant: 'acme' } : {}
    await svc.events.publish(n % 2 ? 'order.created' : 'order.shipped', { n }, options)
    if (n % 40 === 20) children.pop()?.kill()
  }
  await startHost(t, { database: publisher.database })
  await until(async () => {
    const { rows } = await svc.database.query(
      `select from svc_jobs.job where name = $1 and state <= 'active' limit 1`,
      [QUEUE],
    )
    return rows.length === 0
  })
  isOver = true
  await rollUps

  const { rows: logged } = await svc.database.query(
    `select event, tenant, status, count(*)::int as count from svc."__svc.webhooks.delivery_log"
      group by 1, 2, 3`,
  )
  const inLog = (event: string, tenant: string, ...statuses: string[]) =>
    logged
      .filter((row) => row.event === event && (row.tenant ?? '') === tenant)
      .filter((row) => statuses.includes(row.status))
      .reduce((sum, { count }) => sum + count, 0)
  for (const event of ['order.created', 'order.shipped']) {
    for (const tenant of ['acme', '']) {
      const counted = sumOf(await svc.webhooks.stats({ event, tenant, by: 'minute' }))
      t.same(counted, {
        delivered: inLog(event, tenant, 'delivered'),
        failed: inLog(event, tenant, 'failed', 'dead'),
        skipped: 0,
        dead: inLog(event, tenant, 'dead'),
      })
      t.ok(counted.delivered > 10, `${event} ${tenant}`)
    }
  }
})
