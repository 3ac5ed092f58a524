/**
 * The reports of this process that are not sent yet, about permits of rate-limited recipients: when each
 * attempt began, so that it counts against the limit no longer than it must. A claim sends the
 * reports of its recipients. Pure book-keeping.
 */
import type { Job } from '../job.ts'
import type { PermitReport } from '../pg-boss/claim-ordered-or-limited.ts'

export class PermitReports {
  /** Reports by recipient, and by the id of the permit. */
  #reports = new Map<string, Map<string, PermitReport>>()

  /** The attempt begins, `now` by the monotonic clock. */
  begun(job: Job, now: number): void {
    this.#put(job, now, null)
  }

  /** Records the duration of the attempt until `now`. */
  ended(job: Job, now: number, tookMs: number): void {
    this.#put(job, now - tookMs, tookMs)
  }

  givenBack(job: Job): void {
    this.#put(job, null, null)
  }

  of(recipients: readonly string[]): PermitReport[] {
    return recipients.flatMap((recipient) => [...(this.#reports.get(recipient)?.values() ?? [])])
  }

  /** These reports of a recipient were sent. Newer ones are sent later. */
  sent(recipient: string, reports: readonly PermitReport[]): void {
    const known = this.#reports.get(recipient)
    if (!known) return
    for (const report of reports) {
      if (known.get(report.permitId) === report) known.delete(report.permitId)
    }
    if (known.size === 0) this.#reports.delete(recipient)
  }

  /** Recipients that are no longer restricted need no reports. */
  keepOnly(isRestricted: (recipient: string) => boolean): void {
    for (const recipient of this.#reports.keys()) {
      if (!isRestricted(recipient)) this.#reports.delete(recipient)
    }
  }

  #put({ recipient, permit }: Job, beganAt: number | null, tookMs: number | null): void {
    if (recipient === null || !permit?.id) return
    const reports = this.#reports.get(recipient) ?? new Map<string, PermitReport>()
    const afterMs = beganAt === null ? null : beganAt - permit.askedAt
    this.#reports.set(recipient, reports.set(permit.id, { permitId: permit.id, afterMs, tookMs }))
  }
}
