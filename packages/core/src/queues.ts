/** What the packages on top of core may do with queues, bound to the database and the pumps of this process. */
import type { Database, Db } from './database.ts'
import { transaction } from './database.ts'
import type { WorkerSettings } from './options.ts'
import type { Pump } from './pump.ts'
import { listDeadLetters, takeDeadLetters } from './dead-letters.ts'
import type { DeadLetter, FanOutJob, Job, NewJob } from './job.ts'
import { deferGroup, discardGroup } from './job-table.ts'
import { defineQueue, insertJobs, type PgBoss, type QueueOptions } from './queue.ts'
import type { Signals } from './signals.ts'

export interface Queues {
  /** Makes the queue and `<queue>.dlq`, or brings both to these settings and those of the worker. */
  define(queue: string, options: QueueOptions): Promise<void>
  insert(queue: string, jobs: NewJob[], db?: Db): Promise<void>
  /** There are new jobs, committed: workers look at once, here and in other processes. */
  wake(queue: string): void
  /** The waiting jobs of a group start no earlier than `until`; `new Date()` brings them back. */
  defer(queue: string, group: string, until: Date, db?: Db): Promise<number>
  /** Deletes the waiting jobs of a group. */
  discard(queue: string, group: string, db?: Db): Promise<Job[]>
  /** Newest first. `after`: the id of the last one seen. */
  deadLetters(
    queue: string,
    filter: { group?: string; limit?: number; after?: string; ids?: string[] },
    db?: Db,
  ): Promise<DeadLetter[]>
  /** Puts dead letters back to work, with all their attempts; they go on counting. Returns how many. */
  redrive(
    queue: string,
    filter: { group: string; ids?: string[]; startAfter?: Date },
    db?: Db,
  ): Promise<number>
  /** Deletes the dead letters of a group. */
  discardDeadLetters(queue: string, group: string, db?: Db): Promise<number>
}

export const WAKE_CHANNEL = 'svc.wake'
/** Wakes of the same moment share a NOTIFY: it takes a lock over the whole cluster at its commit. */
const DEBOUNCE_MS = 3

export class BoundQueues implements Queues {
  #boss: PgBoss
  #database: Database
  #worker: WorkerSettings
  #signals: Signals
  #pumps = new Map<string, Pump>()
  #toTell = new Set<string>()
  #telling: NodeJS.Timeout | undefined

  constructor(boss: PgBoss, database: Database, worker: WorkerSettings, signals: Signals) {
    this.#boss = boss
    this.#database = database
    this.#worker = worker
    this.#signals = signals
  }

  async define(queue: string, options: QueueOptions): Promise<void> {
    const db = this.#database.db
    await defineQueue(this.#boss, db, queue, this.#worker, { ...options, ownTable: true })
  }

  insert(queue: string, jobs: NewJob[], db: Db = this.#database.db): Promise<void> {
    return insertJobs(this.#boss, db, queue, jobs)
  }

  wake(queue: string): void {
    this.wakeHere(queue)
    this.#toTell.add(queue)
    this.#telling ??= setTimeout(() => void this.#tell(), DEBOUNCE_MS)
    this.#telling.unref()
  }

  wakeHere(queue: string): void {
    this.#pumps.get(queue)?.wake()
  }

  attach(pump: Pump): void {
    this.#pumps.set(pump.worker.queue, pump)
  }

  detach(pump: Pump): void {
    if (this.#pumps.get(pump.worker.queue) === pump) this.#pumps.delete(pump.worker.queue)
  }

  defer(queue: string, group: string, until: Date, db: Db = this.#database.db): Promise<number> {
    return deferGroup(db, queue, group, until)
  }

  discard(queue: string, group: string, db: Db = this.#database.db): Promise<Job[]> {
    return discardGroup(db, queue, group)
  }

  deadLetters(
    queue: string,
    filter: { group?: string; limit?: number; after?: string; ids?: string[] },
    db: Db = this.#database.db,
  ): Promise<DeadLetter[]> {
    return listDeadLetters(db, queue, filter)
  }

  redrive(
    queue: string,
    filter: { group: string; ids?: string[]; startAfter?: Date },
    db?: Db,
  ): Promise<number> {
    return db
      ? this.#redrive(db, queue, filter)
      : transaction(this.#database.pool, (tx) => this.#redrive(tx, queue, filter))
  }

  async discardDeadLetters(queue: string, group: string, db: Db = this.#database.db) {
    return (await takeDeadLetters(db, queue, { group })).length
  }

  /** The last wakes still go out. */
  async close(): Promise<void> {
    clearTimeout(this.#telling)
    await this.#tell()
  }

  async #redrive(
    db: Db,
    queue: string,
    { startAfter, ...filter }: { group: string; ids?: string[]; startAfter?: Date },
  ): Promise<number> {
    const letters = await takeDeadLetters(db, queue, filter)
    const jobs = letters.map((letter) => ({
      // The row that died may stand for a minute yet under the id it had.
      id: letter.id,
      data: attemptsKept(letter),
      group: filter.group,
      ...(startAfter ? { startAfter } : {}),
    }))
    await insertJobs(this.#boss, db, queue, jobs)
    return letters.length
  }

  async #tell(): Promise<void> {
    this.#telling = undefined
    const queues = [...this.#toTell]
    this.#toTell.clear()
    await Promise.all(queues.map((queue) => this.#signals.send(WAKE_CHANNEL, queue)))
  }
}

const attemptsKept = ({ data, attempts }: DeadLetter): FanOutJob => ({
  ...data,
  attemptsBefore: (data.attemptsBefore ?? 0) + attempts,
})
