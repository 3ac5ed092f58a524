import { isConnectionError } from '../../postgres/connection-errors.ts'
import type { Db } from '../../postgres/transaction.ts'
import { splitOnError } from '../../postgres/split-batch.ts'
import type { Job } from '../job.ts'
import type { Worker } from '../worker.ts'

/**
 * Reads the data of a batch of jobs. Where one job makes that impossible, only that job fails: the
 * returned function throws for it.
 */
export async function prepareBatch<Prepared>(
  worker: Pick<Worker<unknown, Prepared>, 'prepare'>,
  db: Db,
  batch: Job[],
): Promise<(job: Job) => Prepared> {
  const { parts, failed } = await splitOnError(batch, (jobs) => worker.prepare(db, jobs))
  const [whole] = parts
  if (whole && parts.length === 1 && failed.length === 0) return whole.result
  const preparedOf = new Map<Job, (job: Job) => Prepared>()
  for (const { items, result } of parts) for (const job of items) preparedOf.set(job, result)
  for (const { items, error } of failed) {
    if (isConnectionError(error)) throw error
    for (const job of items) {
      preparedOf.set(job, () => {
        throw error
      })
    }
  }
  return (job) => (preparedOf.get(job) as (job: Job) => Prepared)(job)
}
