/**
 * The jobs of restricted recipients: their restrictions hold over all processes, so Postgres decides
 * how many a process may claim. A process claims on a notification of new jobs, when an attempt of
 * its own is settled, at the time that the result of its last claim gave, and periodically.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'
import { claimRestricted } from '../pg-boss/claim-ordered-or-limited.ts'
import type { Outcome } from '../worker.ts'
import { PermitReports } from './permit-reports.ts'
import type { RecipientStates } from './recipient-states.ts'

interface Parts {
  queue: string
  read: string | undefined
  db: Db
  states: RecipientStates
  /** Names this process in the jobs that it claims. */
  owner: string
  /** Whether this process receives notifications. */
  isNotified: () => boolean
  wake: () => void
}

/**
 * For how long a job that is done and not settled counts as no attempt: those that follow it are repeated with
 * it, should the process die meanwhile.
 */
const LONGEST_UNSETTLED_MS = 1000

export class RestrictedClaims {
  #parts: Parts
  #reports = new PermitReports()
  /** When jobs were done that are not settled yet, by their ids. */
  #doneAt = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async claim(limits: { recipient: string; limit: number }[]): Promise<Job[]> {
    if (limits.length === 0) return []
    const { queue, db, states, owner, isNotified, read } = this.#parts
    const recipients = limits.map(({ recipient }) => recipient)
    const reports = this.#reports.of(recipients)
    states.claimBegins(recipients)
    const claim = { queue, limits, reports, owner, read, endedJobs: this.#unsettled() }
    const { jobs, results } = await claimRestricted(db, claim)
    const now = performance.now()
    for (const result of results) {
      if (result.isTold) this.#reports.sent(result.recipient, reports)
      states.claimEnded(result, now, isNotified())
    }
    return jobs
  }

  refreshed(): void {
    this.#reports.keepOnly((recipient) => this.#parts.states.isRestricted(recipient))
  }

  /** Jobs that are done and not settled, where a publish may claim for ordered recipients; `null`: there are none. */
  get endedJobs(): string[] | null {
    return this.#parts.states.haveOrder ? this.#unsettled() : null
  }

  #unsettled(): string[] {
    const now = performance.now()
    return [...this.#doneAt].flatMap(([id, at]) => (now - at < LONGEST_UNSETTLED_MS ? [id] : []))
  }

  begun(job: Job): void {
    const { recipient, permit } = job
    if (recipient === null || !permit?.id) return
    this.#reports.begun(job, performance.now())
    const { states, wake } = this.#parts
    // Only after this report can another attempt follow when the span has passed.
    if (states.readyFrom(recipient, performance.now() + states.spanMsOf(recipient))) wake()
  }

  ended(job: Job, outcome: Outcome, tookMs: number): void {
    // That of a probe that failed has a detail: it was an attempt.
    const isUnused = outcome.kind === 'parked' && outcome.detail === undefined
    const isGivenBack = outcome.kind === 'postponed' || isUnused
    if (isGivenBack) this.#reports.givenBack(job)
    else this.#reports.ended(job, performance.now(), tookMs)
    if (outcome.kind !== 'completed' || job.recipient === null) return
    // The next one need not wait for the settlement.
    this.#doneAt.set(job.id, performance.now())
    if (this.#parts.states.done(job.recipient)) this.#parts.wake()
  }

  /** These jobs are settled, or given up: others of their recipients may begin now. */
  settled(jobs: Job[]): void {
    const now = performance.now()
    const recipients = jobs.flatMap(({ id, recipient, permit }) => {
      if (recipient === null || !permit) return []
      const doneAt = this.#doneAt.get(id) ?? -Infinity
      this.#doneAt.delete(id)
      return now - doneAt < LONGEST_UNSETTLED_MS ? [] : [recipient]
    })
    if (recipients.length === 0) return
    this.#parts.states.ready(recipients)
    this.#parts.wake()
  }
}
