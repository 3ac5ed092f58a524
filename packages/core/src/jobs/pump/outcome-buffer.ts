/**
 * Settles outcomes in batches, one batch at a time. Those that may wait are settled together: at
 * ordinary rates that saves most of the cost of a settlement. Without a database connection outcomes wait and
 * are tried again with back-off: none is dropped. Where one outcome makes its batch fail, the others
 * are settled without it; it is tried a few times more and then left until its job's lease expires.
 */
import { setImmediate } from 'node:timers/promises'
import { isLockConflict } from '../../migrations/lock-retries.ts'
import { isConnectionError, isServerFault } from '../../postgres/connection-errors.ts'
import { splitOnError } from '../../postgres/split-batch.ts'
import type { Job } from '../job.ts'
import type { JobOutcome } from '../worker.ts'
import { needsSharedRow, settlesAlone } from './settlement.ts'
import { RefusedOutcomes } from './refused-outcomes.ts'
import { WakeableSleep } from './wakeable-sleep.ts'

interface Parts {
  /** Whether the outcome may wait for others, so that one statement settles them. */
  mayWait(outcome: JobOutcome): boolean
  /** `lockMs`: how long it waits for a row that others hold. */
  settle(batch: JobOutcome[], lockMs: number): Promise<unknown>
  /** Called after each batch. */
  settled(): void
  /** These jobs are settled, or given up. */
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
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
const TRIES_WHEN_CLOSING = 4
/**
 * How long a batch waits for a row that others hold: one with no outcome that needs such a row, the
 * outcomes that do, and one of them that is tried again.
 */
const LOCK_MS = { others: 1000, needing: 250, again: 50 }

export class OutcomeBuffer {
  #parts: Parts
  #togetherMs: number
  #waiting: JobOutcome[] = []
  #refused = new RefusedOutcomes()
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
    return this.#waiting.length + this.#refused.size
  }

  /** How many have not been tried yet. */
  get fresh(): number {
    return this.#waiting.length
  }

  add(jobOutcome: JobOutcome): void {
    this.#waiting.push(jobOutcome)
    this.#idle.wake()
    if (!this.#waitsForOthers()) this.#others.wake()
    this.#working ??= this.#work()
  }

  /** Until all is settled or given up, or until an outage lasts for several tries. */
  async close(): Promise<void> {
    this.#closing = true
    this.#idle.wake()
    this.#others.wake()
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
        const pauseMs = SHORTEST_PAUSE_MS * 2 ** Math.min(failures - 1, 10)
        await this.#pause.sleep(Math.min(LONGEST_PAUSE_MS, pauseMs))
      }
    } finally {
      // Reset in the same step as the last check of the buffer: the next `add` starts a new flush.
      this.#working = undefined
    }
  }

  async #wait(): Promise<void> {
    // Outcomes of the same moment share a transaction.
    await setImmediate()
    while (!this.#closing && this.#waiting.length === 0 && this.#refused.dueInMs() > 0) {
      await this.#idle.sleep(this.#refused.dueInMs())
    }
    if (this.#waitsForOthers()) await this.#others.sleep(this.#togetherMs)
  }

  /**
   * Settles the outcomes of a batch that need no shared row, then those that do, then one that is settled
   * alone, then one that was refused before. Returns the error of an outage, in which all wait.
   */
  async #settleNext(): Promise<unknown> {
    const taken = this.#waiting.splice(0, BATCH)
    const [alone, ...later] = taken.filter(settlesAlone)
    this.#waiting.push(...later)
    const batch = alone === undefined ? taken : taken.filter((one) => !settlesAlone(one))
    const needing = batch.filter(needsSharedRow)
    const others = needing.length === 0 ? batch : batch.filter((one) => !needsSharedRow(one))
    const probe = alone === undefined ? [] : [alone]
    const outage = await this.#settleSome(others, LOCK_MS.others)
    if (outage) {
      this.#waiting.unshift(...needing, ...probe)
      return outage
    }
    const next = await this.#settleSome(needing, LOCK_MS.needing)
    if (next) {
      this.#waiting.unshift(...probe)
      return next
    }
    const refused = (): JobOutcome[] => this.#refused.takeDue(this.#closing)
    return (
      (await this.#settleSome(probe, LOCK_MS.again)) ??
      (await this.#settleSome(refused(), LOCK_MS.again))
    )
  }

  #waitsForOthers(): boolean {
    if (this.#closing || this.#waiting.length >= TOGETHER) return false
    if (this.#waiting.length === 0) return false
    return this.#waiting.every((one) => this.#parts.mayWait(one))
  }

  async #settleSome(batch: JobOutcome[], lockMs: number): Promise<unknown> {
    if (batch.length === 0) return undefined
    const settle = async (part: JobOutcome[]): Promise<void> => {
      await this.#parts.settle(part, lockMs)
      this.#parts.forget(part.map(({ job }) => job))
    }
    // Which of them waits for the row shows as each is tried again.
    const staysWhole = lockMs === LOCK_MS.needing ? isLockConflict : undefined
    const { failed } = await splitOnError(batch, settle, staysWhole)
    let outage: unknown
    for (const { items, error } of failed) {
      if (isConnectionError(error) && !isServerFault(error)) {
        this.#waiting.unshift(...items)
        outage = error
      } else for (const one of items) this.#refuse(one, error)
    }
    return outage
  }

  #refuse(one: JobOutcome, error: unknown): void {
    if (this.#refused.add(one, error, this.#closing)) return
    this.#parts.forget([one.job])
    this.#parts.log.error(
      { err: error, jobId: one.job.id },
      'could not record the outcome of a job; it will run again after its lease expires',
    )
  }
}
