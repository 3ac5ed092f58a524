import type { Core, FanOutJob } from '@svc/core/internal'
import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { RECIPIENT, idOf, QUEUE } from '../support/worker.ts'
import { namesOf, startWorkedHost } from '../support/worked-host.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'

t.test('the waiting jobs of a recipient are discarded, wherever they wait', async (t) => {
  const { core, queues } = await startWorkedHost(t, { enabled: false })
  const jobs = ['a', 'b', 'c'].map((name, index) => ({
    id: idOf(name),
    data: { event: 'test', eventId: name, deliveryId: idOf(name) },
    recipient: RECIPIENT,
    isLate: index === 0,
  }))
  await queues.insert(core.db, QUEUE, jobs)
  await queues.insert(core.db, QUEUE, [{ id: idOf('d'), data: {}, recipient: OTHER }])
  const discarded = await core.transaction((db) => queues.discard<FanOutJob>(db, QUEUE, RECIPIENT))
  t.strictSame(namesOf(discarded), ['a', 'b', 'c'])
  t.match(discarded, [{ attempt: 1, recipient: RECIPIENT, createdAt: Date }, {}, {}])
  t.equal(await waitingIn(core), 1)
  await core.transaction((db) => queues.discard(db, QUEUE, OTHER))
  t.equal(await waitingIn(core), 0)
})

t.test('jobs too many for one transaction are discarded in the background', async (t) => {
  const discarded: string[] = []
  const { core, queues } = await startWorkedHost(t, {
    enabled: false,
    recordDiscarded: async (_db, jobs) => void discarded.push(...jobs.map(({ id }) => id)),
  })
  const count = 3200
  await queues.insert(
    core.db,
    QUEUE,
    Array.from({ length: count }, (_, n) => ({
      id: idOf(String(n)),
      data: { event: 'test', eventId: String(n), deliveryId: idOf(String(n)) },
      recipient: RECIPIENT,
      isLate: n % 3 === 0,
    })),
  )
  const first = await core.transaction((db) => queues.discard(db, QUEUE, RECIPIENT))
  t.ok(first.length < count)
  queues.recipientsChanged(QUEUE)
  await until(async () => (await waitingIn(core)) === 0)
  await until(async () => (await movesOf(core)) === 0)
  t.equal(new Set([...first.map(({ id }) => id), ...discarded]).size, count)
})

t.test('every boot gives a queue the same settings, and its table is tended', async (t) => {
  const { app, core, database } = await startWorkedHost(t, { maxAttempts: 3 })
  const before = await queueRows(core)
  await startHost(t, {
    database,
    core: { worker: { enabled: false, maxAttempts: 7, retryDelaySeconds: 99 } },
    setUp: (_app, other) => other.queues.define(QUEUE),
  })
  t.strictSame(await queueRows(core), before, 'another host changes nothing')
  const queue = await app.svc.jobs.getQueue(QUEUE)
  t.match(queue, { retryLimit: 16, deadLetter: `${QUEUE}.dlq`, partition: true })
  const { rows } = await app.svc.database.query(
    `select reloptions from pg_class where relname = $1`,
    [(queue as { table?: string }).table],
  )
  t.match(rows[0].reloptions, ['autovacuum_vacuum_scale_factor=0.02'])
})

t.test('attempts and delays of a job are those of the process that published it', async (t) => {
  const { app, core, database } = await startWorkedHost(t, { enabled: false, maxAttempts: 3 })
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('a'), data: {}, recipient: RECIPIENT }])
  await startHost(t, {
    database,
    core: {
      worker: {
        enabled: false,
        maxAttempts: 17,
        retryDelaySeconds: 40,
        retryBackoff: false,
      },
    },
    setUp: (_app, other) =>
      other.queues.insert(other.db, QUEUE, [{ id: idOf('b'), data: {}, recipient: RECIPIENT }]),
  })
  const { rows } = await app.svc.database.query(
    `select retry_limit as "retryLimit", retry_delay as "retryDelay", retry_backoff as "retryBackoff"
       from svc_jobs.job where name = $1 order by retry_limit`,
    [QUEUE],
  )
  t.strictSame(rows, [
    { retryLimit: 2, retryDelay: 0, retryBackoff: false },
    { retryLimit: 16, retryDelay: 40, retryBackoff: false },
  ])
})

t.test('a job is inserted once under its id', async (t) => {
  const { core, queues } = await startWorkedHost(t, { enabled: false })
  const job = { id: idOf('a'), data: {}, recipient: RECIPIENT }
  await queues.insert(core.db, QUEUE, [job])
  await queues.insert(core.db, QUEUE, [job])
  await queues.insert(core.db, QUEUE, [])
  t.equal(await waitingIn(core), 1)
})

async function waitingIn(core: Core): Promise<number> {
  const { rows } = await core.db.query(
    `select count(*)::int as count from svc_jobs.job where name = $1 and state < 'active'`,
    [QUEUE],
  )
  return rows[0].count
}

async function movesOf(core: Core): Promise<number> {
  const { rows } = await core.db.query(`select count(*)::int as count from svc."__svc.work"`)
  return rows[0].count
}

async function queueRows(core: Core): Promise<unknown[]> {
  const { rows } = await core.db.query(
    `select name, retry_limit, retry_delay, expire_seconds, retention_seconds,
            updated_on
       from svc_jobs.queue order by name`,
  )
  return rows
}

t.test('processes that define the same queue at once agree', async (t) => {
  const { core, database } = await startHost(t, { core: { worker: { enabled: false } } })
  const others = await Promise.all(
    Array.from({ length: 3 }, () =>
      startHost(t, { database, core: { worker: { enabled: false } } }),
    ),
  )
  const cores = [core, ...others.map((other) => other.core)]
  const countIndexes = async () => {
    const { rowCount } = await core.db.query(
      `select from pg_indexes where schemaname = 'svc_jobs' and indexname like 'svc_waiting_%'`,
    )
    return rowCount ?? 0
  }
  const before = await countIndexes()
  for (const queue of ['first', 'second', 'third', 'fourth']) {
    await Promise.all(cores.map(({ queues }) => queues.define(queue)))
  }
  t.equal((await countIndexes()) - before, 4, 'each has its index')
})
