/**
 * Settles outcomes in batches, one batch at a time. Those that may wait are settled together: at
 * ordinary rates that saves most of the cost of a settlement. Without a database connection outcomes wait and
 * are tried again with back-off: none is dropped. Where one outcome makes its batch fail, the others
 * are settled without it. Where that is because Postgres refuses the rows that record it, its job is
 * settled without them. Any other is tried a few times more and then left: its job is taken back.
 */
import { setImmediate } from 'node:timers/promises'
import { isLockConflict } from '../../migrations/lock-retries.ts'
import { isConnectionError, isOutage, isServerFault } from '../../postgres/connection-errors.ts'
import { splitOnError } from '../../postgres/split-batch.ts'
import type { Job } from '../job.ts'
import type { JobOutcome } from '../worker.ts'
import { pauseMsAfter } from './poll-interval.ts'
import { isOnlyRecorded, settlesAlone } from './settle.ts'
import { WakeableSleep } from './wakeable-sleep.ts'

interface Parts {
  /** Whether the outcome may wait for others, so that one statement settles them. */
  mayWait(outcome: JobOutcome): boolean
  /**
   * `lockMs`: how long it waits for a row that others hold. `isRecorded`: whether the rows that record
   * the outcomes are written too.
   */
  settle(batch: JobOutcome[], lockMs: number, isRecorded: boolean): Promise<unknown>
  /** Called after each batch. */
  settled(): void
  forget(jobs: Job[]): void
  log: { error(details: object, message: string): void }
}

const BATCH = 200
/**
 * How many outcomes are waited for, and for how long. After a kill of the process, these attempts are
 * made again.
 */
const TOGETHER = 16
const TOGETHER_MS = 100
const TRIES = 5
const TRIES_WHEN_CLOSING = 4
/** How many parts of a batch are split. Where Postgres refuses all rows, no more of them are tried alone. */
const MOST_SPLIT = 16
/** The disk is full: a job can be deleted or put back all the same. */
const DISK_FULL = '53100'
/** How long a batch waits for a row that others hold, and how long an outcome that is settled alone does. */
const LOCK_MS = { batch: 1000, alone: 50 }

interface Refused {
  one: JobOutcome
  /** How often it was tried. */
  tries: number
  dueAt: number
}

export class OutcomeBuffer {
  #parts: Parts
  #togetherMs: number
  #waiting: JobOutcome[] = []
  /** Each is tried again alone and after a pause: those that come meanwhile do not wait for it. */
  #refused: Refused[] = []
  #working: Promise<void> | undefined
  /** The sleep while no outcome is fresh. `add` ends it. */
  #idle = new WakeableSleep()
  #others = new WakeableSleep()
  #pause = new WakeableSleep()
  #closing = false

  constructor(parts: Parts, togetherMs = TOGETHER_MS) {
    this.#parts = parts
    this.#togetherMs = togetherMs
  }

  get size(): number {
    return this.#waiting.length + this.#refused.length
  }

  get fresh(): number {
    return this.#waiting.length
  }

  add(jobOutcome: JobOutcome): void {
    this.#waiting.push(jobOutcome)
    this.#idle.wake()
    if (!this.#waitsForOthers()) this.#others.interrupt()
    this.#working ??= this.#work()
  }

  /** Until all is settled or given up, or until an outage lasts for several tries. */
  async close(): Promise<void> {
    this.#closing = true
    this.#idle.wake()
    this.#others.interrupt()
    this.#pause.wake()
    await this.#working
  }

  async #work(): Promise<void> {
    let failures = 0
    try {
      while (this.size > 0) {
        await this.#wait()
        const error = await this.#settleNext()
        this.#parts.settled()
        if (!error) {
          failures = 0
          continue
        }
        if (failures++ === 0)
          this.#parts.log.error(
            { err: error },
            'could not record the outcomes of jobs; it tries again',
          )
        if (this.#closing && failures >= TRIES_WHEN_CLOSING) return
        await this.#pause.sleep(pauseMsAfter(failures))
      }
    } finally {
      // Reset in the same step as the last check of the buffer: the next `add` starts a new flush.
      this.#working = undefined
    }
  }

