/** Carries out moves and recoveries in the background, a portion in each transaction. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../postgres/pools.ts'
import type { RetrySettings } from '../retry-settings.ts'
import { deleteMove, lockMove, movePortion, type Progress } from './moves-table.ts'
import { recoverPortion } from './recover-portion.ts'
import { lockRecovery, nextRecoveryInMs, type Recovery } from './recoveries-table.ts'
import type { Worker } from '../worker.ts'

interface Log {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

/** After each portion there is a pause as long as it took, so that other work gets half of the time. */
const LONGEST_PAUSE_MS = 1000
const LOG_EVERY_MS = 30_000
/** How often a recovery with its own pace is checked. */
const SHORTEST_WAIT_MS = 200
const LONGEST_WAIT_MS = 1000

export class JobMover {
  #database: Pick<Database, 'background'>
  #retry: RetrySettings
  #log: Log
  #workers = new Map<string, Worker>()
  #progress: Progress = new Map()
  #running: Promise<void> | undefined
  #again = false
  /** The id of the move of the last portion. */
  #last = '0'
  #closed = false
  #recovered: (queue: string) => void
  #isTurnOfRecoveries = false
  #timer: NodeJS.Timeout | undefined
  #recoveryLoggedAt = 0

  /** `recovered`: jobs of the queue can be fetched again. */
  constructor(
    database: Pick<Database, 'background'>,
    retry: RetrySettings,
    log: Log,
    recovered: (queue: string) => void,
  ) {
    this.#database = database
    this.#retry = retry
    this.#log = log
    this.#recovered = recovered
  }

  /** The worker of a queue writes the rows of jobs that are deleted. */
  addWorker(worker: Worker): void {
    this.#workers.set(worker.queue, worker)
  }

  /** There may be moves. Resolves when no move is left that this process can carry out. */
  run(): Promise<void> {
    this.#again = true
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Finishes the current portion. Another process, or this one after its next boot, continues. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #runAll(): Promise<void> {
    let loggedAt = performance.now()
    let portions = 0
    try {
      while (this.#again && !this.#closed) {
        this.#again = false
        for (;;) {
          const startedAt = performance.now()
          if (!(await this.#portion()) || this.#closed) break
          portions++
          if (performance.now() - loggedAt > LOG_EVERY_MS) {
            loggedAt = performance.now()
            this.#log.info({ portions }, 'still moving jobs of a group')
          }
          const tookMs = performance.now() - startedAt
          await pause(Math.min(LONGEST_PAUSE_MS, tookMs), undefined, { ref: false })
        }
      }
      await this.#waitForRecoveries()
    } catch (error) {
      // The moves stay in their table, and a periodic task continues them.
      this.#log.error({ err: error }, 'could not move jobs of a group; a periodic task tries again')
    }
  }

  /** Returns whether there may be more. */
  async #portion(): Promise<boolean> {
    this.#isTurnOfRecoveries = !this.#isTurnOfRecoveries
    return this.#isTurnOfRecoveries
      ? (await this.#recoverPortion()) || (await this.#movePortion())
      : (await this.#movePortion()) || (await this.#recoverPortion())
  }

  #movePortion(): Promise<boolean> {
    return this.#database.background(async (db) => {
      const move = await lockMove(db, this.#queues(), this.#last)
      const worker = move && this.#workers.get(move.queue)
      if (!worker) return false
      this.#last = move.id
      if (await movePortion(db, move, worker, this.#retry, this.#progress)) {
        await deleteMove(db, move)
      }
      return true
    })
  }

  async #recoverPortion(): Promise<boolean> {
    const recovery = await this.#database.background(async (db) => {
      const due = await lockRecovery(db, this.#queues())
      const worker = due && this.#workers.get(due.queue)
      return worker && recoverPortion(db, due, worker, this.#retry)
    })
    if (!recovery) return false
    this.#recovered(recovery.queue)
    this.#logProgress(recovery)
    return true
  }

  /** Recoveries with a pace, and those that wait for a transaction, are due again soon. */
  async #waitForRecoveries(): Promise<void> {
    const ms = await this.#database.background((db) => nextRecoveryInMs(db, this.#queues()))
    if (ms === null || this.#closed) return
    clearTimeout(this.#timer)
    const waitMs = Math.max(SHORTEST_WAIT_MS, Math.min(ms, LONGEST_WAIT_MS))
    this.#timer = setTimeout(() => void this.run(), waitMs)
    this.#timer.unref()
  }

  #logProgress({ id, group, what, done, deliveries, finishedAt }: Recovery): void {
    const isFinished = finishedAt !== null
    if (!isFinished && performance.now() - this.#recoveryLoggedAt < LOG_EVERY_MS) return
    this.#recoveryLoggedAt = performance.now()
    const about = { recoveryId: id, group, what, done, deliveries }
    this.#log.info(about, isFinished ? 'a recovery has finished' : 'a recovery is running')
  }

  #queues(): string[] {
    return [...this.#workers.keys()]
  }
}
