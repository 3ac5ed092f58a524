/** What the packages on top of core may do with queues, bound to the database and the pumps of this process. */
import type { Database, Db } from '../postgres/pools.ts'
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
import type { Pump } from './pump/pump.ts'
import { defineQueue, insertJobs, type PgBoss } from './pg-boss/boss.ts'
import type { Signals } from '../postgres/notifications.ts'

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
   * transaction, and returned; more than that follows in the background, by `Worker.discarded`.
   */
  discard(db: Db, queue: string, group: string): Promise<Job[]>
  /** Newest first. */
  deadLetters(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter[]>
  /**
   * Puts dead letters of a group back to work, with all their attempts; they go on counting. A first
   * portion is moved in the transaction, more follows in the background. Returns how many in all.
   */
  redrive(db: Db, queue: string, group: string, ids?: string[]): Promise<number>
}

const WAKE_CHANNEL = 'svc.wake'
const GROUPS_CHANNEL = 'svc.groups'
/** Wakes of the same moment share a NOTIFY: it takes a lock over the whole cluster at its commit. */
const DEBOUNCE_MS = 3
/** Rows that are moved before an operator is answered. */
const FIRST_PORTION = 500

export class BoundQueues implements Queues {
  #boss: PgBoss
  #database: Database
  #retry: RetrySettings
  #signals: Signals
  #moves: { work(): Promise<void> }
  #pumps = new Map<string, Pump>()
  #toTell = new Map<string, Set<string>>()
  #telling: NodeJS.Timeout | undefined

  constructor(
    boss: PgBoss,
    database: Database,
    retry: RetrySettings,
    signals: Signals,
    moves: { work(): Promise<void> },
  ) {
    this.#boss = boss
    this.#database = database
    this.#retry = retry
    this.#signals = signals
    this.#moves = moves
  }

  define(queue: string): Promise<void> {
    return defineQueue(this.#boss, this.#database.db, queue, { ownTable: true })
  }

  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void> {
    return insertJobs(this.#boss, db, queue, jobs, this.#retry)
  }

  wake(queue: string): void {
    this.wakeHere(queue)
    this.#tellLater(WAKE_CHANNEL, queue)
  }

  wakeHere(queue: string): void {
    this.#pumps.get(queue)?.wake()
  }

  groupsChanged(queue: string): void {
    this.groupsChangedHere(queue)
    this.#tellLater(GROUPS_CHANNEL, queue)
  }

  groupsChangedHere(queue: string): void {
    this.#pumps.get(queue)?.groupsChanged()
    void this.#moves.work()
  }

  /** From now on notifications of other processes wake the pumps of this one. */
  listen(): void {
    this.#signals.listen(WAKE_CHANNEL, (queue, fromHere) => {
      if (!fromHere) this.wakeHere(queue)
    })
    this.#signals.listen(GROUPS_CHANNEL, (queue, fromHere) => {
      if (!fromHere) this.groupsChangedHere(queue)
    })
  }

  attach(pump: Pump): void {
    this.#pumps.set(pump.worker.queue, pump)
  }

  detach(pump: Pump): void {
    if (this.#pumps.get(pump.worker.queue) === pump) this.#pumps.delete(pump.worker.queue)
  }

  hold(db: Db, queue: string, group: string): Promise<void> {
    return setHeld(db, queue, group, true)
  }

  release(db: Db, queue: string, group: string): Promise<void> {
    return setHeld(db, queue, group, false)
  }

  async discard(db: Db, queue: string, group: string): Promise<Job[]> {
    await setHeld(db, queue, group, true)
    await parkHead(db, queue, group)
    const jobs: Job[] = await discardParked(db, queue, group, FIRST_PORTION)
    await insertMove(db, queue, group, 'discard')
    const buried = await buryLetters(db, queue, { group }, FIRST_PORTION)
    if (buried === FIRST_PORTION) await insertMove(db, queue, group, 'bury')
    return jobs
  }

  deadLetters(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter[]> {
    return listDeadLetters(db, queue, filter)
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

  /** The last notifications still go out. */
  async close(): Promise<void> {
    clearTimeout(this.#telling)
    await this.#tell()
  }

  #tellLater(channel: string, queue: string): void {
    const queues = this.#toTell.get(channel) ?? new Set()
    this.#toTell.set(channel, queues.add(queue))
    this.#telling ??= setTimeout(() => void this.#tell(), DEBOUNCE_MS)
    this.#telling.unref()
  }

  async #tell(): Promise<void> {
    this.#telling = undefined
    const toTell = [...this.#toTell]
    this.#toTell.clear()
    await Promise.all(
      toTell.flatMap(([channel, queues]) =>
        [...queues].map((queue) => this.#signals.send(channel, queue)),
      ),
    )
  }
}
