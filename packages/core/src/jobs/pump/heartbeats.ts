/**
 * Says, every few seconds, that the process of its claims lives. pg-boss takes a claim back that has
 * not been heard of for 20 seconds: how long an attempt may take plays no part in it.
 * A job that is settled within seconds costs nothing here.
 */
import type { Db } from '../../postgres/transaction.ts'
import { touchJobs } from '../pg-boss/jobs-table.ts'
import type { Job } from '../job.ts'

const EVERY_MS = 4000
/** After one that failed. */
const AGAIN_MS = 500

export class Heartbeats {
  #db: Db
  #queue: string
  #log: { error(details: object, message: string): void }
  /** By the id of the job; the moment is that of the claim, or of the last word. */
  #claims = new Map<string, { job: Job; heardAt: number }>()
  #timer: NodeJS.Timeout | undefined
  #speaking: Promise<void> | undefined
  #hasFailed = false
  #stopped = false

  constructor(db: Db, queue: string, log: { error(details: object, message: string): void }) {
    this.#db = db
    this.#queue = queue
    this.#log = log
  }

  add(jobs: Job[]): void {
    const heardAt = performance.now()
    for (const job of jobs) this.#claims.set(job.id, { job, heardAt })
    this.#later(EVERY_MS)
  }

  forget(jobs: Job[]): void {
    for (const job of jobs) {
      // The same job may have been claimed again meanwhile.
      if (this.#claims.get(job.id)?.job === job) this.#claims.delete(job.id)
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#speaking
  }

  #later(ms: number): void {
    if (this.#timer || this.#stopped || this.#claims.size === 0) return
    this.#timer = setTimeout(() => {
      this.#speaking = this.#speak()
    }, ms)
    this.#timer.unref()
  }

  async #speak(): Promise<void> {
    const now = performance.now()
    // Claims younger than half the interval are heard of in time with the next one.
    const due = [...this.#claims.values()].filter(({ heardAt }) => now - heardAt > EVERY_MS / 2)
    let isWell = true
    if (due.length > 0) {
      try {
        await touchJobs(
          this.#db,
          this.#queue,
          due.map(({ job }) => job),
        )
        for (const claim of due) claim.heardAt = now
      } catch (error) {
        isWell = false
        if (!this.#hasFailed) {
          this.#log.error({ err: error, queue: this.#queue }, 'the claims of jobs were not renewed')
        }
      }
    }
    this.#hasFailed = !isWell
    this.#timer = undefined
    this.#later(isWell ? EVERY_MS : AGAIN_MS)
  }
}
