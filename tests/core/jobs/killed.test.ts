// promise: Other processes take over the jobs of a killed process, and never the jobs of a living one (that this takes seconds is not asserted)
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startChild } from '../support/child.ts'
import { startHost } from '../support/host.ts'
import { bringLostJobsBack, lostJobsOf } from '../support/lost-jobs.ts'
import { until } from '../../support/until.ts'

t.test(
  'the jobs of a killed process are attempted again, and its lost attempts count',
  async (t) => {
    const database = await freshDatabase(t)
    const killed = startChild(t, 'worker-child.ts', database)
    await until(() => killed.lines.includes('ready'))
    const { app } = await startHost(t, { database, core: { worker: { enabled: false } } })
    await Promise.all([1, 2, 3].map((n) => app.svc.events.publish('work', { n, ms: 3_600_000 })))
    await until(() => killed.lines.filter((line) => line.startsWith('start')).length === 3)
    killed.kill('SIGKILL')
    t.match(await killed.exited, { signal: 'SIGKILL' })

    // As behind a pooler, where it holds no lock, two days later.
    await app.svc.database.query(
      `delete from svc."__svc.processes"
        where id = (select distinct group_tier::uuid from svc_jobs.job where state = 'active')`,
    )
    const seen: unknown[] = []
    await startHost(t, {
      database,
      core: { worker: { maxAttempts: 10 } },
      setUp: ({ svc }) =>
        svc.events.subscribe(
          'work',
          ({ n }: { n: number }, { attempt }) => void seen.push(`${n} ${attempt}`),
        ),
    })
    await until(() => seen.length === 3)
    t.strictSame(seen.toSorted(), ['1 2', '2 2', '3 2'])
  },
)

t.test('the jobs of a process that was killed are attempted again within seconds', async (t) => {
  const database = await freshDatabase(t)
  const killed = startChild(t, 'worker-child.ts', database)
  await until(() => killed.lines.includes('ready'))
  const { app, log } = await startHost(t, { database })
  const seen: unknown[] = []
  await app.svc.events.publish('work', { n: 1, ms: 3_600_000 })
  await until(() => killed.lines.some((line) => line.startsWith('start')))
  await app.svc.events.subscribe('work', (_payload, { attempt }) => void seen.push(attempt))
  killed.kill('SIGKILL')
  await until(() => seen.length === 1)
  t.strictSame(seen, [2], 'the attempt that the process took with it counts')
  // Its jobs may begin before it is logged.
  const line = await until(() => log.find(({ msg }) => String(msg).startsWith('a process died')))
  t.match(line, { jobs: 1, processId: String })
})

t.test('a process that is blocked keeps its jobs while it holds its lock', async (t) => {
  const database = await freshDatabase(t)
  const blocked = startChild(t, 'worker-child.ts', database)
  await until(() => blocked.lines.includes('ready'))
  const { app } = await startHost(t, { database })
  const seen: unknown[] = []
  await app.svc.events.publish('work', { n: 1, ms: 3_600_000 })
  await until(() => blocked.lines.some((line) => line.startsWith('start')))
  await app.svc.events.subscribe('work', (_payload, { attempt }) => void seen.push(attempt))
  blocked.kill('SIGSTOP')
  /** As if it had been blocked for so long, and another process had looked for jobs of dead ones. */
  const blockedFor = async (span: string) => {
    await app.svc.database.query(
      `update svc."__svc.processes" set renewed_at = now() - $1::interval
        where id = (select group_tier::uuid from svc_jobs.job where state = 'active')`,
      [span],
    )
    await lostJobsOf(app.svc.database).recover()
    const { rows } = await app.svc.database.query('select state::text from svc_jobs.job')
    return rows.map(({ state }) => state as string)
  }
  t.same(await blockedFor('1 minute'), ['active'])
  await blockedFor('11 minutes')
  await until(() => seen.length === 1)
  t.same(seen, [2], 'it is not waited for without end')
})

t.test('a living process keeps its jobs, whatever happens to its connections', async (t) => {
  const go = Promise.withResolvers<void>()
  const attempts: number[] = []
  const { app, database } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('a', async (_payload, { attempt }) => {
        attempts.push(attempt)
        await go.promise
      }),
  })
  const watching = await startHost(t, { database })
  // Each process holds its lock on several connections.
  const holders = async () => {
    const { rows } = await app.svc.database.query<{ pid: number; lock: string }>(
      `select pid, classid || '/' || objid as lock from pg_locks
        where locktype = 'advisory' and granted
          and database = (select oid from pg_database where datname = current_database())`,
    )
    return { pids: rows.map(({ pid }) => pid), locks: new Set(rows.map(({ lock }) => lock)).size }
  }
  await app.svc.events.publish('a', 1)
  await until(() => attempts.length === 1)
  const { pids: before } = await until(holders, ({ locks }) => locks === 2)
  await app.svc.database.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [
    before,
  ])
  await until(
    holders,
    ({ pids, locks }) => locks === 2 && !pids.some((pid) => before.includes(pid)),
  )
  t.notOk(watching.log.some(({ msg }) => String(msg).startsWith('a process died')))
  go.resolve()
  const jobsLeft = () => app.svc.database.query('select from svc_jobs.job')
  await until(jobsLeft, ({ rowCount }) => rowCount === 0)
  t.strictSame(attempts, [1])
})

t.test('a process that only publishes holds no lock, and is never considered dead', async (t) => {
  const { app, database } = await startHost(t, { core: { worker: { enabled: false } } })
  await startHost(t, { database })
  const { rows } = await app.svc.database.query(
    `select is_locked as "isLocked" from svc."__svc.processes"
      where closed_at is null order by started_at desc limit 2`,
  )
  t.strictSame(rows, [{ isLocked: true }, { isLocked: false }])
})

t.test('a worker whose lease has lapsed settles nothing', async (t) => {
  const go = Promise.withResolvers<void>()
  const attempts: number[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('a', async (_payload, { attempt }) => {
        attempts.push(attempt)
        if (attempt === 1) await go.promise
        else throw new Error('the second attempt fails')
      }),
  })
  await app.svc.events.publish('a', 1)
  await until(() => attempts.length === 1)
  await bringLostJobsBack(app)
  await until(() => attempts.length === 3)
  go.resolve()
  const { rows } = await until(
    () => app.svc.database.query(`select name from svc_jobs.job where name = '__svc.sub/a.dlq'`),
    ({ rowCount }) => rowCount === 1,
  )
  t.strictSame(rows, [{ name: '__svc.sub/a.dlq' }], 'what the others settled stands')
})

t.test('a living process keeps its claims, however long an attempt takes', async (t) => {
  const done = Promise.withResolvers<void>()
  const attempts: number[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('a', async (_payload, { attempt }) => {
        attempts.push(attempt)
        await done.promise
      }),
  })
  const { database } = app.svc
  await app.svc.events.publish('a', 1)
  await until(() => attempts.length === 1)
  const { rows } = await database.query('select group_tier as owner from svc_jobs.job')
  const ownId = rows[0]?.owner as string
  // What the process itself, and any other, finds when the attempt has taken longer than a lease.
  const late = `update svc_jobs.job set started_on = started_on - interval '1 hour'`
  await database.query(late)
  for (const parts of [{ ownId, holds: () => true }, {}]) {
    const lost = lostJobsOf(database, parts)
    await lost.recover()
    await lost.recover()
  }
  await database.query(late.replace('-', '+'))
  done.resolve()
  await until(async () => {
    const { rowCount } = await database.query(`select from svc_jobs.job`)
    return rowCount === 0
  })
  t.strictSame(attempts, [1])
})
