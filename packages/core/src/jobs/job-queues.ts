/** The functions for queues that core offers to the other packages. */
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import {
  deleteDeadLetters,
  countDeadLetters,
  dropDeadLetters,
  listDeadLetters,
  type DeadLetterFilter,
} from './pg-boss/dead-letters.ts'
import type { RetrySettings } from './retry-settings.ts'
import { redriveDeadLetters } from './pg-boss/redrive-dead-letters.ts'
import { countJobs } from './pg-boss/count-jobs.ts'
import { deleteGroups, recordParked, setHeld } from './groups-table.ts'
import { groupsWithJobs } from './pg-boss/groups-with-jobs.ts'
import { insertMove } from './groups/moves-table.ts'
import {
  deleteRecoveriesOf,
  endedSpan,
  insertRecovery,
  lockRecoveries,
  type NewRecovery,
  type Recovery,
} from './groups/recoveries-table.ts'
import { liftRestrictions } from './groups/restrictions-table.ts'
import { deadLetterQueueOf, type DeadLetter, type Job, type NewJob } from './job.ts'
import { eraseJobs } from './pg-boss/erase-jobs.ts'
import { discardParked, makeParkedDue, type ParkedMadeDue } from './pg-boss/parked-jobs.ts'
import { parkHead } from './pg-boss/park-jobs.ts'
import { countWaitingRetries } from './pg-boss/make-retries-due.ts'
import { defineQueue, insertJobs, type PgBoss } from './pg-boss/boss.ts'
import type { WorkerRegistry } from './worker-registry.ts'

export interface Queues {
  /** Creates the queue and `<queue>.dlq` where they do not exist. */
  define(queue: string): Promise<void>
  /** Parked jobs need a transaction: they are inserted first, and parked by a second statement. */
  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void>
  /** There are new jobs, and their transaction is committed: pumps of all processes fetch at once. */
  wake(queue: string): void
  /**
   * Calls `watcher` after transactions of this process, after changes of its jobs, and on
   * notifications of other processes about jobs. That is often, and without arguments.
   */
  onActivity(watcher: () => void): void
  /** From the commit on no job of the group starts, however many wait. */
  hold(db: Db, queue: string, group: string): Promise<void>
  /** The jobs of the group go on. */
  release(db: Db, queue: string, group: string): Promise<void>
  /** Groups were held, released, restricted, discarded or redriven, and that is committed: all processes read it. */
  groupsChanged(queue: string): void
  /**
   * Deletes a group's waiting jobs and its dead letters. A first portion is deleted in the
   * transaction and returned; the rest follows in the background, see `Worker.recordDiscarded`.
   */
  discard<Data>(db: Db, queue: string, group: string): Promise<Job<Data>[]>
  /**
   * Deletes all jobs and dead letters of these groups, in many transactions: unlike `discard` it is
   * done when it resolves, and nothing is written of them. Attempts under way are not stopped.
   */
  erase(queue: string, groups: readonly string[]): Promise<ErasedJobs>
  /**
   * Deletes the dead letters of groups that no longer exist: those that became so at `since` or later, by
   * default those that the transaction has made.
   */
  dropDeadLetters(db: Db, queue: string, groups: string[], since?: Date): Promise<void>
  /** Newest first. */
  deadLetters<Data>(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter<Data>[]>
  /**
   * Makes jobs of a group's dead letters, with all their attempts; the numbers of the attempts go on.
   * A first portion is moved in the transaction, the rest in the background. Returns how many in all.
   */
  redrive(db: Db, queue: string, group: string, ids?: string[]): Promise<number>
  /**
   * Makes a portion of a group's waiting jobs due at once: of those whose last attempt began before a
   * moment, which is now unless given. Another call with the moment of the first one continues.
   */
  makeDue(db: Db, queue: string, group: string, attemptedBefore?: string): Promise<ParkedMadeDue>
  /** How many jobs of each group are not done, up to `most`: see pg-boss/count-jobs.ts. */
  count(db: Db, queue: string, groups: string[], most: number): Promise<Map<string, number>>
  /** Which groups have, or may have, jobs that are not done: see pg-boss/groups-with-jobs.ts. */
  withJobs(db: Db, queue: string, groups: string[]): Promise<Set<string>>
  /**
   * Makes one attempt of a held group in this process, with a job that has `isProbe`. Returns whether
   * one was begun.
   */
  probe(queue: string, group: string): Promise<boolean>
  /**
   * Begins a recovery, which is carried out in portions in the background. Call `groupsChanged`
   * after the commit. Missing deliveries are counted by the worker of the queue.
   */
  recover(db: Db, request: RecoveryRequest): Promise<Recovery>
  /**
   * Jobs of the group will be parked: processes that read the groups after the commit look for them. To
   * be called shortly before it, since claims of a restricted group pass over its locked row.
   */
  expectParked(db: Db, queue: string, group: string): Promise<void>
  /** How many deliveries it would put on their way; `null` for what is missing. */
  countRecoverable(db: Db, request: RecoveryRequest): Promise<number | null>
}

/** Without `until`: up to now. */
export interface RecoveryRequest extends Omit<NewRecovery, 'until' | 'deliveries'> {
  until: string | null
}

export interface ErasedJobs {
  jobs: number
  deadLetters: number
}

/** Rows that are moved within the transaction of the call. */
const FIRST_PORTION = 500

export class JobQueues implements Queues {
  #boss: PgBoss
  #database: Database
  #retry: RetrySettings
  #workers: WorkerRegistry
  #isCheck: boolean

