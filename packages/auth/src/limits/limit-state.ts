/**
 * What this process knows of a limit or quota: what it admitted and holds, and the last answer of
 * Postgres. It says how much is left, and when there is more.
 */
import type { Period } from '../tables/allowance-terms.ts'
import type { Denial } from './denial.ts'
import { HeldAllowances } from './held-allowances.ts'
import { SlidingLog } from './sliding-log.ts'

/**
 * It extends the log instead of having one, and what each request reads stands first: ten thousand
 * meters do not fit in the caches of the processor, and each further object would be read from memory.
 * What is abstract here is seldom read: it stands last in `Meter`.
 */
export abstract class LimitState extends SlidingLog {
  /** It has a period instead of a window, by the clock of Postgres, and nothing in its log. */
  readonly isQuota: boolean
  protected readonly portions = new HeldAllowances()
  protected limit = 0
  /** The last answer: what all processes had used, what the others had, until when it is current. */
  protected used = 0
  protected others = 0
  protected staleAt = -Infinity
  /** Most limits never deny anything. */
  protected abstract denial: Denial | null
  /** When something of what all processes used becomes free. `Infinity`: not known, or never. */
  protected abstract freeAt: number

  constructor(period: Period) {
    super(typeof period === 'number' ? period * 1000 : 0)
    this.isQuota = typeof period === 'string'
  }

  /** Whether this process has admitted in the window all that the limit allows. */
  get isFull(): boolean {
    return !this.isQuota && this.count >= this.limit
  }

  /** How much is left of the limit, by the state in this process. */
  remaining(now: number): number {
    const { held } = this.portions
    if (held === 0 && this.isDenied(1, now)) return 0
    const isStale = now >= this.staleAt
    if (this.isQuota) return isStale ? this.limit : Math.max(0, this.limit - this.used + held)
    return Math.max(0, this.limit - this.count - (isStale ? 0 : this.others))
  }

  /** How much is left where all processes have used as much, with what this one holds. */
  remainingOf(used: number): number {
    return Math.max(0, this.limit - used + this.portions.held)
  }

  /**
   * When Postgres, which has refused, grants again of a limit. `Infinity` for a quota: its period ends
   * for everybody at once.
   */
  get grantsAgainAt(): number {
    return this.isQuota ? Infinity : (this.denial?.retryAt ?? Infinity)
  }

  /**
   * Milliseconds until a request that it refused, by now or before, has a chance again; `null`: never.
   * Of a limit never more than a window: what leaves that of Postgres a little later, the request is held
   * for.
   */
  retryAfterMs(now: number): number | null {
    const ownMs = this.isFull ? this.#fullMs(now) : 0
    const isOwn = this.denial === null || (this.isFull && !this.isDenied(1, now))
    const ms = isOwn ? ownMs : (this.denial as Denial).retryAfterMs(now, ownMs)
    return this.isQuota || ms === null ? ms : Math.min(ms, this.windowMs)
  }

  #fullMs(now: number): number {
    const ownMs = (this.nextLeaves() ?? now) - now
    return this.portions.held > 0 ? ownMs : Math.max(ownMs, this.freeAt - now)
  }

  /** Milliseconds until more than now remains; `null`: never. */
  resetMs(now: number): number | null {
    const at = this.nextLeaves() ?? this.freeAt
    return at === Infinity ? null : Math.max(0, at - now)
  }

  /** Whether Postgres would not grant as many, as far as this process knows. */
  protected isDenied(lacking: number, now: number): boolean {
    const until = this.denial?.until ?? -Infinity
    return now < until && this.used + lacking > this.limit
  }
}
