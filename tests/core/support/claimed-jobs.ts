/** Jobs of a queue that are claimed and settled by the functions of a pump. */
import type { Core, Job } from '@svc/core/internal'
import type { Test } from 'tap'
import { fetchLap } from '../../../packages/core/src/jobs/pg-boss/claim-jobs.ts'
import type { QueueTable } from '../../../packages/core/src/jobs/pg-boss/queue-table.ts'
import { settleAndRecord, type Ends } from '../../../packages/core/src/jobs/pump/settle.ts'
import type { Db } from '../../../packages/core/src/postgres/transaction.ts'
import { startHost } from './host.ts'
import { RECIPIENT, idOf, QUEUE } from './worker.ts'

/** Of the first lane, from the first recipient on, as many jobs of each as the limit allows. */
export const A_LAP = {
  lane: 'first',
  after: '',
  each: 1000,
  caps: {},
  owner: 'this process',
} as const
const FAILED = { atLeastMs: 0, exactlyMs: null, attemptsLeft: null, isUnsent: false }

/** A host, and a table of the ids of jobs that were settled. */
export async function hostWith(t: Test, database: string) {
  const host = await startHost(t, {
    core: { database, worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  await makeRecorder(host.core.db)
  return host
}

export const insert = (core: Core, names: string[]) =>
  core.queues.insert(
    core.db,
    QUEUE,
    names.map((name) => ({ id: idOf(name), data: { event: 'test' }, recipient: RECIPIENT })),
  )

export const fetch = (db: Db, table: QueueTable, limit: number): Promise<Job[]> =>
  fetchLap(db, table, { ...A_LAP, limit })

const RECORDER = 'record_settled'

/** A table of the jobs that were settled, and the function of Postgres that writes it. */
export async function makeRecorder(db: Db): Promise<string> {
  await db.query('create table settled (id uuid)')
  await db.query(
    `create function svc.${RECORDER}(settled uuid[], next timestamptz[], rows json) returns void
     language sql as $$
       insert into public.settled select (one ->> 'job')::uuid from json_array_elements(rows) as one
        where (one ->> 'job')::uuid = any(settled)
     $$`,
  )
  return RECORDER
}

export const rowsOf = (jobs: Job[]) => ({
  function: RECORDER,
  rows: jobs.map(({ id }) => ({ job: id })),
})

export const NO_ENDS: Ends = { done: [], failed: [], postponed: [], parked: [], dead: [] }

export const complete = (db: Db, jobs: Job[]) =>
  settleAndRecord(db, QUEUE, { ...NO_ENDS, done: jobs }, rowsOf(jobs))

export const retry = (db: Db, jobs: Job[]) => {
  const failed = jobs.map((job) => ({ ...FAILED, job }))
  return settleAndRecord(db, QUEUE, { ...NO_ENDS, failed }, rowsOf(jobs))
}

/** Some that are done and some that have failed, in one statement. */
export const settleBoth = (db: Db, done: Job[], failed: Job[]) =>
  settleAndRecord(
    db,
    QUEUE,
    { ...NO_ENDS, done, failed: failed.map((job) => ({ ...FAILED, job })) },
    rowsOf([...done, ...failed]),
  )

export const settledIn = async (core: Core): Promise<string[]> => {
  const { rows } = await core.db.query('select id from settled order by id')
  return rows.map(({ id }: { id: string }) => id)
}

export const statesOf = async (core: Core): Promise<string[]> => {
  const { rows } = await core.db.query(
    'select state::text from svc_jobs.job where name = $1 order by state',
    [QUEUE],
  )
  return rows.map(({ state }: { state: string }) => state)
}
