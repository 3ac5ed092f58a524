import type { Job } from '@svc/core/internal'
import type pg from 'pg'
import t from 'tap'
import { QueueTable } from '../../../../packages/core/src/jobs/pg-boss/queue-table.ts'
import { withPreparedStatements } from '../../../../packages/core/src/postgres/prepared-statements.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../../../../packages/core/src/postgres/worker-pool.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { explainingPool, nodesOf } from '../../../support/query-plans.ts'
import { until } from '../../../support/until.ts'
import {
  complete,
  fetch,
  hostWith,
  insert,
  retry,
  settleBoth,
  settledIn,
  statesOf,
} from '../../support/claimed-jobs.ts'
import { idOf, QUEUE } from '../../support/worker.ts'
import { sessionOn } from '../../../support/session.ts'

/** The settings of the connections of workers, for a session. */
const WORKER_PLANS = BEGIN_WITH_WORKER_PLANS.split('; ')
  .slice(1)
  .map((setting) => setting.replace('set local', 'set'))

const NO_JOB = {
  id: idOf('none'),
  startedOn: '2030-01-01T00:00:00Z',
  retryCount: 0,
  attemptsLeft: 0,
} as unknown as Job

t.test('plans that were made while the queue was empty read no other jobs', async (t) => {
  const database = await freshDatabase(t)
  const { core } = await hostWith(t, database)
  const { pool, plans } = explainingPool(t, database)
  const client = await pool.connect()
  t.teardown(() => client.release())
  const prepared = withPreparedStatements(client)
  const table = new QueueTable(QUEUE)
  await client.query(`alter table ${await table.name(client)} set (autovacuum_enabled = off)`)
  await client.query(`analyze ${await table.name(client)}`)
  for (const setting of WORKER_PLANS) await client.query(setting)
  /** As often as Postgres plans a statement anew. */
  for (let times = 0; times < 6; times++) {
    await fetch(prepared, table, 10)
    await complete(prepared, [NO_JOB, NO_JOB])
    await retry(prepared, [NO_JOB, NO_JOB])
    await settleBoth(prepared, [NO_JOB, NO_JOB], [NO_JOB])
  }
  await insert(
    core,
    Array.from({ length: 3000 }, (_, n) => `${n}`),
  )

  plans.length = 0
  const jobs = await fetch(prepared, table, 30)
  await complete(prepared, jobs.slice(0, 10))
  await retry(prepared, jobs.slice(10, 20))
  await settleBoth(prepared, jobs.slice(20, 25), jobs.slice(25))
  const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name']?.startsWith('j'))
  t.equal(plans.length, 16, 'the statements, and those of the functions')
  const read = scans.map(
    (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
  )
  t.ok(Math.max(...read) <= 30, `read at most ${Math.max(...read)} rows`)
  const states = await statesOf(core)
  t.equal(states.filter((state) => state === 'created').length, 2970)
  t.equal(states.filter((state) => state === 'retry').length, 15)
})

for (const [what, settle, left] of [
  ['completed', complete, []],
  ['failed', retry, ['retry', 'retry']],
] as const) {
  t.test(`jobs are ${what} although others change their rows at this moment`, async (t) => {
    const database = await freshDatabase(t)
    const { core } = await hostWith(t, database)
    await insert(core, ['a', 'b'])
    const table = new QueueTable(QUEUE)
    const jobs = await fetch(core.db, table, 10)
    // The second change waits for the first one, as the settlement does.
    const [first, second] = await Promise.all([sessionOn(t, database), sessionOn(t, database)])
    const change = 'update svc_jobs.job set keep_until = keep_until where id = $1'
    await first.query('begin')
    await first.query(change, [idOf('a')])
    const settling = settle(core.db, jobs)
    await until(async () => (await waitingForLocks(first)) === 1)
    await second.query('begin')
    const changed = second.query(change, [idOf('a')])
    await until(async () => (await waitingForLocks(first)) === 2)
    await first.query('commit')
    await changed
    let isSettled = false
    void settling.then(() => (isSettled = true))
    await until(async () => isSettled || (await waitingForLocks(first)) === 1)
    await second.query('commit')
    const result = await settling
    if (what === 'failed') t.equal(result.size, 2, 'the next attempt of each')
    t.strictSame(await statesOf(core), left)
    t.strictSame(await settledIn(core), [idOf('a'), idOf('b')].toSorted(), 'each is recorded once')
  })

  t.test(`jobs that another process has by now are not ${what}`, async (t) => {
    const { core } = await hostWith(t, await freshDatabase(t))
    await insert(core, ['a', 'b'])
    const table = new QueueTable(QUEUE)
    const jobs = await fetch(core.db, table, 10)
    await core.db.query(
      `update svc_jobs.job set started_on = started_on + interval '1 microsecond'`,
    )
    await settle(core.db, jobs)
    t.strictSame(await statesOf(core), ['active', 'active'])
    t.strictSame(await settledIn(core), [])
  })

  t.test(`jobs that wait again are not ${what}`, async (t) => {
    const { core } = await hostWith(t, await freshDatabase(t))
    await insert(core, ['a', 'b'])
    const table = new QueueTable(QUEUE)
    const jobs = await fetch(core.db, table, 10)
    await core.db.query(`update svc_jobs.job set state = 'retry'`)
    await settle(core.db, jobs)
    t.strictSame(await settledIn(core), [])
  })
}

async function waitingForLocks(db: pg.Client): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0].count
}
