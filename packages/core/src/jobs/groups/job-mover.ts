/** Works off what stands in the table of moves, a portion a transaction, in the background. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../postgres/pools.ts'
import type { RetrySettings } from '../pg-boss/dead-letters.ts'
import { deleteMove, lockMove, movePortion, type Progress } from './moves-table.ts'
import type { Worker } from '../worker.ts'

interface Log {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

/** A pause after each portion, as long as it took: half of the time belongs to the others. */
const LONGEST_PAUSE_MS = 1000
const LOG_EVERY_MS = 30_000

export class JobMover {
  #database: Pick<Database, 'background'>
  #retry: RetrySettings
  #log: Log
  #workers = new Map<string, Worker>()
  #progress: Progress = new Map()
  #running: Promise<void> | undefined
  #again = false
  /** The id of the move that was worked on last. */
  #last = '0'
  #closed = false

  constructor(database: Pick<Database, 'background'>, retry: RetrySettings, log: Log) {
    this.#database = database
    this.#retry = retry
    this.#log = log
  }

  /** Only a process that knows the worker of a queue can work on its jobs. */
  know(worker: Worker): void {
    this.#workers.set(worker.queue, worker)
  }

  /** There may be something to do. Resolves when nothing is left that this process could do. */
  work(): Promise<void> {
    this.#again = true
    this.#running ??= this.#workAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** The portion under way ends; another process, or the next boot, goes on. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #workAll(): Promise<void> {
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
            this.#log.info({ portions }, 'jobs of a group are being moved')
          }
          const tookMs = performance.now() - startedAt
          await pause(Math.min(LONGEST_PAUSE_MS, tookMs), undefined, { ref: false })
        }
      }
    } catch (error) {
      // The moves stay in their table: the next periodic look goes on with them.
      this.#log.error({ err: error }, 'jobs of a group could not be moved')
    }
  }

  /** Returns whether there may be more to do. */
  #portion(): Promise<boolean> {
    return this.#database.background(async (db) => {
      const move = await lockMove(db, [...this.#workers.keys()], this.#last)
      const worker = move && this.#workers.get(move.queue)
      if (!worker) return false
      this.#last = move.id
      if (await movePortion(db, move, worker, this.#retry, this.#progress)) {
        await deleteMove(db, move)
      }
      return true
    })
  }
}
