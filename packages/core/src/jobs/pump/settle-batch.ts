/** Writes what result of a batch of jobs, in one transaction: theirs, and the rows that record them. */
import type { Db } from '../../postgres/transaction.ts'
import type { WorkerPool } from '../../postgres/worker-pool.ts'
import type { Job } from '../job.ts'
import { noteParked } from '../groups/groups-table.ts'
import { makeLastAttempt, postponeJobs, slowDown } from '../pg-boss/jobs-table.ts'
import { parkClaimed } from '../pg-boss/parked-jobs.ts'
import { failJobs, removeJobs, type PgBoss } from '../pg-boss/boss.ts'
import type { Outcome, JobOutcome, Settled, Worker } from '../worker.ts'

type PerformedAs<Kind extends Outcome['kind']> = {
  job: Job
  outcome: Extract<Outcome, { kind: Kind }>
}

/**
 * A job whose claim has lapsed meanwhile (it expired, another process has it) is not ours to
 * settle: pg-boss's fence leaves it alone and it is not recorded.
 */
export async function settleJobs(
  boss: PgBoss,
  workerPool: Pick<WorkerPool, 'query' | 'transaction'>,
  worker: Pick<Worker, 'queue' | 'record' | 'afterRecord'>,
  performed: JobOutcome[],
): Promise<void> {
  // One statement is a transaction of its own.
  if (!worker.record && performed.every(isGone)) {
    await settleGone(boss, workerPool, worker.queue, performed)
    return
  }
  const settled = await workerPool.transaction(async (db) => {
    const all = [
      ...(await settleGone(boss, db, worker.queue, performed.filter(isGone))),
      ...(await settleFailed(boss, db, worker.queue, performed)),
      ...(await settlePostponed(db, worker.queue, performed.filter(isPostponed))),
      ...(await settleParked(db, worker.queue, performed.filter(isParked))),
    ]
    if (all.length > 0) await worker.record?.(db, all)
    return all
  })
  worker.afterRecord?.(settled)
}

async function settleGone(
  boss: PgBoss,
  db: Db,
  queue: string,
  gone: PerformedAs<'completed' | 'cancelled'>[],
): Promise<Settled[]> {
  const ours = new Set(await removeJobs(boss, db, queue, jobsOf(gone)))
  return gone
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({ job, outcome, result: outcome.kind, nextAttemptAt: null }))
}

async function settleFailed(
  boss: PgBoss,
  db: Db,
  queue: string,
  performed: JobOutcome[],
): Promise<Settled[]> {
  const dying = performed.filter(isDying)
  const retried = performed.filter(isRetried)
  const cutShort = dying.filter(({ outcome }) => outcome.kind === 'dead')
  await makeLastAttempt(db, queue, jobsOf(cutShort))
  const ours = new Set(await failJobs(boss, db, queue, jobsOf(retried), {}))
  // pg-boss takes one output a call, and a dead letter keeps its own.
  const byOutput = Map.groupBy(dying, ({ outcome }) => JSON.stringify(outcome.output ?? {}))
  for (const [output, those] of byOutput) {
    const died = await failJobs(boss, db, queue, jobsOf(those), JSON.parse(output) as object)
    for (const id of died) ours.add(id)
  }
  const nextAttempts = await slowDown(
    db,
    queue,
    retried
      .filter(({ job }) => ours.has(job.id))
      .map(({ job, outcome }) => ({ id: job.id, atLeastMs: outcome.retryAfterMs ?? 0 })),
  )
  return [...retried, ...dying]
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => {
      const nextAttemptAt = nextAttempts.get(job.id) ?? null
      return { job, outcome, result: nextAttemptAt ? 'retry' : 'dead', nextAttemptAt }
    })
}

async function settlePostponed(
  db: Db,
  queue: string,
  postponed: PerformedAs<'postponed'>[],
): Promise<Settled[]> {
  const waits = postponed.map(({ job, outcome }) => ({ job, delayMs: outcome.delayMs }))
  const nextAttempts = await postponeJobs(db, queue, waits)
  return postponed.flatMap(({ job, outcome }) => {
    const nextAttemptAt = nextAttempts.get(job.id)
    return nextAttemptAt ? [{ job, outcome, result: 'postponed', nextAttemptAt }] : []
  })
}

async function settleParked(
  db: Db,
  queue: string,
  parked: PerformedAs<'parked'>[],
): Promise<Settled[]> {
  if (parked.length === 0) return []
  // First: a group's row may not go while jobs of it are being parked.
  await noteParked(db, queue, [...new Set(parked.flatMap(({ job }) => job.group ?? []))].toSorted())
  const ours = new Set(await parkClaimed(db, queue, jobsOf(parked)))
  return parked
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({ job, outcome, result: 'parked', nextAttemptAt: null }))
}

const isGone = (one: JobOutcome): one is PerformedAs<'completed' | 'cancelled'> =>
  one.outcome.kind === 'completed' || one.outcome.kind === 'cancelled'

const isRetried = (one: JobOutcome): one is PerformedAs<'failed'> =>
  one.outcome.kind === 'failed' && !one.job.isLastAttempt

const isDying = (one: JobOutcome): one is PerformedAs<'failed' | 'dead'> =>
  one.outcome.kind === 'dead' || (one.outcome.kind === 'failed' && one.job.isLastAttempt)

const isPostponed = (one: JobOutcome): one is PerformedAs<'postponed'> =>
  one.outcome.kind === 'postponed'

const isParked = (one: JobOutcome): one is PerformedAs<'parked'> => one.outcome.kind === 'parked'

const jobsOf = (performed: { job: Job }[]): Job[] => performed.map(({ job }) => job)
