/** The interface through which a package defines what the pump does with the jobs of a queue. */
import type { Db } from '../postgres/transaction.ts'
import type { AttemptEnd, AttemptStart } from '../telemetry/attempt-telemetry.ts'
import type { RecoveredPortion, Recovery } from './recipients/work-table.ts'
import { LOST_MESSAGES, type FanOutJob, type Job } from './job.ts'

/** `Data` is what a job of the queue holds, `Detail` what an attempt leaves for `record`. */
export interface Worker<Data = unknown, Prepared = unknown, Detail = unknown> {
  queue: string
  /** Attempts at a time in this process. */
  concurrency: number
  /** No job of the queue has a recipient: the table of recipients is not read for it. */
  withoutRecipients?: true
  /** Seconds that attempts have to end when the process closes. @default 10 */
  drainSeconds?: number
  /**
   * Whether completed and failed jobs may wait some milliseconds for others, so that one statement
   * settles them. A kill of the process repeats these attempts.
   */
  settlesTogether?: boolean
  /** Reads what a batch of jobs needs, in one round trip. */
  prepare(db: Db, jobs: Job<Data>[]): Promise<(job: Job<Data>) => Prepared>
  perform(job: Job<Data>, prepared: Prepared, signal: AbortSignal): Promise<Outcome<Detail>>
  /** How the attempt of a process that died has ended. @default failedAsLost */
  lost?(job: Job<Data>): Outcome<Detail>
  /** The rows that tell of attempts. They are written by the statement that settles the jobs. */
  record?: Recorder<Data, Detail>
  /**
   * Writes the rows of outcomes of which more follows, and what follows, in the transaction that settles
   * them: of dead letters, and of those for which `record` has returned `null`.
   */
  follow?(db: Db, settled: Settled<Data, Detail>[]): Promise<void>
  /** Called after the commit with what was settled, save jobs that are done of which only rows tell. */
  settled?(settled: Settled<Data, Detail>[]): void
  /**
   * The name of a function of Postgres in the schema `svc`, which has the data of a job, of type `json`, and
   * returns as `json` what `prepare` would read of it: `Job.read`. It is called with the claim of a job of a
   * restricted recipient that is claimed alone.
   */
  read?: string
  /** Describes an attempt for telemetry. It is not called without telemetry. */
  telemetry?: WorkerTelemetry<Data, Prepared, Detail>
  recovery?: WorkerRecovery<Data>
}

/** What a worker does as its jobs and dead letters are deleted or put back on their way, each in a transaction. */
export interface WorkerRecovery<Data = unknown> {
  /** Writes the rows of jobs that are deleted with their recipient. */
  recordDiscarded(db: Db, jobs: Job<Data>[]): Promise<void>
  /** A portion of a recovery of what was missed; counts it where it is not counted. */
  recoverMissed(db: Db, recovery: Recovery, limit: number): Promise<RecoveredPortion>
}

/** Describes the attempts of a worker for telemetry. */
export interface WorkerTelemetry<Data = unknown, Prepared = unknown, Detail = unknown> {
  start(job: Job<Data>, prepared: Prepared): Omit<AttemptStart, 'queue'>
  end(outcome: Outcome<Detail>): Omit<AttemptEnd, 'outcome'>
}

export interface Recorder<Data = unknown, Detail = unknown> {
  /**
   * The name of a function of Postgres in the schema `svc`: `(settled uuid[], next timestamptz[], rows json)`.
   * It writes those of the rows whose `job` is among the jobs that were settled. `next`, or null, has when the
   * next attempt of each is, or null.
   */
  function: string
  /** The rows of one attempt; `null` where more follows from it than rows. */
  rowsOf(ended: Ended<Data, Detail>): object[] | null
}

/**
 * How an attempt ended. `detail` is for `record`; `output` is kept with a dead letter. Which
 * {@link Result}, status of the delivery log and metric label follow from each kind: see the table in
 * contributing/architecture.md, "The names of an outcome".
 */
