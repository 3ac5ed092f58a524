/** Jobs of a queue that are claimed and settled by the functions of a pump. */
import type { Core, Job } from '@svc/core/internal'
import pg from 'pg'
import type { Test } from 'tap'
import { fetchJobs } from '../../../packages/core/src/jobs/pg-boss/fetch-due-jobs.ts'
import type { QueueTable } from '../../../packages/core/src/jobs/pg-boss/queue-table.ts'
import { retryJobs } from '../../../packages/core/src/jobs/pg-boss/retry-jobs.ts'
import { settleCompleted } from '../../../packages/core/src/jobs/pg-boss/settle-completed.ts'
import type { Db } from '../../../packages/core/src/postgres/transaction.ts'
import { startHost } from './host.ts'
import { GROUP, idOf, QUEUE } from './worker.ts'

const NONE = { groups: [], withOpenCircuits: false }
const FAILED = { atLeastMs: 0, exactlyMs: null, attemptsLeft: null, isUnsent: false }

/** A host, and a table of the ids of jobs that were settled. */
export async function hostWith(t: Test, database: string) {
  const host = await startHost(t, {
    core: { database, worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  await host.core.db.query('create table settled (id uuid)')
  return host
}

export const insert = (core: Core, names: string[]) =>
  core.queues.insert(
    core.db,
    QUEUE,
    names.map((name) => ({ id: idOf(name), data: { event: 'test' }, group: GROUP })),
  )

export const fetch = (db: Db, table: QueueTable, limit: number): Promise<Job[]> =>
  fetchJobs(db, table, { limit, lane: 'first', excluded: NONE, owner: null })

export const complete = (db: Db, table: QueueTable, jobs: Job[]) =>
  settleCompleted(
    db,
    {
      record: async () => {},
      recordCompleted: () => ({
        insert: 'insert into settled select id from completed',
        values: [],
      }),
    },
    table,
    jobs.map((job) => ({ job, outcome: { kind: 'completed' } })),
  )

export const retry = (db: Db, table: QueueTable, jobs: Job[]) =>
  retryJobs(
    db,
    table,
    jobs.map((job) => ({ ...FAILED, job })),
    { parts: ', logged as (insert into settled select id from retried)', values: [] },
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

export async function connection(t: Test, database: string): Promise<pg.Client> {
  const client = new pg.Client(database)
  await client.connect()
  t.teardown(() => client.end())
  return client
}
