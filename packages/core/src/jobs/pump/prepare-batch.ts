import type { Db } from '../../postgres/transaction.ts'
import { isConnectionError } from '../../postgres/connection-errors.ts'
import type { Job } from '../job.ts'
import type { Worker } from '../worker.ts'

/**
 * What a batch of jobs needs. Where one of them makes that impossible, it alone fails: what is
 * returned throws for it.
 */
export async function prepareJobs<Prepared>(
  worker: Pick<Worker<unknown, Prepared>, 'prepare'>,
  db: Db,
  jobs: Job[],
): Promise<(job: Job) => Prepared> {
  try {
    return await worker.prepare(db, jobs)
  } catch (error) {
    if (isConnectionError(error)) throw error
    if (jobs.length === 1) {
      return () => {
        throw error
      }
    }
    const firstHalf = jobs.slice(0, jobs.length >> 1)
    const first = await prepareJobs(worker, db, firstHalf)
    const second = await prepareJobs(worker, db, jobs.slice(firstHalf.length))
    const firsts = new Set(firstHalf)
    return (job) => (firsts.has(job) ? first(job) : second(job))
  }
}
