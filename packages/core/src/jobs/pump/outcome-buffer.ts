/**
 * Settles outcomes in batches, one batch at a time. Those that may wait are settled together: at
 * ordinary rates that saves most of the cost of a settlement. Without a database connection outcomes wait and
 * are tried again with back-off: none is dropped. Where one outcome makes its batch fail, the others
 * are settled without it; it is tried a few times more and then left until its job's lease expires.
 */
import { setImmediate } from 'node:timers/promises'
import { isConnectionError } from '../../postgres/connection-errors.ts'
import { splitOnError } from '../../postgres/split-batch.ts'
import type { Job } from '../job.ts'
import type { JobOutcome } from '../worker.ts'
import { RefusedOutcomes } from './refused-outcomes.ts'
import { WakeableSleep } from './wakeable-sleep.ts'

interface Parts {
  /** Whether the outcome may wait for others, so that one statement settles them. */
  mayWait(outcome: JobOutcome): boolean
  settle(batch: JobOutcome[]): Promise<unknown>
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
const TOGETHER = 8
const TOGETHER_MS = 50
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
const TRIES_WHEN_CLOSING = 4

export class OutcomeBuffer {
  #parts: Parts
  #togetherMs: number
  #waiting: JobOutcome[] = []
  #refused = new RefusedOutcomes()
  #working: Promise<void> | undefined
  /** Ends when an outcome is added, or when one that was refused is due. */
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

  add(jobOutcome: JobOutcome): void {
    this.#waiting.push(jobOutcome)
    this.#idle.wake()
    if (!this.#waitsForOthers()) this.#others.wake()
    this.#working ??= this.#work()
  }

  /** Until all is settled, or several tries in a row have failed. */
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

  /** A batch, and then one that was refused: fresh outcomes never wait for several of those. */
  async #settleNext(): Promise<unknown> {
    const batch = this.#waiting.splice(0, BATCH)
    const error = batch.length > 0 ? await this.#settleSome(batch) : undefined
    if (error) return error
    const refused = this.#refused.takeDue(this.#closing)
    return refused && (await this.#settleSome([refused]))
  }

  #waitsForOthers(): boolean {
    if (this.#closing || this.#waiting.length >= TOGETHER) return false
    if (this.#waiting.length === 0) return false
    return this.#waiting.every((one) => this.#parts.mayWait(one))
  }

  /** Returns the error of an outage, in which all wait. */
  async #settleSome(batch: JobOutcome[]): Promise<unknown> {
    const { failed } = await splitOnError(batch, async (part) => {
      await this.#parts.settle(part)
      this.#parts.forget(part.map(({ job }) => job))
    })
    let outage: unknown
    for (const { items, error } of failed) {
      if (isConnectionError(error)) {
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
