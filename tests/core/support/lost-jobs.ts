/** The jobs of processes that died, without the time that it takes to notice. */
import { failedAsLost, useCore } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { LostJobs } from '../../../packages/core/src/jobs/pg-boss/recover-lost-jobs.ts'
import { settleBatch } from '../../../packages/core/src/jobs/pump/settle.ts'
import type { Db } from '../../../packages/core/src/postgres/transaction.ts'
import { until } from '../../support/until.ts'

/** A process that does not run. */
const GONE = '00000000-0000-7000-8000-000000000000'

/** The search of a process that works on no jobs. */
export const lostJobsOf = (
  db: Db,
  parts: Partial<ConstructorParameters<typeof LostJobs>[0]> = {},
) =>
  new LostJobs({
    boss: { supervise: async () => {} } as never,
    db,
    ownId: '00000000-0000-7000-8000-000000000001',
    holds: () => false,
    dead: { find: async () => [], findAgainInMs: undefined },
    settleLost: async (queue, jobs) => {
      const outcomes = jobs.map((job) => ({ job, outcome: failedAsLost(job) }))
      const pool = { prepared: db, transaction: <T>(run: (its: Db) => Promise<T>) => run(db) }
      await settleBatch(pool, { queue }, outcomes, 1000, () => {})
      return true
    },
    log: { warn: () => {} },
    ...parts,
  })

/** As if the processes of the attempts under way had died, and this one had looked for such. */
export async function bringLostJobsBack(app: FastifyInstance): Promise<void> {
  const { database } = app.svc
  const { underTest } = await useCore(app)
  const { rows } = await database.query(
    `select id, started_on::text as "startedOn" from svc_jobs.job where state = 'active'`,
  )
  const leases = [rows.map(({ id }) => id), rows.map(({ startedOn }) => startedOn)]
  const those = `select job.id from svc_jobs.job as job
     join unnest($1::uuid[], $2::timestamptz[]) as lease (id, started_on) on lease.id = job.id
    where job.state = 'active' and job.started_on is not distinct from lease.started_on`
  // Again where a process settles a job just then.
  await until(async () => {
    await database.query(
      `update svc_jobs.job set group_tier = '${GONE}'
        where id = any(array(${those} for update of job skip locked))`,
      leases,
    )
    await lostJobsOf(database, { settleLost: underTest.settleLost }).recover()
    const { rowCount } = await database.query(those, leases)
    return rowCount === 0
  })
}
