/** The interface through which a package defines what the pump does with the jobs of a queue. */
import type { Db } from '../postgres/transaction.ts'
import type { AttemptEnd, AttemptStart } from '../telemetry/attempt-telemetry.ts'
import type { RecoveredPortion, Recovery } from './groups/recoveries-table.ts'
import type { DeadLetter, Job } from './job.ts'

/** `Data` is what a job of the queue holds, `Detail` what an attempt leaves for `record`. */
export interface Worker<Data = unknown, Prepared = unknown, Detail = unknown> {
  queue: string
  /** Attempts at a time in this process. */
  concurrency: number
  /** No job of the queue has a group: the table of groups is not read for it. */
  withoutGroups?: true
  /** Seconds that attempts have to end when the process closes. @default 10 */
  drainSeconds?: number
  /**
   * Whether completed and failed jobs may wait some milliseconds for others, so that one statement
   * settles them. A kill of the process repeats these attempts.
   */
  settlesTogether?: boolean
  /** Reads what a batch of jobs needs, in one round trip. */
  prepare(db: Db, jobs: Job<Data>[]): Promise<(job: Job<Data>) => Prepared>
  /** One attempt. An attempt that throws has failed. */
  perform(job: Job<Data>, prepared: Prepared, signal: AbortSignal): Promise<Outcome<Detail>>
  /** Writes the rows that belong to the outcomes, in the transaction that settles them. */
  record?(db: Db, settled: Settled<Data, Detail>[]): Promise<void>
  /**
   * Writes the rows of completed jobs in the statement that deletes them. Returns parts of its `with`
   * and an `insert` that select from `completed`, which has the `id` of each job that is settled.
   * {@link JOB_IDS} is an array of the ids of all jobs given, in their order, or, of one job, its id;
   * its own parameters begin with {@link FIRST_PARAMETER}. `null` where these jobs need more than one
   * statement.
   */
  recordCompleted?(completed: AttemptedJob<Data, Detail>[]): InsertCompleted | null
  /**
   * Writes the rows of failed jobs that are tried again in the statement that puts them back. Returns
   * parts of its `with`, which select from `retried`: the `id` of each job that is settled, and
   * `start_after`. {@link JOB_IDS} is an array as above; its own parameters begin with `first`. `null`
   * where these jobs need more than one statement.
   */
  recordRetried?(failed: AttemptedJob<Data, Detail>[], first: number): RecordedRetries | null
  /**
   * What `prepare` reads of a job: an SQL expression over the columns of `job`, of type `json`. A job of
   * a restricted group that is claimed alone is claimed together with it, see `Job.read`.
   */
  readWithClaim?: string
  /** Called with the same array after the commit of that transaction. */
  afterRecord?(settled: Settled<Data, Detail>[]): void
  /** Describes an attempt for telemetry. It is not called without telemetry. */
  telemetry?: WorkerTelemetry<Data, Prepared, Detail>
  /** Writes the rows of jobs that are deleted with their group, in the transaction of the deletion. */
  recordDiscarded?(db: Db, jobs: Job<Data>[]): Promise<void>
  /**
   * Writes the rows of dead letters whose last attempt ended with its process, in the transaction that
   * makes jobs of them again: after it nothing tells of the attempt.
   */
  recordLost?(db: Db, letters: DeadLetter<Data>[]): Promise<void>
  /** A portion of a recovery of what is missing, in a transaction; counts it where it is not counted. */
  recoverMissing?(db: Db, recovery: Recovery, limit: number): Promise<RecoveredPortion>
}

/** Describes the attempts of a worker for telemetry. */
export interface WorkerTelemetry<Data = unknown, Prepared = unknown, Detail = unknown> {
  start(job: Job<Data>, prepared: Prepared): Omit<AttemptStart, 'queue'>
  end(outcome: Outcome<Detail>): Omit<AttemptEnd, 'outcome'>
}

export interface AttemptedJob<Data = unknown, Detail = unknown> {
  job: Job<Data>
  detail: Detail | undefined
}

export interface InsertCompleted {
  insert: string
  values: unknown[]
}

export interface RecordedRetries {
  parts: string
  values: unknown[]
}

export const JOB_IDS = '$2'
export const FIRST_PARAMETER = 4

/**
 * How an attempt ended. `detail` is for `record`; `output` is kept with a dead letter. Which
 * {@link Result}, status of the delivery log and metric label follow from each kind: see the table in
 * docs/architecture.md, "The names of an outcome".
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
  /** The job is parked until its group is released. No attempt is used up. */
  | { kind: 'parked'; detail?: Detail }
  /** The event or the webhook of the job was deleted. */
  | { kind: 'cancelled'; detail?: Detail }

export interface AttemptSchedule {
  /** How many attempts follow this one. */
  attemptsLeft: number
  /** When the next attempt follows; `null` for pg-boss's back-off. */
  retryInMs: number | null
}

export const isLastOf = (job: Job, { schedule }: Extract<Outcome, { kind: 'failed' }>): boolean =>
  (schedule?.attemptsLeft ?? job.attemptsLeft) === 0

export interface JobOutcome<Data = unknown, Detail = unknown> {
  job: Job<Data>
  outcome: Outcome<Detail>
  /** When the attempt ended, by the monotonic clock: it may be settled later. */
  endedAt?: number
}

export type JobOutcomeAs<Kind extends Outcome['kind']> = {
  job: Job
  outcome: Extract<Outcome, { kind: Kind }>
  endedAt?: number
}

/**
 * What has become of the job. Of a `failed` outcome: `retry` or, after the last attempt, `dead` (a dead
 * letter). A `rejected` one is always `dead`.
 */
export type Result = 'completed' | 'retry' | 'dead' | 'postponed' | 'parked' | 'cancelled'

export interface Settled<Data = unknown, Detail = unknown> extends JobOutcome<Data, Detail> {
  result: Result
  /** `null` where there is no next attempt, or its time is not known. */
  nextAttemptAt: Date | null
  /** The milliseconds from now to `nextAttemptAt`; `null` where that is. */
  nextAttemptInMs: number | null
}
