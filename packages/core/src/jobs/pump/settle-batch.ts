/** Settles a batch of outcomes in one transaction, together with the rows that record them. */
import type { Db } from '../../postgres/transaction.ts'
import type { WorkerPool } from '../../postgres/worker-pool.ts'
import type { Job } from '../job.ts'
import { recordParked } from '../groups/groups-table.ts'
import {
  delayRetries,
  postponeJobs,
  setAttemptsLeft,
  type NextAttempt,
} from '../pg-boss/jobs-table.ts'
import { parkFetched } from '../pg-boss/parked-jobs.ts'
import { failJobs, removeJobs, type PgBoss } from '../pg-boss/boss.ts'
import { settleCompleted } from './settle-completed.ts'
import { isLastOf, type Outcome, type JobOutcome, type Settled, type Worker } from '../worker.ts'

type JobOutcomeAs<Kind extends Outcome['kind']> = {
  job: Job
  outcome: Extract<Outcome, { kind: Kind }>
}

/**
 * Returns what was settled, save where all jobs were completed.
 *
 * A job whose lease has expired may belong to another process by now: pg-boss leaves it alone, and
 * it is not recorded.
 */
export async function settleBatch(
  boss: PgBoss,
  pool: Pick<WorkerPool, 'prepared' | 'transaction'>,
  worker: Pick<Worker, 'queue' | 'record' | 'recordCompleted' | 'afterRecord'>,
  batch: JobOutcome[],
): Promise<Settled[]> {
  if (await settleCompleted(pool.prepared, worker, batch)) return []
  const settled = await pool.transaction(async (db) => {
    const all = [
      ...(await settleFinished(boss, db, worker.queue, batch.filter(isFinished))),
      ...(await settleFailed(boss, db, worker.queue, batch)),
      ...(await settlePostponed(db, worker.queue, batch.filter(isPostponed))),
      ...(await settleParked(db, worker.queue, batch.filter(isParked))),
    ]
    if (all.length > 0) await worker.record?.(db, all)
    return all
  })
  worker.afterRecord?.(settled)
  return settled
}

async function settleFinished(
  boss: PgBoss,
  db: Db,
  queue: string,
  finished: JobOutcomeAs<'completed' | 'cancelled'>[],
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
  batch: JobOutcome[],
): Promise<Settled[]> {
  const dying = batch.filter(isDying)
  const retried = batch.filter(isRetried)
  const cutShort = dying.filter(({ job }) => !job.isLastAttempt)
  const prolonged = retried.filter(({ job }) => job.isLastAttempt)
  await setAttemptsLeft(db, queue, jobsOf(cutShort), 0)
  await setAttemptsLeft(db, queue, jobsOf(prolonged), 1)
  const ours = new Set(await failJobs(boss, db, queue, jobsOf(retried), {}))
  // A call of pg-boss takes one output for all its jobs, and each dead letter keeps its own.
  const byOutput = Map.groupBy(dying, ({ outcome }) => JSON.stringify(outcome.output ?? {}))
  for (const [output, those] of byOutput) {
    const died = await failJobs(boss, db, queue, jobsOf(those), JSON.parse(output) as object)
    for (const id of died) ours.add(id)
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
  postponed: JobOutcomeAs<'postponed'>[],
): Promise<Settled[]> {
  const waits = postponed.map(({ job, outcome }) => ({ job, delayMs: outcome.delayMs }))
  const nextAttempts = await postponeJobs(db, queue, waits)
  return postponed.flatMap(({ job, outcome }) => {
    const next = nextAttempts.get(job.id)
    return next ? [{ job, outcome, result: 'postponed', ...timesOf(next) }] : []
  })
}

async function settleParked(
  db: Db,
  queue: string,
  parked: JobOutcomeAs<'parked'>[],
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

const isFinished = (one: JobOutcome): one is JobOutcomeAs<'completed' | 'cancelled'> =>
  one.outcome.kind === 'completed' || one.outcome.kind === 'cancelled'

const isRetried = (one: JobOutcome): one is JobOutcomeAs<'failed'> =>
  one.outcome.kind === 'failed' && !isLastOf(one.job, one.outcome)

const isDying = (one: JobOutcome): one is JobOutcomeAs<'failed' | 'dead'> =>
  one.outcome.kind === 'dead' || (one.outcome.kind === 'failed' && isLastOf(one.job, one.outcome))

const isPostponed = (one: JobOutcome): one is JobOutcomeAs<'postponed'> =>
  one.outcome.kind === 'postponed'

const isParked = (one: JobOutcome): one is JobOutcomeAs<'parked'> => one.outcome.kind === 'parked'

const jobsOf = (outcomes: { job: Job }[]): Job[] => outcomes.map(({ job }) => job)
