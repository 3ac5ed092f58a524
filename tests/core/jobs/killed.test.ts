import type { Outcome } from '@svc/core/internal'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startChild } from '../support/child.ts'
import { startHost } from '../support/host.ts'
import { bringLostJobsBack } from '../support/lost-jobs.ts'
import { until } from '../../support/until.ts'
import { testWorker, type TestWorker } from '../support/worker.ts'

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

    // The process has not been heard of for a while.
    await app.svc.database.query(
      `update svc_jobs.job set heartbeat_on = heartbeat_on - interval '1 hour'`,
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
  /**
   * As if it had been blocked for so long. The lease of its job ends in five seconds: a search for expired
   * leases that is under way may not know yet that it is blocked. Returns when the lease was renewed.
   */
  const blockedFor = async (span: string) => {
    const { rows } = await app.svc.database.query(
      `with blocked as (
         update svc."__svc.processes" set renewed_at = now() - $1::interval
          where id = (select group_tier::uuid from svc_jobs.job where state = 'active')
       )
       update svc_jobs.job set heartbeat_on = now() - interval '15 seconds' where state = 'active'
       returning heartbeat_on::text as at`,
      [span],
    )
    return rows[0]?.at as string
  }
  /** Waits until that lease is renewed. Returns whether it had ended by then. */
  const wasRenewedLate = async (last: string) => {
    const { rows } = await until(
      () =>
        app.svc.database.query(
          `select heartbeat_on > $1::timestamptz + interval '20 seconds' as "isLate"
             from svc_jobs.job where state = 'active' and heartbeat_on > $1::timestamptz`,
          [last],
        ),
      ({ rowCount }) => rowCount === 1 || seen.length > 0,
    )
    return rows[0]?.isLate === true
  }
  await until(async () => (await wasRenewedLate(await blockedFor('1 minute'))) || seen.length > 0)
  t.same(seen, [], 'another process has renewed its leases')
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

t.test('an attempt after a lost one is marked as such', async (t) => {
  const stuck = Promise.withResolvers<Outcome>()
  const worker = Promise.withResolvers<TestWorker>()
  const { app } = await startHost(t, {
    setUp: async (_app, core) =>
      worker.resolve(
        await testWorker(core, (_name, { attempt }) =>
          attempt === 1 ? stuck.promise : { kind: 'completed' },
        ),
      ),
  })
  const testing = await worker.promise
  const { jobs } = testing
  await testing.insert(['a'])
  await until(() => jobs.length === 1)
  await bringLostJobsBack(app)
  await until(() => jobs.length === 2)
  stuck.resolve({ kind: 'completed' })
  t.strictSame(
    jobs.map(({ attempt, lost }) => [attempt, lost]),
    [
      [1, false],
      [2, true],
    ],
  )
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
  await app.svc.events.publish('a', 1)
  await until(() => attempts.length === 1)
  await app.svc.database.query(
    `update svc_jobs.job set started_on = started_on - interval '1 hour'`,
  )
  await bringLostJobsBack(app)
  // The claim is another one now, by its moment: its own process does not renew it.
  await until(() => attempts.length === 2)
  await app.svc.database.query(
    `update svc_jobs.job set heartbeat_on = now() - interval '8 seconds' where state = 'active'`,
  )
  await until(async () => {
    const { rows } = await app.svc.database.query(
      `select heartbeat_on > now() - interval '6 seconds' as "isRenewed" from svc_jobs.job
        where state = 'active'`,
    )
    return rows[0]?.isRenewed
  })
  done.resolve()
  await until(async () => {
    const { rowCount } = await app.svc.database.query(`select from svc_jobs.job`)
    return rowCount === 0
  })
  t.strictSame(attempts, [1, 2])
})