export type Outcome<Detail = unknown> =
  | { kind: 'completed'; detail?: Detail }
  /** Tried again after pg-boss's back-off, and not before `retryAfterMs` have passed. */
  | {
      kind: 'failed'
      detail?: Detail
      retryAfterMs?: number
      output?: object
      /** Instead of the attempts and delays that were written into the job. */
      schedule?: AttemptSchedule
      isUnsent?: boolean
    }
  /** The receiver wants no further attempt: the job becomes a dead letter, whatever attempts are left. */
  | { kind: 'rejected'; detail?: Detail; output?: object }
  /**
   * The job waits again. No attempt is used up. `isUnsent`: the request could not be sent, for a reason of
   * the host. The job says since when.
   */
  | { kind: 'postponed'; delayMs: number; detail?: Detail; isUnsent?: boolean }
  /** The job waits aside until its recipient can have it. No attempt is used up. */
  | { kind: 'parked'; detail?: Detail }
  /** The event or the webhook of the job was deleted. */
  | { kind: 'cancelled'; detail?: Detail }

export interface AttemptSchedule {
  /** How many attempts follow this one. */
  attemptsLeft: number
  /** When the next attempt follows; `null` for pg-boss's back-off. */
  retryInMs: number | null
}

/** Its process died: it can be fetched again at once, or becomes a dead letter if it has no attempts left. */
export const failedAsLost = <Detail extends object>(
  job: Job,
  detail?: Detail,
): Outcome<Detail> => ({
  kind: 'failed',
  output: detail ?? { value: { message: LOST_MESSAGES[1] } },
  schedule: { attemptsLeft: job.attemptsLeft, retryInMs: 0 },
  ...(detail === undefined ? {} : { detail }),
})

const AT_LEAST_MS = 1000
const AT_MOST_MS = 5 * 60_000
const FOR_MS = 7 * 24 * 3600_000

/**
 * The outcome of an attempt that could not be made, for a reason of the host. The job waits again, and no attempt is used up: as long as that has been so, up to five minutes. What
 * never works would wait for ever: after a week an attempt counts as failed, with the detail `after`.
 */
export function unsentOutcome<Detail extends object>(
  { data }: { data: Pick<FanOutJob, 'unsentSince'> },
  after: Detail,
  detail?: Detail,
): Outcome<Detail> {
  const { unsentSince } = data
  const sinceMs = unsentSince === undefined ? 0 : Date.now() - Date.parse(unsentSince)
  const isUnsent = true
  if (sinceMs > FOR_MS) return { kind: 'failed', detail: after, output: after, isUnsent }
  const pauseMs = Math.min(AT_MOST_MS, Math.max(AT_LEAST_MS, sinceMs))
  const delayMs = pauseMs * (0.9 + Math.random() * 0.2)
  return { kind: 'postponed', delayMs, isUnsent, ...(detail === undefined ? {} : { detail }) }
}

export const isLastOf = (job: Job, { schedule }: Extract<Outcome, { kind: 'failed' }>): boolean =>
  (schedule?.attemptsLeft ?? job.attemptsLeft) === 0

export interface JobOutcome<Data = unknown, Detail = unknown> {
  job: Job<Data>
  outcome: Outcome<Detail>
  /** When the attempt ended, by the monotonic clock: it may be settled later. */
  endedAt?: number
}

/**
 * What has become of the job. Of a `failed` outcome: `retry` or, after the last attempt, `dead` (a dead
 * letter). A `rejected` one is always `dead`.
 */
export type Result = 'completed' | 'retry' | 'dead' | 'postponed' | 'parked' | 'cancelled'

export const resultOf = ({ job, outcome }: JobOutcome): Result => {
  if (outcome.kind === 'rejected') return 'dead'
  if (outcome.kind === 'failed') return isLastOf(job, outcome) ? 'dead' : 'retry'
  return outcome.kind
}

/** An attempt that has ended. */
export interface Ended<Data = unknown, Detail = unknown> extends JobOutcome<Data, Detail> {
  result: Result
}

export interface Settled<Data = unknown, Detail = unknown> extends Ended<Data, Detail> {
  /** `null` where there is no next attempt, or its time is not known. */
  nextAttemptAt: Date | null
  /** The milliseconds from now to `nextAttemptAt`; `null` where that is. */
  nextAttemptInMs: number | null
}
