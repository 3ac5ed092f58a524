/** The functions for queues that core offers to the other packages. */
import { LONG_STATEMENT_MS, type Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import { deadLetterQueueOf, type DeadLetter, type Job, type NewJob } from './job.ts'
import { defineQueue, type PgBoss } from './pg-boss/boss.ts'
import {
  countDeadLetters,
  deleteDeadLetter,
  deleteDeadLetters,
  dropDeadLetters,
  listDeadLetters,
  recipientsOfDeadLetters,
  type DeadLetterFilter,
} from './pg-boss/dead-letters.ts'
import { eraseJobs } from './pg-boss/erase-jobs.ts'
import { insertJobs } from './pg-boss/insert-jobs.ts'
import { countWaitingRetries, recipientsOfWaitingRetries } from './pg-boss/make-retries-due.ts'
import { deleteRecipients, setHeld } from './pg-boss/recipient-states-table.ts'
import { redriveDeadLetters } from './pg-boss/redrive-dead-letters.ts'
import { countJobs, discardWaiting, makeWaitingDue } from './pg-boss/waiting-jobs.ts'
import {
  deleteWorkOn,
  endedSpan,
  insertRecovery,
  insertWork,
  lockRecoveries,
  type NewRecovery,
  type Recovery,
} from './recipients/work-table.ts'
import type { RetrySettings } from './retry-settings.ts'
import type { WorkerRegistry } from './worker-registry.ts'

/** Rows that are moved within the transaction of the call. */
const FIRST_PORTION = 500

export const MOST_COUNTED = 10_000

/** Without `until`: up to now. */
export interface RecoveryRequest extends Omit<NewRecovery, 'until' | 'deliveries'> {
  until: string | null
}

interface Parts {
  boss: PgBoss
  database: Database
  retry: RetrySettings
  workers: WorkerRegistry
  isCheck: boolean
}

export class Queues {
  #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Creates the queue and `<queue>.dlq` where they do not exist. */
  define(queue: string): Promise<void> {
    const { boss, database, isCheck } = this.#parts
    return defineQueue(boss, database, queue, { ownTable: true, isCheck })
  }

  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void> {
    return insertJobs(db, queue, jobs, this.#parts.retry)
  }

  /** There are new jobs, and their transaction is committed: pumps of all processes fetch at once. */
  wake(queue: string): void {
    this.#parts.workers.wake(queue, null)
  }

  /**
   * Calls `watcher` after transactions of this process, after changes of its jobs, and on
   * notifications of other processes about jobs. That is often, and without arguments.
   */
  onActivity(watcher: () => void): void {
    this.#parts.workers.onActivity(watcher)
  }

  /** Recipients were held, released, restricted, discarded or redriven, and that is committed: all processes read it. */
  recipientsChanged(queue: string): void {
    this.#parts.workers.recipientsChanged(queue)
  }

  /** From the commit on no job of these recipients starts, however many wait. */
  hold(db: Db, queue: string, recipients: readonly string[]): Promise<void> {
    return setHeld(db, queue, recipients, true)
  }

  /** The jobs of these recipients go on. */
  release(db: Db, queue: string, recipients: readonly string[]): Promise<void> {
    return setHeld(db, queue, recipients, false)
  }

  /**
   * Deletes a recipient's waiting jobs and its dead letters. A first portion is deleted in the
   * transaction and returned; the rest follows in the background, see `WorkerRecovery`.
   */
  async discard<Data>(db: Db, queue: string, recipient: string): Promise<Job<Data>[]> {
    await deleteWorkOn(db, queue, [recipient])
    await setHeld(db, queue, [recipient], true)
    const jobs = await discardWaiting<Data>(db, queue, recipient, FIRST_PORTION)
    await deleteDeadLetters(db, queue, recipient, FIRST_PORTION)
    await insertWork(db, queue, recipient, 'discard')
    return jobs
  }

  /** A discard whose background part has not ended ends: the recipient gets jobs again, and keeps what is left. */
  stopDiscard(db: Db, queue: string, recipient: string): Promise<void> {
    return deleteWorkOn(db, queue, [recipient])
  }

  /**
   * Deletes all jobs and dead letters of these recipients, in many transactions: unlike `discard` it is
   * done when it resolves, and nothing is written of them. Attempts under way are not stopped.
   */
  async erase(
    queue: string,
    recipients: readonly string[],
  ): Promise<{ jobs: number; deadLetters: number }> {
    if (recipients.length === 0) return { jobs: 0, deadLetters: 0 }
    const db = this.#parts.database.db.within(LONG_STATEMENT_MS)
    const which = { eventIdPrefix: null, recipients }
    const jobs = await eraseJobs(db, queue, which)
    const deadLetters = await eraseJobs(db, deadLetterQueueOf(queue), which)
    await deleteRecipients(db, queue, recipients)
    return { jobs, deadLetters }
  }

  /** Of recipients that no longer exist. */
  dropDeadLetters = dropDeadLetters

  /** It is delivered after all. */
  deleteDeadLetter = deleteDeadLetter

  deadLetters<Data>(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter<Data>[]> {
    return listDeadLetters(db, queue, filter)
  }

  /**
   * Makes jobs of a recipient's dead letters, with all their attempts; the numbers of the attempts go on.
   * A first portion is moved in the transaction, the rest in the background. Returns how many in all.
   */
  async redrive(db: Db, queue: string, recipient: string, ids?: string[]): Promise<number> {
    // The second of two simultaneous calls waits here, and counts what the first has left.
    await lockRecoveries(db, recipient)
    const { retry } = this.#parts
    const { count } = await redriveDeadLetters(db, queue, { recipient, ids }, retry, FIRST_PORTION)
    if (count < FIRST_PORTION || ids) return count
    const more = await countDeadLetters(db, queue, { recipients: [recipient] })
    if (more > 0) await insertWork(db, queue, recipient, 'redrive')
    return count + more
  }

  /**
   * Makes all waiting jobs of a recipient due: a first portion in the transaction, the rest in the background.
   * Call `recipientsChanged` after the commit.
   */
  async makeDue(db: Db, queue: string, recipient: string): Promise<void> {
    const { isFinished } = await makeWaitingDue(db, queue, recipient)
    if (!isFinished) await insertWork(db, queue, recipient, 'due')
  }

  count = countJobs

  /**
   * Makes one attempt of a held recipient in this process, with a job that has `isProbe`. Returns whether
   * one was begun.
   */
  probe(queue: string, recipient: string): Promise<boolean> {
    return this.#parts.workers.probe(queue, recipient)
  }

  /**
   * Begins a recovery, which is carried out in portions in the background. Call `recipientsChanged`
   * after the commit. What is more than {@link MOST_COUNTED} is counted there as well: `deliveries` is
   * `null` until then. Missing deliveries are counted by the worker of the queue.
   */
  async recover(db: Db, request: RecoveryRequest): Promise<Recovery> {
    // The second of two simultaneous calls waits here, also for a redrive, and counts what the first has left.
    await lockRecoveries(db, request.recipient)
    const until = await endedSpan(db, request.until)
    const counted = await this.countRecoverable(db, { ...request, until })
    const deliveries = counted !== null && counted > MOST_COUNTED ? null : counted
    return insertRecovery(db, { ...request, until, deliveries })
  }

  /**
   * How many deliveries it would put on their way, counted up to one more than {@link MOST_COUNTED};
   * `null` for what is missing.
   */
  async countRecoverable(db: Db, request: RecoveryRequest): Promise<number | null> {
    const { queue, recipient, what, since } = request
    if (what === 'missing') return null
    const span = { since, until: await endedSpan(db, request.until) }
    if (what === 'failed') {
      const failed = { recipient, ...span, recovery: null }
      return countWaitingRetries(db, queue, failed, MOST_COUNTED + 1)
    }
    const dead = { recipients: [recipient], ...span, withoutTests: true }
    return countDeadLetters(db, queue, dead, MOST_COUNTED + 1)
  }

  /** Which recipients may have something of it; `null` for what is missing: any of them. */
  async recipientsToRecover(
    db: Db,
    { queue, what, since, until }: Omit<RecoveryRequest, 'recipient'>,
  ): Promise<Set<string> | null> {
    if (what === 'missing') return null
    const span = { since, until: await endedSpan(db, until) }
    const find = what === 'dead' ? recipientsOfDeadLetters : recipientsOfWaitingRetries
    return new Set(await find(db, queue, span))
  }

  /** How many dead letters there are; counted as above. */
  countDead(
    db: Db,
    queue: string,
    of: Pick<DeadLetterFilter, 'recipients' | 'except'>,
  ): Promise<number> {
    return countDeadLetters(db, queue, of, MOST_COUNTED + 1)
  }
}
