/**
 * The reports of this process that are not sent yet, about grants of rate-limited groups: when each
 * attempt began, so that it counts against the limit no longer than it must. A claim sends the
 * reports of its groups. Pure book-keeping.
 */
import type { Job } from '../job.ts'
import type { GrantReport } from '../pg-boss/claim-ordered-or-limited.ts'

export class GrantReports {
  /** Reports by group, and by the id of the grant. */
  #reports = new Map<string, Map<string, GrantReport>>()

  /** The attempt begins, `now` by the monotonic clock. */
  begun(job: Job, now: number): void {
    this.#put(job, now, null)
  }

  /** Records the duration of the attempt until `now`. */
  ended(job: Job, now: number, tookMs: number): void {
    this.#put(job, now - tookMs, tookMs)
  }

  /** No attempt was made. */
  givenBack(job: Job): void {
    this.#put(job, null, null)
  }

  /** The pending reports of these groups. */
  of(groups: readonly string[]): GrantReport[] {
    return groups.flatMap((group) => [...(this.#reports.get(group)?.values() ?? [])])
  }

  /** These reports of a group were sent. Newer ones are sent later. */
  sent(group: string, reports: readonly GrantReport[]): void {
    const known = this.#reports.get(group)
    if (!known) return
    for (const report of reports) {
      if (known.get(report.grantId) === report) known.delete(report.grantId)
    }
    if (known.size === 0) this.#reports.delete(group)
  }

  /** Groups that are no longer restricted need no reports. */
  keepOnly(isRestricted: (group: string) => boolean): void {
    for (const group of this.#reports.keys()) {
      if (!isRestricted(group)) this.#reports.delete(group)
    }
  }

  #put({ group, grant }: Job, beganAt: number | null, tookMs: number | null): void {
    if (group === null || !grant?.id) return
    const reports = this.#reports.get(group) ?? new Map<string, GrantReport>()
    const afterMs = beganAt === null ? null : beganAt - grant.askedAt
    this.#reports.set(group, reports.set(grant.id, { grantId: grant.id, afterMs, tookMs }))
  }
}
