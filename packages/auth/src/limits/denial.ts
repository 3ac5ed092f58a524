/**
 * That Postgres granted fewer allowances of a limit or quota than were requested. A process remembers
 * it, so that a flood of requests causes no queries.
 */
import type { Answer, Rule } from '../tables/allowance-terms.ts'
import type { Sending } from './sending.ts'

const FIRST_RECHECK_MS = 50
const LAST_RECHECK_MS = 30_000
/** Allowances of requests that another limit refused are given back by then: see docs/limits.md. */
const UNSPENT_GIVEN_BACK_MS = 3000

export class Denial {
  /** Until then Postgres is not asked for as many again. */
  until = -Infinity
  /** When Postgres could grant more; `null`: never. */
  retryAt: number | null = 0
  #recheckMs = FIRST_RECHECK_MS
  #finalRecheckMs = UNSPENT_GIVEN_BACK_MS
  #limit = 0

  extend(
    { retryMs, othersHold }: Answer,
    { period, limit }: Rule,
    { sentAt, now }: Pick<Sending, 'sentAt' | 'now'>,
  ): void {
    this.#limit = limit
    const retryAt = retryMs === null ? Infinity : sentAt + retryMs
    this.retryAt = retryMs === null ? null : retryAt
    // Other processes may give back allowances before that. The row of a quota does not name them, and
    // that of a limit only those that it was granted ahead of need, or a moment ago. What was granted to
    // a request that another limit then refused is not among them, and comes back soon or never.
    const isFinal = typeof period === 'number' && othersHold === 0
    const recheckMs = isFinal ? this.#finalRecheckMs : this.#recheckMs
    if (isFinal) this.#finalRecheckMs = LAST_RECHECK_MS
    // Not from when the statement was sent: a slow answer would come when the denial has ended.
    this.until = Math.min(retryAt, now + recheckMs)
    this.#recheckMs = Math.min(LAST_RECHECK_MS, this.#recheckMs * 2)
  }

  /** Something was granted, so the next denial is checked again soon, save where the limit was higher. */
  granted({ limit }: Rule): void {
    if (limit > this.#limit) return
    this.#recheckMs = FIRST_RECHECK_MS
    this.#finalRecheckMs = UNSPENT_GIVEN_BACK_MS
  }

  end(): void {
    this.until = -Infinity
  }

  /** `null`: never. */
  retryAfterMs(now: number, atLeastMs: number): number | null {
    return this.retryAt === null ? null : Math.max(atLeastMs, this.retryAt - now)
  }
}
