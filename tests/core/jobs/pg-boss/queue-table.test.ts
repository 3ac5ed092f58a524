import type { Core, Job } from '@svc/core/internal'
import pg from 'pg'
import t, { type Test } from 'tap'
import { fetchJobs } from '../../../../packages/core/src/jobs/pg-boss/fetch-due-jobs.ts'
import { QueueTable } from '../../../../packages/core/src/jobs/pg-boss/queue-table.ts'
import { retryJobs } from '../../../../packages/core/src/jobs/pg-boss/retry-jobs.ts'
import { settleCompleted } from '../../../../packages/core/src/jobs/pump/settle-completed.ts'
import { withPreparedStatements } from '../../../../packages/core/src/postgres/prepared-statements.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../../../../packages/core/src/postgres/worker-pool.ts'
import type { Db } from '../../../../packages/core/src/postgres/transaction.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { explainingPool, nodesOf } from '../../../support/query-plans.ts'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'
import { GROUP, idOf, QUEUE } from '../../support/worker.ts'

/** The settings of the connections of workers, for a session. */
const WORKER_PLANS = BEGIN_WITH_WORKER_PLANS.split('; ')
  .slice(1)
  .map((setting) => setting.replace('set local', 'set'))
const NONE = { groups: [], withOpenCircuits: false }
const FAILED = { atLeastMs: 0, exactlyMs: null, attemptsLeft: null, isUnsent: false }

