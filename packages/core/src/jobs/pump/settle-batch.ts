/** Settles a batch of outcomes in one transaction, together with the rows that record them. */
import type { Db } from '../../postgres/transaction.ts'
import type { WorkerPool } from '../../postgres/worker-pool.ts'
import type { Job } from '../job.ts'
import { recordParked } from '../pg-boss/groups-table.ts'
import { postponeJobs, useUpAttempts, type NextAttempt } from '../pg-boss/jobs-table.ts'
import { parkFetched } from '../pg-boss/park-jobs.ts'
import { failJobs, removeJobs, type PgBoss } from '../pg-boss/boss.ts'
import type { QueueTable } from '../pg-boss/queue-table.ts'
import { settleCompleted } from '../pg-boss/settle-completed.ts'
import { retry, settleRetried } from './settle-retried.ts'
import type { JobOutcome, Settled, Worker } from '../worker.ts'
import { byOutput, jobsToUseUp, settlementOf, type Settlement } from './settlement.ts'

type Recorder = Pick<
  Worker,
  'queue' | 'record' | 'recordCompleted' | 'recordRetried' | 'afterRecord'
>

/**
 * Completed jobs and failed ones that are tried again take a statement each kind, all others a
 * transaction together. Where a later part fails, the batch is settled again: what was settled before
 * does not change any more. Calls `settled` with what was committed, save completed jobs that needed one
 * statement.
 *
 * A job whose lease has expired may belong to another process by now: pg-boss does not change it,
 * and it is not recorded. `lockMs`: how long it waits for a row that others hold.
 */
export async function settleBatch(
  boss: PgBoss,
  pool: Pick<WorkerPool, 'prepared' | 'transaction'>,
  worker: Recorder,
  table: QueueTable,
  batch: JobOutcome[],
  lockMs: number,
  settled: (settled: Settled[]) => void,
): Promise<void> {
  const { completed, retried, ...others } = settlementOf(batch)
  const isCompletedSettled = await settleCompleted(pool.prepared, worker, table, completed)
  const settledRetries = await settleRetried(pool.prepared, worker, table, retried)
  const left = {
    ...others,
    completed: isCompletedSettled ? [] : completed,
    retried: settledRetries === null ? retried : [],
  }
  if (settledRetries !== null) settled(settledRetries)
  settled(await settleInTransaction(boss, pool, worker, table, left, lockMs))
}

async function settleInTransaction(
  boss: PgBoss,
  pool: Pick<WorkerPool, 'transaction'>,
  worker: Recorder,
  table: QueueTable,
  { completed, cancelled, retried, dying, postponed, parked }: Settlement,
  lockMs: number,
): Promise<Settled[]> {
  const finished = [...completed, ...cancelled]
  const parts = [finished, retried, dying, postponed, parked]
  if (parts.every((part) => part.length === 0)) return []
  const settled = await pool.transaction(
    async (db) => {
      const { queue } = worker
      const all = [
        ...(await settleFinished(boss, db, queue, finished)),
        ...(await retry(db, table, retried)),
        ...(await settleDying(boss, db, queue, dying)),
        ...(await settlePostponed(db, queue, postponed)),
        ...(await settleParked(db, queue, parked)),
      ]
      if (all.length > 0) await worker.record?.(db, all)
      return all
    },
    { lockMs },
  )
  worker.afterRecord?.(settled)
  return settled
}

async function settleFinished(
  boss: PgBoss,
  db: Db,
  queue: string,
  finished: (Settlement['completed'][number] | Settlement['cancelled'][number])[],
): Promise<Settled[]> {
  const ours = new Set(await removeJobs(boss, db, queue, jobsOf(finished)))
  return finished
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({ job, outcome, result: outcome.kind, ...timesOf(null) }))
}

async function settleDying(
  boss: PgBoss,
  db: Db,
  queue: string,
  dying: Settlement['dying'],
): Promise<Settled[]> {
  await useUpAttempts(db, queue, jobsToUseUp(dying))
  const ours = new Set<string>()
  for (const { output, jobs } of byOutput(dying)) {
    for (const id of await failJobs(boss, db, queue, jobs, output)) ours.add(id)
  }
  return dying
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({ job, outcome, result: 'dead', ...timesOf(null) }))
}

async function settlePostponed(
  db: Db,
  queue: string,
  postponed: Settlement['postponed'],
): Promise<Settled[]> {
  const waits = postponed.map(({ job, outcome }) => {
    const { delayMs, isUnsent = false } = outcome
    return { job, delayMs, isUnsent }
  })
  const nextAttempts = await postponeJobs(db, queue, waits)
  return postponed.flatMap(({ job, outcome }) => {
    const next = nextAttempts.get(job.id)
    return next ? [{ job, outcome, result: 'postponed', ...timesOf(next) }] : []
  })
}

async function settleParked(
  db: Db,
  queue: string,
  parked: Settlement['parked'],
): Promise<Settled[]> {
  if (parked.length === 0) return []
  // First: it keeps the row of a group from being deleted while jobs of it are being parked.
  await recordParked(
    db,
    queue,
    [...new Set(parked.flatMap(({ job }) => job.group ?? []))].toSorted(),
  )
  const ours = new Set(await parkFetched(db, queue, jobsOf(parked)))
  return parked
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({ job, outcome, result: 'parked', ...timesOf(null) }))
}

const timesOf = (next: NextAttempt | null) => ({
  nextAttemptAt: next?.at ?? null,
  nextAttemptInMs: next?.inMs ?? null,
})

const jobsOf = (outcomes: readonly { job: Job }[]): Job[] => outcomes.map(({ job }) => job)
