/** Settles failed jobs that are tried again in one statement, together with the rows that record them. */
import type { Db } from '../../postgres/transaction.ts'
import type { NextAttempt } from '../pg-boss/jobs-table.ts'
import type { QueueTable } from '../pg-boss/queue-table.ts'
import { FIRST_PARAMETER_AFTER_RETRIED, retryJobs, type RetriedJob } from '../pg-boss/retry-jobs.ts'
import type { JobOutcomeAs, RecordedRetries, Settled, Worker } from '../worker.ts'
import { retryInMs } from './settlement.ts'

type Retried = JobOutcomeAs<'failed'>

/** Returns what was settled; `null` where the rows that record it need a transaction. */
export async function settleRetried(
  db: Db,
  worker: Pick<Worker, 'record' | 'recordRetried'>,
  table: QueueTable,
  retried: Retried[],
): Promise<Settled[] | null> {
  if (retried.length === 0) return []
  const failed = retried.map(({ job, outcome }) => ({ job, detail: outcome.detail }))
  const recorded = worker.record
    ? worker.recordRetried?.(failed, FIRST_PARAMETER_AFTER_RETRIED)
    : NOTHING
  return recorded ? await retry(db, table, retried, recorded) : null
}

const NOTHING = { parts: '', values: [] }

/** Records nothing: the rows are written in the same transaction. */
export const retry = async (
  db: Db,
  table: QueueTable,
  retried: Retried[],
  recorded?: RecordedRetries,
): Promise<Settled[]> =>
  settledOf(retried, await retryJobs(db, table, retried.map(retriedJob), recorded))

const retriedJob = (retried: Retried): RetriedJob => {
  const { job, outcome } = retried
  const left = outcome.schedule?.attemptsLeft ?? job.attemptsLeft
  return {
    job,
    atLeastMs: outcome.retryAfterMs ?? 0,
    exactlyMs: retryInMs(retried, performance.now()),
    attemptsLeft: left === job.attemptsLeft ? null : left,
    isUnsent: outcome.isUnsent === true,
  }
}

const settledOf = (retried: Retried[], nextOf: Map<string, NextAttempt>): Settled[] =>
  retried.flatMap(({ job, outcome }) => {
    const next = nextOf.get(job.id)
    if (next === undefined) return []
    const times = { nextAttemptAt: next.at, nextAttemptInMs: next.inMs }
    return [{ job, outcome, result: 'retry', ...times }]
  })
