/** What the packages on top of core may do with queues. */
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import {
  buryLetters,
  countDeadLetters,
  listDeadLetters,
  redriveLetters,
  type DeadLetterFilter,
  type RetrySettings,
} from './pg-boss/dead-letters.ts'
import { noteParked, setHeld } from './groups/groups-table.ts'
import { insertMove } from './groups/moves-table.ts'
import type { DeadLetter, Job, NewJob } from './job.ts'
import { discardParked, parkHead } from './pg-boss/parked-jobs.ts'
import { defineQueue, insertJobs, type PgBoss } from './pg-boss/boss.ts'
import type { WorkerRegistry } from './worker-registry.ts'

export interface Queues {
  /** Makes the queue and `<queue>.dlq` where they are not there. */
  define(queue: string): Promise<void>
  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void>
  /** There are new jobs, committed: workers look at once, here and in other processes. */
  wake(queue: string): void
  /** From the commit on no job of the group is started, however many wait. */
  hold(db: Db, queue: string, group: string): Promise<void>
  /** The jobs of the group go on. */
  release(db: Db, queue: string, group: string): Promise<void>
  /** The state of groups has changed, and is committed: every process reads it at once. */
  groupsChanged(queue: string): void
  /**
   * Deletes what a group has waiting, and its dead letters. A first portion is deleted in the
   * transaction, and returned; more than that follows in the background, by `Worker.recordDiscarded`.
   */
  discard<Data>(db: Db, queue: string, group: string): Promise<Job<Data>[]>
  /** Newest first. */
  deadLetters<Data>(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter<Data>[]>
  /**
   * Puts dead letters of a group back to work, with all their attempts; they go on counting. A first
   * portion is moved in the transaction, more follows in the background. Returns how many in all.
   */
  redrive(db: Db, queue: string, group: string, ids?: string[]): Promise<number>
}

/** Rows that are moved before an operator is answered. */
const FIRST_PORTION = 500

export class JobQueues implements Queues {
  #boss: PgBoss
  #database: Database
  #retry: RetrySettings
  #workers: WorkerRegistry

  constructor(boss: PgBoss, database: Database, retry: RetrySettings, workers: WorkerRegistry) {
    this.#boss = boss
    this.#database = database
    this.#retry = retry
    this.#workers = workers
  }

  define(queue: string): Promise<void> {
    return defineQueue(this.#boss, this.#database.db, queue, { ownTable: true })
  }

  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void> {
    return insertJobs(this.#boss, db, queue, jobs, this.#retry)
  }

  wake(queue: string): void {
    this.#workers.wake(queue)
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
    await setHeld(db, queue, group, true)
    await parkHead(db, queue, group)
    const jobs = await discardParked<Data>(db, queue, group, FIRST_PORTION)
    await insertMove(db, queue, group, 'discard')
    const buried = await buryLetters(db, queue, { group }, FIRST_PORTION)
    if (buried === FIRST_PORTION) await insertMove(db, queue, group, 'bury')
    return jobs
  }

  deadLetters<Data>(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter<Data>[]> {
    return listDeadLetters<Data>(db, queue, filter)
  }

  async redrive(db: Db, queue: string, group: string, ids?: string[]): Promise<number> {
    const letters = { group, ...(ids ? { ids } : {}) }
    // First: of two at once the second waits here, and counts what the first leaves.
    await noteParked(db, queue, [group])
    const moved = await redriveLetters(db, queue, letters, this.#retry, FIRST_PORTION)
    if (moved < FIRST_PORTION || ids) return moved
    const more = await countDeadLetters(db, queue, group)
    if (more > 0) await insertMove(db, queue, group, 'redrive')
    return moved + more
  }
}