  constructor(
    boss: PgBoss,
    database: Database,
    retry: RetrySettings,
    workers: WorkerRegistry,
    isCheck: boolean,
  ) {
    this.#isCheck = isCheck
    this.#boss = boss
    this.#database = database
    this.#retry = retry
    this.#workers = workers
  }

  define(queue: string): Promise<void> {
    return defineQueue(this.#boss, this.#database, queue, {
      ownTable: true,
      isCheck: this.#isCheck,
    })
  }

  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void> {
    return insertJobs(this.#boss, db, queue, jobs, this.#retry)
  }

  wake(queue: string): void {
    this.#workers.wake(queue)
    this.#workers.groupsReady(queue, null)
  }

  onActivity(watcher: () => void): void {
    this.#workers.onActivity(watcher)
  }

  groupsChanged(queue: string): void {
    this.#workers.groupsChanged(queue)
  }

  hold(db: Db, queue: string, group: string): Promise<void> {
    return setHeld(db, queue, group, true)
  }

  release(db: Db, queue: string, group: string): Promise<void> {
    return setHeld(db, queue, group, false)
  }

  async discard<Data>(db: Db, queue: string, group: string): Promise<Job<Data>[]> {
    await deleteRecoveriesOf(db, queue, [group])
    await setHeld(db, queue, group, true)
    await liftRestrictions(db, queue, group)
    await parkHead(db, queue, group)
    const jobs = await discardParked<Data>(db, queue, group, FIRST_PORTION)
    await insertMove(db, queue, group, 'discard')
    const { count } = await deleteDeadLetters(db, queue, { group }, FIRST_PORTION)
    if (count === FIRST_PORTION) await insertMove(db, queue, group, 'bury')
    return jobs
  }

  async erase(queue: string, groups: readonly string[]): Promise<ErasedJobs> {
    if (groups.length === 0) return { jobs: 0, deadLetters: 0 }
    const { maintenance: db } = this.#database
    const which = { eventIdPrefix: null, groups }
    const jobs = await eraseJobs(db, queue, which)
    const deadLetters = await eraseJobs(db, deadLetterQueueOf(queue), which)
    await deleteRecoveriesOf(db, queue, groups)
    await deleteGroups(db, queue, groups)
    return { jobs, deadLetters }
  }

  dropDeadLetters(db: Db, queue: string, groups: string[], since?: Date): Promise<void> {
    return dropDeadLetters(db, queue, groups, since)
  }

  deadLetters<Data>(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter<Data>[]> {
    return listDeadLetters<Data>(db, queue, filter)
  }

  async redrive(db: Db, queue: string, group: string, ids?: string[]): Promise<number> {
    const selection = { group, ...(ids ? { ids } : {}) }
    // The second of two simultaneous calls waits here, and counts what the first has left.
    await recordParked(db, queue, [group])
    const { count } = await redriveDeadLetters(db, queue, selection, this.#retry, FIRST_PORTION)
    if (count < FIRST_PORTION || ids) return count
    const more = await countDeadLetters(db, queue, group)
    if (more > 0) await insertMove(db, queue, group, 'redrive')
    return count + more
  }

  async makeDue(
    db: Db,
    queue: string,
    group: string,
    attemptedBefore?: string,
  ): Promise<ParkedMadeDue> {
    await recordParked(db, queue, [group])
    // Parks the jobs that have not been parked since the group was held.
    const locked = await parkHead(db, queue, group)
    const parked = await makeParkedDue(db, queue, group, attemptedBefore ?? null)
    return { ...parked, hasMore: parked.hasMore || locked > 0 }
  }

  count(db: Db, queue: string, groups: string[], most: number): Promise<Map<string, number>> {
    return countJobs(db, queue, groups, most)
  }

  withJobs(db: Db, queue: string, groups: string[]): Promise<Set<string>> {
    return groupsWithJobs(db, queue, groups)
  }

  probe(queue: string, group: string): Promise<boolean> {
    return this.#workers.probe(queue, group)
  }

  async recover(db: Db, request: RecoveryRequest): Promise<Recovery> {
    // The second of two simultaneous calls waits here, and counts what the first has left.
    await lockRecoveries(db, request.group)
    // A redrive waits likewise.
    if (request.what === 'dead') await this.expectParked(db, request.queue, request.group)
    const until = await endedSpan(db, request.until)
    const deliveries = await this.countRecoverable(db, { ...request, until })
    return insertRecovery(db, { ...request, until, deliveries })
  }

  async expectParked(db: Db, queue: string, group: string): Promise<void> {
    await recordParked(db, queue, [group])
  }

  async countRecoverable(db: Db, request: RecoveryRequest): Promise<number | null> {
    const { queue, group, what, since } = request
    if (what === 'missing') return null
    const span = { since, until: await endedSpan(db, request.until) }
    return what === 'dead'
      ? countDeadLetters(db, queue, group, span)
      : countWaitingRetries(db, queue, { group, ...span })
  }
}