const hostWith = (t: Test, database: string) =>
  startHost(t, {
    core: { database, worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })

const insert = (core: Core, names: string[]) =>
  core.queues.insert(
    core.db,
    QUEUE,
    names.map((name) => ({ id: idOf(name), data: { event: 'test' }, group: GROUP })),
  )

const fetch = (db: Db, table: QueueTable, limit: number): Promise<Job[]> =>
  fetchJobs(db, table, { limit, lane: 'first', excluded: NONE, owner: null })

const complete = (db: Db, table: QueueTable, jobs: Job[]) =>
  settleCompleted(
    db,
    { queue: QUEUE },
    table,
    jobs.map((job) => ({ job, outcome: { kind: 'completed' } })),
  )

const retry = (db: Db, table: QueueTable, jobs: Job[]) =>
  retryJobs(
    db,
    table,
    jobs.map((job) => ({ ...FAILED, job })),
  )

const statesOf = async (core: Core): Promise<string[]> => {
  const { rows } = await core.db.query(
    'select state::text from svc_jobs.job where name = $1 order by state',
    [QUEUE],
  )
  return rows.map(({ state }: { state: string }) => state)
}

t.test('the table of a queue is its own, or that of all queues without one', async (t) => {
  const { app, core } = await hostWith(t, await freshDatabase(t))
  await app.svc.jobs.createQueue('shared')
  t.match(await new QueueTable(core.db, QUEUE).name(), /^svc_jobs\.j[0-9a-f]{56}$/)
  const shared = new QueueTable(core.db, 'shared')
  t.equal(await shared.name(), 'svc_jobs.job_common')
  t.equal(await new QueueTable(core.db, 'none').name(), 'svc_jobs.job')

  await insert(core, ['own'])
  await app.svc.jobs.send('shared', { its: 'own' })
  t.match(await fetch(core.db, shared, 10), [{ data: { its: 'own' } }], 'no jobs of others')
})

t.test('plans that were made while the queue was empty read no other jobs', async (t) => {
  const database = await freshDatabase(t)
  const { core } = await hostWith(t, database)
  const { pool, plans } = explainingPool(t, database)
  const client = await pool.connect()
  t.teardown(() => client.release())
  const prepared = withPreparedStatements(client)
  const table = new QueueTable(core.db, QUEUE)
  await client.query(`alter table ${await table.name()} set (autovacuum_enabled = off)`)
  await client.query(`analyze ${await table.name()}`)
  for (const setting of WORKER_PLANS) await client.query(setting)
  /** As often as Postgres plans a statement anew. */
  for (let times = 0; times < 6; times++) {
    await fetch(prepared, table, 10)
    await complete(prepared, table, [NO_JOB, NO_JOB])
    await retry(prepared, table, [NO_JOB, NO_JOB])
  }
  await insert(
    core,
    Array.from({ length: 3000 }, (_, n) => `${n}`),
  )

  plans.length = 0
  const jobs = await fetch(prepared, table, 20)
  await complete(prepared, table, jobs.slice(0, 10))
  await retry(prepared, table, jobs.slice(10))
  const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name']?.startsWith('j'))
  t.equal(plans.length, 3)
  const read = scans.map(
    (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
  )
  t.ok(Math.max(...read) <= 20, `read at most ${Math.max(...read)} rows`)
  const states = await statesOf(core)
  t.equal(states.filter((state) => state === 'created').length, 2980)
  t.equal(states.filter((state) => state === 'retry').length, 10)
})

for (const [what, settle, left] of [
  ['completed', complete, []],
  ['failed', retry, ['retry', 'retry']],
] as const) {
  t.test(`jobs are ${what} although their leases are renewed at this moment`, async (t) => {
    const database = await freshDatabase(t)
    const { core } = await hostWith(t, database)
    await insert(core, ['a', 'b'])
    const table = new QueueTable(core.db, QUEUE)
    const jobs = await fetch(core.db, table, 10)
    const renewal = new pg.Client(database)
    await renewal.connect()
    t.teardown(() => renewal.end())
    await renewal.query('begin')
    await renewal.query('update svc_jobs.job set heartbeat_on = now() where id = $1', [idOf('a')])
    const settling = settle(core.db, table, jobs)
    await until(() => isWaitingForLock(renewal))
    await renewal.query('commit')
    await settling
    t.strictSame(await statesOf(core), left)
  })

  t.test(`jobs that another process has by now are not ${what}`, async (t) => {
    const { core } = await hostWith(t, await freshDatabase(t))
    await insert(core, ['a', 'b'])
    const table = new QueueTable(core.db, QUEUE)
    const jobs = await fetch(core.db, table, 10)
    await core.db.query(
      `update svc_jobs.job set started_on = started_on + interval '1 microsecond'`,
    )
    await settle(core.db, table, jobs)
    t.strictSame(await statesOf(core), ['active', 'active'])
  })
}

t.test('a role with rights on the table of all queues alone uses that', async (t) => {
  const database = await freshDatabase(t)
  const { app, core } = await hostWith(t, database)
  await app.svc.jobs.createQueue('shared')
  const role = `app_${idOf(database).replaceAll('-', '')}`
  await core.db.query(`create role ${role}`)
  t.teardown(async () => {
    await core.db.query(`drop owned by ${role}`)
    await core.db.query(`drop role ${role}`)
  })
  for (const right of [
    'usage on schema svc, svc_jobs',
    'select on all tables in schema svc',
    'select, update, delete on svc_jobs.job, svc_jobs.queue',
  ]) {
    await core.db.query(`grant ${right} to ${role}`)
  }
  const client = new pg.Client(database)
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`set role ${role}`)
  await insert(core, ['a', 'b', 'c', 'd'])
  await app.svc.jobs.send('shared', {})

  const table = new QueueTable(client, QUEUE)
  t.equal(await table.name(), 'svc_jobs.job')
  const jobs = await fetch(client, table, 10)
  t.equal(jobs.length, 4)
  await complete(client, table, jobs.slice(0, 2))
  await retry(client, table, jobs.slice(2))
  t.strictSame(await statesOf(core), ['retry', 'retry'])
})

const NO_JOB = {
  id: idOf('none'),
  startedOn: '2030-01-01T00:00:00Z',
  retryCount: 0,
  attemptsLeft: 0,
} as unknown as Job

async function isWaitingForLock(db: pg.Client): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock') as yes`,
  )
  return rows[0].yes
}
