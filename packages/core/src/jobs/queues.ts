/** The functions for queues that core offers to the other packages. */
import type { Db } from '../postgres/transaction.ts'
import type { NewRecovery, Recovery } from './recipients/work-table.ts'
import type { DeadLetter, Job, NewJob } from './job.ts'
import type { DeadLetterFilter } from './pg-boss/dead-letters.ts'
import type { MadeDue } from './pg-boss/waiting-jobs.ts'

export interface Queues {
  /** Creates the queue and `<queue>.dlq` where they do not exist. */
  define(queue: string): Promise<void>
  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void>
  /** There are new jobs, and their transaction is committed: pumps of all processes fetch at once. */
  wake(queue: string): void
  /**
   * Calls `watcher` after transactions of this process, after changes of its jobs, and on
   * notifications of other processes about jobs. That is often, and without arguments.
   */
  onActivity(watcher: () => void): void
  /** From the commit on no job of these recipients starts, however many wait. */
  hold(db: Db, queue: string, recipients: readonly string[]): Promise<void>
  /** The jobs of these recipients go on. */
  release(db: Db, queue: string, recipients: readonly string[]): Promise<void>
  /** Recipients were held, released, restricted, discarded or redriven, and that is committed: all processes read it. */
  recipientsChanged(queue: string): void
  /**
   * Deletes a recipient's waiting jobs and its dead letters. A first portion is deleted in the
   * transaction and returned; the rest follows in the background, see `WorkerRecovery`.
   */
  discard<Data>(db: Db, queue: string, recipient: string): Promise<Job<Data>[]>
  /** A discard whose background part has not ended ends: the recipient gets jobs again, and keeps what is left. */
  stopDiscard(db: Db, queue: string, recipient: string): Promise<void>
  /**
   * Deletes all jobs and dead letters of these recipients, in many transactions: unlike `discard` it is
   * done when it resolves, and nothing is written of them. Attempts under way are not stopped.
   */
  erase(queue: string, recipients: readonly string[]): Promise<ErasedJobs>
  /**
   * Deletes the dead letters of recipients that no longer exist: those that became so at `since` or later, by
   * default those that the transaction has made.
   */
  dropDeadLetters(db: Db, queue: string, recipients: string[], since?: Date): Promise<void>
  /** It is delivered after all. */
  deleteDeadLetter(db: Db, queue: string, id: string): Promise<void>
  /** Newest first. */
  deadLetters<Data>(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter<Data>[]>
  /**
   * Makes jobs of a recipient's dead letters, with all their attempts; the numbers of the attempts go on.
   * A first portion is moved in the transaction, the rest in the background. Returns how many in all.
   */
  redrive(db: Db, queue: string, recipient: string, ids?: string[]): Promise<number>
  /**
   * Makes a portion of a recipient's waiting jobs due at once: of those whose last attempt began before a
   * moment, which is now unless given. Another call with the moment of the first one continues.
   */
  makeDue(db: Db, queue: string, recipient: string, attemptedBefore?: string): Promise<MadeDue>
  /** How many jobs of each recipient are not done, up to `most`: see pg-boss/count-jobs.ts. */
  count(db: Db, queue: string, recipients: string[], most: number): Promise<Map<string, number>>
  /**
   * Makes one attempt of a held recipient in this process, with a job that has `isProbe`. Returns whether
   * one was begun.
   */
  probe(queue: string, recipient: string): Promise<boolean>
  /**
   * Begins a recovery, which is carried out in portions in the background. Call `recipientsChanged`
   * after the commit. What is more than {@link MOST_COUNTED} is counted there as well: `deliveries` is
   * `null` until then. Missing deliveries are counted by the worker of the queue.
   */
  recover(db: Db, request: RecoveryRequest): Promise<Recovery>
  /**
   * How many deliveries it would put on their way, counted up to one more than {@link MOST_COUNTED};
   * `null` for what is missing.
   */
  countRecoverable(db: Db, request: RecoveryRequest): Promise<number | null>
  /** Which recipients may have something of it; `null` for what is missing: any of them. */
  recipientsToRecover(
    db: Db,
    request: Omit<RecoveryRequest, 'recipient'>,
  ): Promise<Set<string> | null>
  /** How many dead letters there are; counted as above. */
  countDead(
    db: Db,
    queue: string,
    of: Pick<DeadLetterFilter, 'recipients' | 'except'>,
  ): Promise<number>
}

/** Counts of calls stop here. */
export const MOST_COUNTED = 10_000

/** Without `until`: up to now. */
export interface RecoveryRequest extends Omit<NewRecovery, 'until' | 'deliveries'> {
  until: string | null
}

export interface ErasedJobs {
  jobs: number
  deadLetters: number
}
