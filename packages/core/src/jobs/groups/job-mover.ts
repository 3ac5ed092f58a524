/** Carries out moves and recoveries in the background, a portion in each transaction. */
import { setTimeout as pause } from 'node:timers/promises'
import { isOutage } from '../../postgres/connection-errors.ts'
import type { Database } from '../../postgres/pools.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { RetrySettings } from '../retry-settings.ts'
import { deleteMove, forgetFinished, lockMove, movePortion } from './moves-table.ts'
import type { JobMove, Progress } from './moves-table.ts'
import { PutOff } from './put-off.ts'
import { recoverPortion } from './recover-portion.ts'
import {
  lockRecovery,
  nextRecoveryInMs,
  postponeRecovery,
  type Recovery,
} from './recoveries-table.ts'
import type { Worker } from '../worker.ts'

interface Log {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

/** After each portion there is a pause as long as it took, so that other work gets half of the time. */
const LONGEST_PAUSE_MS = 1000
const LOG_EVERY_MS = 30_000
/** One statement counts all that a webhook has missed. */
const LONGEST_STATEMENT_MS = 120_000
/** How long a close waits for the statement that runs. */
const CLOSED_WITHIN_MS = 10_000
/** How often a recovery is checked that waits for a transaction, or that another process carries out. */
const RECHECK_MS = 200
const LONGEST_WAIT_MS = 1000

export class JobMover {
  #database: Pick<Database, 'background'>
  #retry: RetrySettings
  #log: Log
  #workers = new Map<string, Worker>()
  #progress: Progress
  #running: Promise<void> | undefined
  #again = false
  /** The id of the move of the last portion. */
  #last = '0'
  #closing = new AbortController()
  #recovered: (queue: string, group: string) => void
  #isTurnOfRecoveries = false
  #timer: NodeJS.Timeout | undefined
  /** When the progress of a recovery was logged last, by its id. */
  #loggedAt = new Map<string, number>()
  #failedMoves = new PutOff()
  #failedRecoveries = new PutOff()

