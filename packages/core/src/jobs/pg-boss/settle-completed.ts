/** Settles completed jobs in one statement, together with the rows that record them. */
import type { Db } from '../../postgres/transaction.ts'
import { changeClaimed, type ClaimedJobs, type QueueTable } from './queue-table.ts'
import { JOB_IDS, type AttemptedJob, type JobOutcomeAs, type Worker } from '../worker.ts'

const completedOf = ({ table, condition }: ClaimedJobs): string =>
  `completed as (delete from ${table} as job where ${condition} returning job.id)`

/**
 * Deletes a single completed job, as most batches have at ordinary rates: without arrays, the
 * statement takes about half of the CPU time. `started_on` names the lease: a job that another process
 * has claimed by now is not changed.
 */
export const COMPLETED_ONE = `completed as (
  delete from svc_jobs.job
   where name = $1 and id = ${JOB_IDS}::uuid and state = 'active' and started_on = $3::timestamptz
  returning id)`

/** Returns whether they are settled: otherwise the rows that record them need a transaction. */
export async function settleCompleted(
  db: Db,
  worker: Pick<Worker, 'record' | 'recordCompleted'>,
  table: QueueTable,
  outcomes: JobOutcomeAs<'completed'>[],
): Promise<boolean> {
  if (outcomes.length === 0) return true
  const completed: AttemptedJob[] = outcomes.map(({ job, outcome: { detail } }) => ({
    job,
    detail,
  }))
  const recorded = worker.record ? worker.recordCompleted?.(completed) : NOTHING
  if (!recorded) return false
  const [first, ...others] = completed.map(({ job }) => job)
  if (first && others.length === 0) {
    const values = [table.queue, first.id, first.startedOn, ...recorded.values]
    await db.query(`with ${COMPLETED_ONE} ${recorded.insert}`, values)
    return true
  }
  const ids = completed.map(({ job }) => job.id)
  const startedOn = completed.map(({ job }) => job.startedOn)
  const values = [table.queue, ids, startedOn, ...recorded.values]
  await changeClaimed(db, table, completed.length, (claimed) =>
    db.query(`with ${completedOf(claimed)} ${recorded.insert}`, values),
  )
  return true
}

const NOTHING = { insert: 'select from completed', values: [] }
