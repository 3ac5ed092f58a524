/**
 * Renews the leases on jobs, every few seconds. pg-boss takes a job back whose lease has not been
 * renewed for 20 seconds, however long an attempt may take.
 * A job that is settled within seconds costs nothing here.
 */
import type { Db } from '../../postgres/transaction.ts'
import { renewLeases } from '../pg-boss/jobs-table.ts'
import type { Job } from '../job.ts'

const EVERY_MS = 4000
const EVERY_MS_AFTER_FAILURE = 500

export class Heartbeats {
  #db: Db
  #queue: string
  #log: { error(details: object, message: string): void }
  /** Leases by the id of the job. A lease was begun or renewed at `renewedAt`. */
  #leases = new Map<string, { job: Job; renewedAt: number }>()
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<void> | undefined
  #hasFailed = false
  #stopped = false

  constructor(db: Db, queue: string, log: { error(details: object, message: string): void }) {
    this.#db = db
    this.#queue = queue
    this.#log = log
  }

  add(jobs: Job[]): void {
    const renewedAt = performance.now()
    for (const job of jobs) this.#leases.set(job.id, { job, renewedAt })
    this.#schedule(EVERY_MS)
  }

  forget(jobs: Job[]): void {
    for (const job of jobs) {
      // The same job may have been fetched again meanwhile.
      if (this.#leases.get(job.id)?.job === job) this.#leases.delete(job.id)
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#renewing
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#stopped || this.#leases.size === 0) return
    this.#timer = setTimeout(() => {
      this.#renewing = this.#renew()
    }, ms)
    this.#timer.unref()
  }

  async #renew(): Promise<void> {
    const now = performance.now()
    // The next renewal is in time for leases that are younger than half the interval.
    const due = [...this.#leases.values()].filter(({ renewedAt }) => now - renewedAt > EVERY_MS / 2)
    let failed = false
    if (due.length > 0) {
      try {
        await renewLeases(
          this.#db,
          this.#queue,
          due.map(({ job }) => job),
        )
        for (const lease of due) lease.renewedAt = now
      } catch (error) {
        failed = true
        if (!this.#hasFailed) {
          this.#log.error(
            { err: error, queue: this.#queue },
            'could not renew the leases of jobs; it tries again',
          )
        }
      }
    }
    this.#hasFailed = failed
    this.#timer = undefined
    this.#schedule(failed ? EVERY_MS_AFTER_FAILURE : EVERY_MS)
  }
}