  /** `recovered`: jobs of the group can be claimed. */
  constructor(
    database: Pick<Database, 'background'>,
    retry: RetrySettings,
    log: Log,
    recovered: (queue: string, group: string) => void,
    progress: Progress = new Map(),
  ) {
    this.#progress = progress
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
    clearTimeout(this.#timer)
    const isLate = new AbortController()
    const late = pause(CLOSED_WITHIN_MS, undefined, { signal: isLate.signal }).catch(() => {})
    await Promise.race([this.#running, late])
    isLate.abort()
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async #runAll(): Promise<void> {
    let loggedAt = performance.now()
    let portions = 0
    try {
      while (this.#again && !this.#isClosed) {
        this.#again = false
        for (;;) {
          const startedAt = performance.now()
          if (!(await this.#portion()) || this.#isClosed) break
          portions++
          if (performance.now() - loggedAt > LOG_EVERY_MS) {
            loggedAt = performance.now()
            this.#log.info({ portions }, 'still moving jobs of a group')
          }
          await this.#pause(performance.now() - startedAt)
        }
        if (!this.#again && !this.#isClosed) await this.#waitForNext()
      }
    } catch (error) {
      if (this.#isClosed) return
      // The moves stay in their table, and a periodic task continues them.
      this.#log.error({ err: error }, 'could not move jobs of a group; a periodic task tries again')
    } finally {
      // In the same turn as the last look at `#again`: a call in between would begin nothing.
      this.#running = undefined
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing
    return pause(Math.min(LONGEST_PAUSE_MS, ms), undefined, { ref: false, signal })
  }

  /** A transaction whose statements fail once the process closes. */
  #transaction<T>(run: (db: Db) => Promise<T>): Promise<T> {
    const { signal } = this.#closing
    return this.#database.background(
      (db) =>
        run({
          query: async (text, values) => {
            signal.throwIfAborted()
            return await db.query(text, values)
          },
        }),
      { timeoutMs: LONGEST_STATEMENT_MS },
    )
  }

  /** Returns whether there may be more. */
  async #portion(): Promise<boolean> {
    this.#isTurnOfRecoveries = !this.#isTurnOfRecoveries
    return this.#isTurnOfRecoveries
      ? (await this.#recoverPortion()) || (await this.#movePortion())
      : (await this.#movePortion()) || (await this.#recoverPortion())
  }

  async #movePortion(): Promise<boolean> {
    const startedAt = performance.now()
    let move: JobMove | undefined
    try {
      await this.#transaction(async (db) => {
        const next = await lockMove(db, this.#queues(), this.#last, this.#failedMoves.ids())
        const worker = next && this.#workers.get(next.queue)
        if (!worker) return await forgetFinished(db, this.#progress)
        move = next
        this.#last = next.id
        const isDone = await movePortion(db, next, worker, this.#retry, this.#progress)
        if (isDone) await deleteMove(db, next)
      })
    } catch (error) {
      if (move === undefined) throw error
      // The scan has moved on, but its portion was rolled back, or it is unknown whether it was.
      this.#progress.delete(move.id)
      if (this.#isFatal(error)) throw error
      this.#putMoveOff(move, error, performance.now() - startedAt)
      return true
    }
    if (move !== undefined) this.#failedMoves.succeeded(move.id)
    return move !== undefined
  }

  async #recoverPortion(): Promise<boolean> {
    const startedAt = performance.now()
    let due: Recovery | undefined
    let recovered: Recovery | undefined
    try {
      recovered = await this.#transaction(async (db) => {
        due = await lockRecovery(db, this.#queues())
        const worker = due && this.#workers.get(due.queue)
        return due && worker && recoverPortion(db, due, worker, this.#retry)
      })
    } catch (error) {
      if (due === undefined || this.#isFatal(error)) throw error
      await this.#putRecoveryOff(due, error, performance.now() - startedAt)
      return true
    }
    if (recovered === undefined) return false
    this.#failedRecoveries.succeeded(recovered.id)
    this.#recovered(recovered.queue, recovered.group)
    this.#logProgress(recovered)
    return true
  }

  /** Whether nothing else could be done either. */
  #isFatal(error: unknown): boolean {
    return this.#isClosed || isOutage(error)
  }

  /** Other moves go on meanwhile. Each process has its own back-off. */
  #putMoveOff({ id, group, kind }: JobMove, err: unknown, tookMs: number): void {
    const againInMs = this.#failedMoves.failed(id, tookMs)
    const about = { err, moveId: id, group, kind, againInMs }
    this.#log.error(about, 'a portion of a move of jobs failed; it is tried again, others go on')
  }

  /** Otherwise it would stay the first one that is due, and no other would ever be carried out. */
  async #putRecoveryOff(recovery: Recovery, err: unknown, tookMs: number): Promise<void> {
    const { id, group, what } = recovery
    const againInMs = this.#failedRecoveries.failed(id, tookMs)
    await this.#transaction((db) => postponeRecovery(db, id, againInMs))
    const about = { err, recoveryId: id, group, what, againInMs }
    this.#log.error(about, 'a portion of a recovery failed; it is tried again, others go on')
  }

  /** Recoveries with a pace, those that wait for a transaction, and what is put off are due again soon. */
  async #waitForNext(): Promise<void> {
    const ms = await this.#transaction((db) => nextRecoveryInMs(db, this.#queues()))
    if (ms === null) this.#loggedAt.clear()
    const dueInMs = this.#failedMoves.dueInMs()
    if (this.#isClosed || (ms === null && dueInMs === null)) return
    clearTimeout(this.#timer)
    const recoveryInMs = ms === null ? Infinity : recheckInMs(ms)
    this.#timer = setTimeout(() => void this.run(), Math.min(recoveryInMs, dueInMs ?? Infinity))
    this.#timer.unref()
  }

  #logProgress({ id, group, what, done, deliveries, finishedAt }: Recovery): void {
    const isFinished = finishedAt !== null
    const now = performance.now()
    if (!isFinished && now - (this.#loggedAt.get(id) ?? -Infinity) < LOG_EVERY_MS) return
    this.#loggedAt.set(id, now)
    const about = { recoveryId: id, group, what, done, deliveries }
    this.#log.info(about, isFinished ? 'a recovery has finished' : 'a recovery is running')
  }

  #queues(): string[] {
    return [...this.#workers.keys()]
  }
}

const recheckInMs = (dueInMs: number): number =>
  dueInMs <= 0 ? RECHECK_MS : Math.min(Math.ceil(dueInMs), LONGEST_WAIT_MS)
