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
const TRIES_OF_ONE = 5
const TRIES_WHEN_CLOSING = 4

export class OutcomeBuffer {
  #parts: Parts
  #togetherMs: number
  #waiting: JobOutcome[] = []
  #tries = new WeakMap<JobOutcome, number>()
  #working: Promise<void> | undefined
  #others = new WakeableSleep()
  #pause = new WakeableSleep()
  #closing = false

  constructor(parts: Parts, togetherMs = TOGETHER_MS) {
    this.#parts = parts
    this.#togetherMs = togetherMs
  }

  get size(): number {
    return this.#waiting.length
  }

  add(jobOutcome: JobOutcome): void {
    this.#waiting.push(jobOutcome)
    if (!this.#waitsForOthers()) this.#others.wake()
    this.#working ??= this.#work()
  }

  /** Until all is settled, or several tries in a row have failed. */
  async close(): Promise<void> {
    this.#closing = true
    this.#others.wake()
    this.#pause.wake()
    await this.#working
  }

  async #work(): Promise<void> {
    let failures = 0
    try {
      while (this.#waiting.length > 0) {
        // Outcomes of the same moment share a transaction.
        await setImmediate()
        if (this.#waitsForOthers()) await this.#others.sleep(this.#togetherMs)
        const error = await this.#settleSome(this.#waiting.splice(0, BATCH))
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

  #waitsForOthers(): boolean {
    if (this.#closing || this.#waiting.length >= TOGETHER) return false
    return this.#waiting.every((one) => this.#parts.mayWait(one))
  }

  /** Returns why some of them wait again. */
  async #settleSome(batch: JobOutcome[]): Promise<unknown> {
    const { failed } = await splitOnError(batch, async (part) => {
      await this.#parts.settle(part)
      this.#parts.forget(part.map(({ job }) => job))
    })
    let reason: unknown
    for (const { items, error } of failed) {
      if (isConnectionError(error)) {
        this.#waiting.unshift(...items)
        reason = error
      } else if (this.#mayTryAgain(items[0] as JobOutcome, error)) reason = error
    }
    return reason
  }

  #mayTryAgain(one: JobOutcome, error: unknown): boolean {
    const tries = (this.#tries.get(one) ?? 0) + 1
    this.#tries.set(one, tries)
    if (tries < TRIES_OF_ONE) {
      this.#waiting.push(one)
      return true
    }
    this.#parts.forget([one.job])
    this.#parts.log.error(
      { err: error, jobId: one.job.id },
      'could not record the outcome of a job; it will run again after its lease expires',
    )
    return false
  }
}
