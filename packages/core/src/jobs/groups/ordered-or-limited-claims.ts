/**
 * The jobs of restricted groups: their restrictions hold over all processes, so Postgres decides
 * how many a process may claim. A process claims on a notification of new jobs, when an attempt of
 * its own is settled, at the time that the result of its last claim gave, and periodically.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'
import { claimRestricted } from '../pg-boss/claim-ordered-or-limited.ts'
import type { Outcome } from '../worker.ts'
import { GrantReports } from './grant-reports.ts'
import type { GroupStates } from './group-states.ts'

interface Parts {
  queue: string
  read: string | undefined
  db: Db
  states: GroupStates
  /** Names this process in the jobs that it claims. */
  owner: string
  /** Whether this process receives notifications. */
  isNotified: () => boolean
  wake: () => void
}

/** How long the jobs of an ordered group may follow one another in one slot. */
const LONGEST_RUN_MS = 500

export class RestrictedClaims {
  #parts: Parts
  #reports = new GrantReports()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async claim(limits: { group: string; limit: number }[]): Promise<Job[]> {
    if (limits.length === 0) return []
    const { queue, db, states, owner, isNotified, read } = this.#parts
    const groups = limits.map(({ group }) => group)
    const reports = this.#reports.of(groups)
    states.claimBegins(groups)
    const claim = { queue, limits, reports, owner, read }
    const { jobs, results } = await claimRestricted(db, claim)
    const now = performance.now()
    for (const result of results) {
      if (result.isTold) this.#reports.sent(result.group, reports)
      states.claimEnded(result, now, isNotified())
    }
    return jobs
  }

  /** The table of groups was read. */
  refreshed(): void {
    this.#reports.keepOnly((group) => this.#parts.states.isRestricted(group))
  }

  begun(job: Job): void {
    const { group, grant } = job
    if (group === null || !grant?.id) return
    this.#reports.begun(job, performance.now())
    const { states, wake } = this.#parts
    // Only after this report can another attempt follow when the span has passed.
    if (states.readyFrom(group, performance.now() + states.spanMsOf(group))) wake()
  }

  ended(job: Job, outcome: Outcome, tookMs: number): void {
    // That of a probe that failed has a detail: it was an attempt.
    const isUnused = outcome.kind === 'parked' && outcome.detail === undefined
    const isGivenBack = outcome.kind === 'postponed' || isUnused
    if (isGivenBack) this.#reports.givenBack(job)
    else this.#reports.ended(job, performance.now(), tookMs)
  }

  /**
   * Whether another job of the group may follow this one in its slot. After a while the group claims in
   * turns with the others again.
   */
  mayFollow({ group, grant }: Job): boolean {
    if (group === null || !grant || !this.#parts.states.isOrdered(group)) return false
    return performance.now() - (grant.runSince ?? grant.askedAt) < LONGEST_RUN_MS
  }

  /** A settlement will claim the next job of this group. Until `nextDecided` claims leave it out. */
  awaitNext(group: string): void {
    this.#parts.states.awaitNext(group)
  }

  /** That settlement is sent: notifications from now on may be newer than what it sees. */
  asksNext(group: string): void {
    this.#parts.states.claimBegins([group])
  }

  /** It has claimed no job: none waits, or a claim has to find out why. */
  noNext(group: string, isEmpty: boolean): void {
    const { states, isNotified } = this.#parts
    const result = { group, isTold: false, isBusy: false }
    if (isEmpty && states.claimEnded(result, performance.now(), isNotified())) return
    states.ready([group])
  }

  nextDecided(group: string, hasNext: boolean): void {
    this.#parts.states.nextDecided(group)
    if (!hasNext) this.#parts.wake()
  }

  /** Other jobs of these restricted groups may begin now. */
  settled(jobs: Job[]): void {
    const groups = jobs.flatMap(({ group, grant }) => (group !== null && grant ? [group] : []))
    if (groups.length === 0) return
    this.#parts.states.ready(groups)
    this.#parts.wake()
  }
}
