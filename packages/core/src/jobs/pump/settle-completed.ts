/** Settles completed jobs in one statement, together with the rows that record them. */
import type { Db } from '../../postgres/transaction.ts'
import { JOB_IDS, type AttemptedJob, type Worker } from '../worker.ts'
import type { JobOutcomeAs } from './settlement.ts'

/** `started_on` names the lease: a job that another process has claimed by now is not changed. */
const COMPLETED = `completed as (
  delete from svc_jobs.job as job
   using unnest(${JOB_IDS}::uuid[], $3::timestamptz[]) as claim (id, started_on)
   where job.name = $1 and job.id = any(${JOB_IDS}::uuid[]) and job.id = claim.id
     and job.state = 'active' and job.started_on = claim.started_on
  returning job.id)`

/**
 * Deletes a single completed job, as most batches have at ordinary rates: without arrays, the
 * statement takes about half of the CPU time.
 */
export const COMPLETED_ONE = `completed as (
  delete from svc_jobs.job
   where name = $1 and id = ${JOB_IDS}::uuid and state = 'active' and started_on = $3::timestamptz
  returning id)`

/** Returns whether they are settled: otherwise the rows that record them need a transaction. */
export async function settleCompleted(
  db: Db,
  worker: Pick<Worker, 'queue' | 'record' | 'recordCompleted'>,
  outcomes: JobOutcomeAs<'completed'>[],
): Promise<boolean> {
  if (outcomes.length === 0) return true
  const completed: AttemptedJob[] = outcomes.map(({ job, outcome: { detail } }) => ({
    job,
    detail,
  }))
  const recorded = worker.record ? worker.recordCompleted?.(completed) : NOTHING
  if (!recorded) return false
  const ids = completed.map(({ job }) => job.id)
  const startedOn = completed.map(({ job }) => job.startedOn)
  await (completed.length === 1
    ? db.query(`with ${COMPLETED_ONE} ${recorded.insert}`, [
        worker.queue,
        ids[0],
        startedOn[0],
        ...recorded.values,
      ])
    : db.query(`with ${COMPLETED} ${recorded.insert}`, [
        worker.queue,
        ids,
        startedOn,
        ...recorded.values,
      ]))
  return true
}

const NOTHING = { insert: 'select from completed', values: [] }
