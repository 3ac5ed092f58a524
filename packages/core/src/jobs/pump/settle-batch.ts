/** Settles a batch of outcomes in one transaction, together with the rows that record them. */
import type { Db } from '../../postgres/transaction.ts'
import type { WorkerPool } from '../../postgres/worker-pool.ts'
import type { Job } from '../job.ts'
import { recordParked } from '../groups-table.ts'
import {
  delayRetries,
  postponeJobs,
  setAttemptsLeft,
  type NextAttempt,
} from '../pg-boss/jobs-table.ts'
import { parkFetched } from '../pg-boss/park-jobs.ts'
import { failJobs, removeJobs, type PgBoss } from '../pg-boss/boss.ts'
import { settleCompleted } from './settle-completed.ts'
import type { JobOutcome, Settled, Worker } from '../worker.ts'
import { attemptsToCorrect, byOutput, settlementOf, type Settlement } from './settlement.ts'

/**
 * Returns what was settled, save where all jobs were completed.
 *
 * A job whose lease has expired may belong to another process by now: pg-boss does not change it,
 * and it is not recorded. `lockMs`: how long it waits for a row that others hold.
 */
export async function settleBatch(
  boss: PgBoss,
  pool: Pick<WorkerPool, 'prepared' | 'transaction'>,
  worker: Pick<Worker, 'queue' | 'record' | 'recordCompleted' | 'afterRecord'>,
  batch: JobOutcome[],
  lockMs: number,
): Promise<Settled[]> {
  if (await settleCompleted(pool.prepared, worker, batch)) return []
  const settled = await pool.transaction(
    async (db) => {
      const { queue } = worker
      const { finished, postponed, parked, ...failed } = settlementOf(batch)
      const all = [
        ...(await settleFinished(boss, db, queue, finished)),
        ...(await settleFailed(boss, db, queue, failed)),
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
  finished: Settlement['finished'],
): Promise<Settled[]> {
  const ours = new Set(await removeJobs(boss, db, queue, jobsOf(finished)))
  return finished
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({ job, outcome, result: outcome.kind, ...timesOf(null) }))
}

async function settleFailed(
  boss: PgBoss,
  db: Db,
  queue: string,
  { retried, dying }: Pick<Settlement, 'retried' | 'dying'>,
): Promise<Settled[]> {
  await setAttemptsLeft(db, queue, attemptsToCorrect({ retried, dying }))
  const ours = new Set(await failJobs(boss, db, queue, jobsOf(retried), {}))
  for (const { output, jobs } of byOutput(dying)) {
    for (const id of await failJobs(boss, db, queue, jobs, output)) ours.add(id)
  }
  const nextAttempts = await delayRetries(
    db,
    queue,
    retried
      .filter(({ job }) => ours.has(job.id))
      .map(({ job, outcome }) => ({
        id: job.id,
        atLeastMs: outcome.retryAfterMs ?? 0,
        exactlyMs: outcome.schedule?.retryInMs ?? null,
        attemptedIn: job.traceContext ?? null,
        isUnsent: outcome.isUnsent === true,
      })),
  )
  return [...retried, ...dying]
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => {
      const next = nextAttempts.get(job.id) ?? null
      return { job, outcome, result: next ? 'retry' : 'dead', ...timesOf(next) }
    })
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
