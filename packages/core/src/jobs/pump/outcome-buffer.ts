/**
 * Settles outcomes in batches, one at a time. What Postgres cannot take now is tried again with
 * back-off: an outcome is never dropped. Where one outcome spoils its batch the others are settled
 * without it; it is tried a few times more and then left to the expiry of its claim.
 */
import { setImmediate } from 'node:timers/promises'
import { Alarm } from './wakeable-sleep.ts'
import { isConnectionError } from '../../postgres/connection-errors.ts'
import type { Job } from '../job.ts'
import type { JobOutcome } from '../worker.ts'

interface Parts {
  settle(batch: JobOutcome[]): Promise<unknown>
  /** Called after each batch. */
  settled(): void
  /** These jobs are settled, or left to others. */
  forget(jobs: Job[]): void
  log: { error(details: object, message: string): void }
}

const BATCH = 200
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
const TRIES_OF_ONE = 5
const TRIES_WHEN_CLOSING = 4

export class Settler {
  #parts: Parts
  #waiting: JobOutcome[] = []
  #tries = new WeakMap<JobOutcome, number>()
  #working: Promise<void> | undefined
  #pause = new Alarm()
  #closing = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#waiting.length
  }

  add(performed: JobOutcome): void {
    this.#waiting.push(performed)
    this.#working ??= this.#work()
  }

  /** Until all is settled, or Postgres has not taken it several times. */
  async close(): Promise<void> {
    this.#closing = true
    this.#pause.ring()
    await this.#working
  }

  async #work(): Promise<void> {
    let failures = 0
    try {
      while (this.#waiting.length > 0) {
        // Outcomes of the same moment share a transaction.
        await setImmediate()
        const error = await this.#settleSome(this.#waiting.splice(0, BATCH))
        this.#parts.settled()
        if (!error) {
          failures = 0
          continue
        }
        if (failures++ === 0) this.#parts.log.error({ err: error }, 'jobs could not be settled')
        if (this.#closing && failures >= TRIES_WHEN_CLOSING) return
        const pauseMs = SHORTEST_PAUSE_MS * 2 ** Math.min(failures - 1, 10)
        await this.#pause.wait(Math.min(LONGEST_PAUSE_MS, pauseMs))
      }
    } finally {
      // In the same step as the last look at what waits: whoever adds next starts anew.
      this.#working = undefined
    }
  }

  /** Returns why some of them wait again. */
  async #settleSome(batch: JobOutcome[]): Promise<unknown> {
    const pieces = [batch]
    let trouble: unknown
    for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
      try {
        await this.#parts.settle(piece)
        this.#parts.forget(piece.map(({ job }) => job))
      } catch (error) {
        if (isConnectionError(error)) {
          this.#waiting.unshift(...piece, ...pieces.flat())
          return error
        }
        const [one] = piece
        if (piece.length > 1) pieces.unshift(...halvesOf(piece))
        else if (one && this.#mayTryAgain(one, error)) trouble = error
      }
    }
    return trouble
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
      'the outcome of a job cannot be settled: it will be tried again when its claim lapses',
    )
    return false
  }
}

function halvesOf<T>(list: T[]): [T[], T[]] {
  const middle = list.length >> 1
  return [list.slice(0, middle), list.slice(middle)]
}