  async #wait(): Promise<void> {
    // Outcomes of the same moment share a transaction.
    await setImmediate()
    while (!this.#closing && this.#waiting.length === 0) {
      const dueInMs = Math.min(...this.#refused.map(({ dueAt }) => dueAt)) - performance.now()
      if (dueInMs <= 0) break
      await this.#idle.sleep(dueInMs)
    }
    if (this.#waitsForOthers()) await this.#others.sleep(this.#togetherMs)
  }

  /**
   * Settles a batch together. After it, one outcome whose statement settles no other is settled, and one
   * that was refused before. Returns the error of an outage: then all outcomes stay in the buffer.
   */
  async #settleNext(): Promise<unknown> {
    const taken = this.#waiting.splice(0, BATCH)
    const [alone, ...later] = taken.filter(settlesAlone)
    this.#waiting.push(...later)
    const batch = alone === undefined ? taken : taken.filter((one) => !settlesAlone(one))
    const next = alone === undefined ? [] : [alone]
    const outage = await this.#settleSome(batch, LOCK_MS.batch)
    if (outage) {
      this.#waiting.unshift(...next)
      return outage
    }
    return (await this.#settleSome(next, LOCK_MS.alone)) ?? (await this.#settleRefused())
  }

  async #settleRefused(): Promise<unknown> {
    const now = performance.now()
    const place = this.#refused.findIndex(({ dueAt }) => this.#closing || dueAt <= now)
    if (place === -1) return undefined
    const [{ one, tries }] = this.#refused.splice(place, 1) as [Refused]
    return this.#settleSome([one], LOCK_MS.alone, tries)
  }

  #waitsForOthers(): boolean {
    if (this.#closing || this.#waiting.length >= TOGETHER) return false
    if (this.#waiting.length === 0) return false
    return this.#waiting.every((one) => this.#parts.mayWait(one))
  }

  /** `tries`: how often they were tried before. */
  async #settleSome(batch: JobOutcome[], lockMs: number, tries = 0): Promise<unknown> {
    if (batch.length === 0) return undefined
    const settle = (part: JobOutcome[]) => this.#settle(part, lockMs, true)
    let refused = 0
    const staysWhole = (error: unknown) => !isLockConflict(error) && ++refused > MOST_SPLIT
    const { failed } = await splitOnError(batch, settle, staysWhole)
    let outage: unknown
    for (const { items, error } of failed) {
      const others = await this.#settleWithoutRows(items, error)
      if (others.length === 0) continue
      if (isConnectionError(error) && !isServerFault(error)) {
        this.#waiting.unshift(...others)
        outage = error
      } else for (const one of others) await this.#refuse(one, error, tries + 1)
    }
    return outage
  }

  async #settle(part: JobOutcome[], lockMs: number, isRecorded: boolean): Promise<void> {
    await this.#parts.settle(part, lockMs, isRecorded)
    this.#parts.forget(part.map(({ job }) => job))
  }

  /**
   * The outcomes of jobs come before the rows that tell of them. Returns those that are not settled: of
   * which more follows than rows, and all in an outage.
   */
  async #settleWithoutRows(items: JobOutcome[], error: unknown): Promise<JobOutcome[]> {
    const isFull = (error as { code?: unknown }).code === DISK_FULL
    if ((isOutage(error) && !isFull) || isLockConflict(error)) return items
    const some = items.filter(isOnlyRecorded)
    if (some.length === 0 || !(await this.#trySettle(some, error))) return items
    return items.filter((one) => !isOnlyRecorded(one))
  }

  async #trySettle(items: JobOutcome[], error: unknown): Promise<boolean> {
    try {
      await this.#settle(items, LOCK_MS.alone, false)
    } catch {
      return false
    }
    this.#parts.log.error(
      { err: error, jobs: items.length, jobId: items[0]?.job.id },
      'Postgres refused the rows that record outcomes of jobs; the jobs are settled without them',
    )
    return true
  }

  /** Tries it again, as long as it waits for a lock, and else a few times. A host that closes waits for no lock. */
  async #refuse(one: JobOutcome, error: unknown, tries: number): Promise<void> {
    const most = !isLockConflict(error) ? TRIES : this.#closing ? 2 : Infinity
    if (tries < most) {
      this.#refused.push({ one, tries, dueAt: performance.now() + pauseMsAfter(tries) })
      return
    }
    if (await this.#trySettle([one], error)) return
    this.#parts.forget([one.job])
    this.#parts.log.error(
      { err: error, jobId: one.job.id },
      'could not record the outcome of a job; it will run again',
    )
  }
}
