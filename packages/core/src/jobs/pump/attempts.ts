/** The attempts of this process: from the fetch that brought a job to the outcome of its attempt. */
import type { Db } from '../../postgres/pools.ts'
import type { Job, Lane } from '../job.ts'
import type { Outcome, Worker } from '../worker.ts'
import { prepareBatch } from './prepare-batch.ts'
import type { Slots } from './slots.ts'
import { WakeableSleep } from './wakeable-sleep.ts'

interface Attempt {
  job: Job
  lane: Lane
  abort: AbortController
}

interface Parts {
  worker: Worker
  db: Db
  slots: Slots
  log: { error(details: object, message: string): void }
  /** `tookMs`: 0 where the attempt did not run to its end. */
  ended(job: Job, outcome: Outcome, tookMs: number): void
}

const PREPARE_AGAIN_MS = 1000

export class Attempts {
  #parts: Parts
  #running = new Set<Attempt>()
  #preparing = new Set<Promise<void>>()
  #stopping = false
  #idle = new WakeableSleep()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Prepares the jobs and starts an attempt of each. Their slots are reserved already. */
  begin(lane: Lane, jobs: Job[]): void {
    if (jobs.length === 0) return
    const preparing = this.#prepare(lane, jobs).finally(() => this.#preparing.delete(preparing))
    this.#preparing.add(preparing)
  }

  /**
   * Starts no more attempts, and aborts those that have not ended within `withinMs`. Their jobs go
   * back for another process. No attempt is used up.
   */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true
    if (this.#parts.slots.used > 0) await this.#idle.sleep(withinMs)
    for (const attempt of this.#running) {
      this.#end(attempt, { kind: 'postponed', delayMs: 0 })
      attempt.abort.abort(new Error('the process closes'))
    }
    await Promise.all(this.#preparing)
  }

  async #prepare(lane: Lane, jobs: Job[]): Promise<void> {
    const { worker, db, log } = this.#parts
    let prepared: (job: Job) => unknown
    try {
      prepared = await prepareBatch(worker, db, jobs)
    } catch (error) {
      log.error({ err: error, queue: worker.queue }, 'jobs could not be prepared')
      this.#postpone(lane, jobs, PREPARE_AGAIN_MS)
      return
    }
    if (this.#stopping) {
      this.#postpone(lane, jobs, 0)
      return
    }
    for (const job of jobs) {
      const attempt = { job, lane, abort: new AbortController() }
      this.#running.add(attempt)
      void this.#attempt(attempt, prepared)
    }
  }

  async #attempt(attempt: Attempt, prepared: (job: Job) => unknown): Promise<void> {
    const { worker, log } = this.#parts
    const { job, abort } = attempt
    const startedAt = performance.now()
    let outcome: Outcome
    try {
      outcome = await worker.perform(job, prepared(job), abort.signal)
    } catch (error) {
      log.error({ err: error, queue: worker.queue, jobId: job.id }, 'the attempt of a job threw')
      outcome = { kind: 'failed', output: { message: String((error as Error)?.message ?? error) } }
    }
    this.#end(attempt, outcome, performance.now() - startedAt)
  }

  #end(attempt: Attempt, outcome: Outcome, tookMs = 0): void {
    // The attempt may end after `stop` has given it up.
    if (this.#running.delete(attempt)) this.#release(attempt.lane, attempt.job, outcome, tookMs)
  }

  #postpone(lane: Lane, jobs: Job[], delayMs: number): void {
    for (const job of jobs) this.#release(lane, job, { kind: 'postponed', delayMs }, 0)
  }

  #release(lane: Lane, job: Job, outcome: Outcome, tookMs: number): void {
    this.#parts.slots.release(lane, 1)
    this.#parts.ended(job, outcome, tookMs)
    if (this.#stopping && this.#parts.slots.used === 0) this.#idle.wake()
  }
}
