/** Writes what became of a batch of jobs, in one transaction: theirs, and the rows that record them. */
import type { Db } from './database.ts'
import { failJobs, makeLastAttempt, postponeJobs, removeJobs, slowDown } from './queue.ts'
import type { Job, PgBoss } from './queue.ts'
import type { Outcome, Performed, Settled, Worker } from './worker.ts'

type OutcomeOf<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>
type PerformedAs<Kind extends Outcome['kind']> = { job: Job; outcome: OutcomeOf<Kind> }

/**
 * A job whose claim has lapsed meanwhile (it expired, another process has it) is not ours to
 * settle: pg-boss's fence leaves it alone and it is not recorded.
 */
export async function settleJobs(
  boss: PgBoss,
  db: Db,
  worker: Worker,
  performed: Performed[],
): Promise<Settled[]> {
  const settled = [
    ...(await settleGone(boss, db, worker.queue, performed)),
    ...(await settleFailed(boss, db, worker.queue, performed)),
    ...(await settlePostponed(db, worker.queue, performed)),
  ]
  if (settled.length > 0) await worker.record?.(db, settled)
  return settled
}

async function settleGone(
  boss: PgBoss,
  db: Db,
  queue: string,
  performed: Performed[],
): Promise<Settled[]> {
  const gone = performed.filter(
    ({ outcome }) => outcome.kind === 'done' || outcome.kind === 'dropped',
  )
  const ours = new Set(await removeJobs(boss, db, queue, jobsOf(gone)))
  return gone
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({
      job,
      outcome,
      became: outcome.kind === 'done' ? 'done' : 'dropped',
      nextAttemptAt: null,
    }))
}

async function settleFailed(
  boss: PgBoss,
  db: Db,
  queue: string,
  performed: Performed[],
): Promise<Settled[]> {
  const dying = performed.filter(isDying)
  const retried = performed.filter(
    (one): one is PerformedAs<'failed'> => one.outcome.kind === 'failed' && !one.job.isLastAttempt,
  )
  await makeLastAttempt(
    db,
    queue,
    dying.filter(({ outcome }) => outcome.kind === 'dead').map(({ job }) => job.id),
  )
  const ours = new Set(await failJobs(boss, db, queue, jobsOf(retried), {}))
  // pg-boss takes one output a call, and a dead letter keeps its own.
  for (const { job, outcome } of dying) {
    for (const id of await failJobs(boss, db, queue, [job], outcome.output ?? {})) ours.add(id)
  }
  const nextAttempts = await slowDown(
    db,
    queue,
    retried
      .filter(({ job }) => ours.has(job.id))
      .map(({ job, outcome }) => ({ id: job.id, notBefore: outcome.retryAt ?? null })),
  )
  return [...retried, ...dying]
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => {
      const nextAttemptAt = nextAttempts.get(job.id) ?? null
      return { job, outcome, became: nextAttemptAt ? 'retry' : 'dead', nextAttemptAt }
    })
}

const isDying = (one: Performed): one is PerformedAs<'failed' | 'dead'> =>
  one.outcome.kind === 'dead' || (one.outcome.kind === 'failed' && one.job.isLastAttempt)

async function settlePostponed(db: Db, queue: string, performed: Performed[]): Promise<Settled[]> {
  const postponed = performed.filter(
    (one): one is PerformedAs<'postponed'> => one.outcome.kind === 'postponed',
  )
  const ours = new Set(
    await postponeJobs(
      db,
      queue,
      postponed.map(({ job, outcome }) => ({ job, until: outcome.until })),
    ),
  )
  return postponed
    .filter(({ job }) => ours.has(job.id))
    .map(({ job, outcome }) => ({
      job,
      outcome,
      became: 'postponed',
      nextAttemptAt: outcome.until,
    }))
}

const jobsOf = (performed: { job: Job }[]): Job[] => performed.map(({ job }) => job)
