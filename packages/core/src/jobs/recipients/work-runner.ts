/** Carries out the work on many jobs of a recipient in the background, a portion in each transaction. */
import { isOutage } from '../../postgres/connection-errors.ts'
import { LONG_STATEMENT_MS, type Database } from '../../postgres/pools.ts'
import type { Db } from '../../postgres/transaction.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../../postgres/worker-pool.ts'
import type { RetrySettings } from '../retry-settings.ts'
import { Timer, within } from '../../time.ts'
import type { Worker } from '../worker.ts'
import { workPortion } from './work-portion.ts'
import { isListed, lockWork, nextWorkInMs, postponeWork, type Work } from './work-table.ts'

interface Log {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

const LOG_EVERY_MS = 30_000
/** How long a close waits for the statement that runs. */
const CLOSED_WITHIN_MS = 10_000
/** How often work is looked at that waits for a transaction, or that another process carries out. */
const RECHECK_MS = 200
const LONGEST_WAIT_MS = 1000
const SHORTEST_BACK_OFF_MS = 1000
const LONGEST_BACK_OFF_MS = 10 * 60_000

export class WorkRunner {
  #db: Pick<Database['db'], 'transaction'>
  #retry: RetrySettings
  #log: Log
  #progressed: (queue: string, recipient: string) => void
  #workers = new Map<string, Worker>()
  #running: Promise<void> | undefined
  #again = false
  #closing = new AbortController()
  #timer = new Timer(() => this.run())
  /** When the progress of a recovery was logged last, by its id. */
  #loggedAt = new Map<string, number>()
  /** How often each has failed in a row, by its id. */
  #failures = new Map<string, number>()

  /** `progressed`: jobs of the recipient may be claimed. */
  constructor(
    db: Pick<Database['db'], 'transaction'>,
    retry: RetrySettings,
    log: Log,
    progressed: (queue: string, recipient: string) => void,
  ) {
    this.#db = db
    this.#retry = retry
    this.#log = log
    this.#progressed = progressed
  }

  /** The worker of a queue writes the rows that belong to its jobs. */
  addWorker(worker: Worker): void {
    this.#workers.set(worker.queue, worker)
  }

  /** There may be work. Resolves when none is due that this process can carry out. */
  run(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#again = true
    this.#running ??= this.#runAll()
    return this.#running
  }

  /**
   * A portion under way ends at its next statement, and is rolled back: another process, or this one
   * after its next boot, continues.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#timer.clear()
    await within(CLOSED_WITHIN_MS, this.#running, () => {})
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async #runAll(): Promise<void> {
    try {
      while (this.#again && !this.#isClosed) {
        this.#again = false
        while (!this.#isClosed && (await this.#portion()));
        if (!this.#again && !this.#isClosed) await this.#waitForNext()
      }
    } catch (error) {
      if (this.#isClosed) return
      // The work stays in its table, and a periodic task continues it.
      this.#log.error(
        { err: error },
        'could not carry out work on jobs; a periodic task tries again',
      )
    } finally {
      // In the same turn as the last look at `#again`: a call in between would begin nothing.
      this.#running = undefined
    }
  }

  /** A transaction whose statements fail once the process closes. */
  #transaction<T>(run: (db: Db) => Promise<T>): Promise<T> {
    const { signal } = this.#closing
    return this.#db.transaction(
      (db) =>
        run({
          query: async (text, values) => {
            signal.throwIfAborted()
            return await db.query(text, values)
          },
        }),
      { begin: BEGIN_WITH_WORKER_PLANS, timeoutMs: LONG_STATEMENT_MS },
    )
  }

  /** Returns whether there may be more that is due. */
  async #portion(): Promise<boolean> {
    const startedAt = performance.now()
    let due: Work | undefined
    let done: Work | undefined
    try {
      done = await this.#transaction(async (db) => {
        due = await lockWork(db, [...this.#workers.keys()])
        const worker = due && this.#workers.get(due.queue)
        return due && worker && workPortion(db, due, worker, this.#retry)
      })
    } catch (error) {
      // Nothing else could be done either.
      if (due === undefined || this.#isClosed || isOutage(error)) throw error
      await this.#putOff(due, error, performance.now() - startedAt)
      return true
    }
    if (done === undefined) return false
    this.#failures.delete(done.id)
    this.#progressed(done.queue, done.recipient)
    this.#logProgress(done)
    return true
  }

  /** Otherwise it would stay the first one that is due, and no other would ever be carried out. */
  async #putOff(work: Work, error: unknown, tookMs: number): Promise<void> {
    const { id, recipient, what } = work
    const failures = this.#failures.get(id) ?? 0
    this.#failures.set(id, failures + 1)
    const backOffMs = SHORTEST_BACK_OFF_MS * 2 ** Math.min(failures, 20)
    const againInMs = Math.ceil(Math.max(Math.min(LONGEST_BACK_OFF_MS, backOffMs), tookMs))
    await this.#transaction((db) => postponeWork(db, id, againInMs))
    const about = { err: error, workId: id, recipient, what, againInMs }
    this.#log.error(about, 'a portion of work on jobs failed; it is tried again, others go on')
  }

  /** Work with a pace, what waits for a transaction, and what is put off is due again soon. */
  async #waitForNext(): Promise<void> {
    const ms = await this.#transaction((db) => nextWorkInMs(db, [...this.#workers.keys()]))
    if (ms === null) {
      this.#loggedAt.clear()
      this.#failures.clear()
    }
    if (this.#isClosed || ms === null) return
    this.#timer.clear()
    this.#timer.set(recheckInMs(ms))
  }

  #logProgress({ id, recipient, what, done, deliveries, finishedAt }: Work): void {
    if (!isListed(what)) return
    const isFinished = finishedAt !== null
    const now = performance.now()
    if (!isFinished && now - (this.#loggedAt.get(id) ?? -Infinity) < LOG_EVERY_MS) return
    this.#loggedAt.set(id, now)
    const about = { recoveryId: id, recipient, what, done, deliveries }
    this.#log.info(about, isFinished ? 'a recovery has finished' : 'a recovery is running')
  }
}

const recheckInMs = (dueInMs: number): number =>
  dueInMs <= 0 ? RECHECK_MS : Math.min(Math.ceil(dueInMs), LONGEST_WAIT_MS)
