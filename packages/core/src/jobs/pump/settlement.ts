/** Decides by their outcomes how the jobs of a batch end. settle-batch.ts writes it. */
import type { Job } from '../job.ts'
import { storableJson } from '../../postgres/storable.ts'
import { isLastOf, type JobOutcome, type JobOutcomeAs } from '../worker.ts'

/** The outcomes of a batch; each is in one of these lists, in the order of the batch. */
export interface Settlement {
  /** Their jobs are deleted. */
  completed: JobOutcomeAs<'completed'>[]
  cancelled: JobOutcomeAs<'cancelled'>[]
  /** Their jobs are tried again. */
  retried: JobOutcomeAs<'failed'>[]
  /** Their jobs become dead letters. */
  dying: JobOutcomeAs<'failed' | 'rejected'>[]
  postponed: JobOutcomeAs<'postponed'>[]
  parked: JobOutcomeAs<'parked'>[]
}

export function settlementOf(batch: readonly JobOutcome[]): Settlement {
  const all: Settlement = {
    completed: [],
    cancelled: [],
    retried: [],
    dying: [],
    postponed: [],
    parked: [],
  }
  for (const { job, outcome, endedAt } of batch) {
    switch (outcome.kind) {
      case 'completed':
        all.completed.push({ job, outcome })
        break
      case 'cancelled':
        all.cancelled.push({ job, outcome })
        break
      case 'failed':
        if (isLastOf(job, outcome)) all.dying.push({ job, outcome })
        else all.retried.push({ job, outcome, ...(endedAt === undefined ? {} : { endedAt }) })
        break
      case 'rejected':
        all.dying.push({ job, outcome })
        break
      case 'postponed':
        all.postponed.push({ job, outcome })
        break
      case 'parked':
        all.parked.push({ job, outcome })
        break
    }
  }
  return all
}

/**
 * Jobs that become dead letters with attempts left by their row: pg-boss decides by the row, so that it
 * has to be changed before the job fails.
 */
export const jobsToUseUp = (dying: Settlement['dying']): Job[] =>
  dying.map(({ job }) => job).filter(({ attemptsLeft }) => attemptsLeft > 0)

/** The delay of a schedule is from the end of the attempt; `null` without a schedule. */
export function retryInMs(
  { outcome: { schedule }, endedAt }: JobOutcomeAs<'failed'>,
  now: number,
): number | null {
  const delayMs = schedule?.retryInMs ?? null
  return delayMs === null ? null : Math.max(0, delayMs - (now - (endedAt ?? now)))
}

/** A call of pg-boss takes one output for all its jobs, and each dead letter keeps its own. */
export function byOutput(dying: Settlement['dying']): { output: object; jobs: Job[] }[] {
  const groups = Map.groupBy(dying, ({ outcome }) => storableJson(outcome.output ?? {}))
  return [...groups].map(([output, those]) => ({
    output: JSON.parse(output) as object,
    jobs: those.map(({ job }) => job),
  }))
}

/** Whether a job may be settled a little later: other jobs wait for one with a grant, and for a probe. */
export const mayWait = ({ job, outcome }: JobOutcome): boolean =>
  (outcome.kind === 'completed' || outcome.kind === 'failed') &&
  job.grant === undefined &&
  job.isProbe !== true

/**
 * Whether the settlement changes the row of a webhook or of a group, which a transaction of the host may
 * hold for as long as it takes.
 */
export const needsSharedRow = ({ outcome }: JobOutcome): boolean =>
  outcome.kind === 'rejected' || outcome.kind === 'parked'

/**
 * Whether it is settled alone, in a transaction of its own: a probe that has succeeded resumes its group,
 * which locks rows of that group, and takes longer.
 */
export const settlesAlone = ({ job, outcome }: JobOutcome): boolean =>
  outcome.kind === 'completed' && job.isProbe === true

/**
 * Whether its settlement, beside the state of the job, writes rows that tell of it and nothing else. With
 * the others a webhook is disabled or resumed, or an event published.
 */
export const isOnlyRecorded = (one: JobOutcome): boolean =>
  !needsSharedRow(one) &&
  !settlesAlone(one) &&
  !(one.outcome.kind === 'failed' && isLastOf(one.job, one.outcome))
