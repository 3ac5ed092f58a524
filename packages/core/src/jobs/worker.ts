/** How a package tells the pump what to do with the jobs of a queue. */
import type { Db } from '../postgres/pools.ts'
import type { Job } from './job.ts'

export interface Worker<Prepared = unknown, Note = unknown> {
  queue: string
  /** Jobs in flight in this process. */
  concurrency: number
  /** Seconds that the jobs in flight are given to end when the process closes. @default 10 */
  drainSeconds?: number
  /** Reads what a batch of jobs needs, in one round trip. */
  prepare(db: Db, jobs: Job[]): Promise<(job: Job) => Prepared>
  /** One attempt. What it throws counts as a failed one. */
  perform(job: Job, prepared: Prepared, signal: AbortSignal): Promise<Outcome<Note>>
  /** Writes the rows that belong to the outcomes, in the transaction that settles them. */
  record?(db: Db, settled: Settled<Note>[]): Promise<void>
  /** Called when that transaction is committed. */
  recorded?(settled: Settled<Note>[]): void
  /** Writes the rows of jobs that are deleted because their group is gone, in that transaction. */
  discarded?(db: Db, jobs: Job[]): Promise<void>
}

/** `note` is for `record`; `output` is kept with a dead letter. */
export type Outcome<Note = unknown> =
  | { kind: 'done'; note?: Note }
  /** Tried again after pg-boss's back-off, and not before `retryAfterMs` have passed. */
  | { kind: 'failed'; note?: Note; retryAfterMs?: number; output?: object }
  /** No further attempt: to the dead-letter queue. */
  | { kind: 'dead'; note?: Note; output?: object }
  /** Waits again, without an attempt used up. */
  | { kind: 'postponed'; delayMs: number }
  /** Waits apart, without an attempt used up, until its group's jobs go on. */
  | { kind: 'parked' }
  /** Nobody wants it any more. */
  | { kind: 'dropped'; note?: Note }

export interface Performed<Note = unknown> {
  job: Job
  outcome: Outcome<Note>
}

export interface Settled<Note = unknown> extends Performed<Note> {
  became: 'done' | 'retry' | 'dead' | 'postponed' | 'parked' | 'dropped'
  /** When it will be tried again, where it will. */
  nextAttemptAt: Date | null
}
