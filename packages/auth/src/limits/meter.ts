/**
 * One limit or quota of one key or tenant in this process: the allowances that it holds, what it has
 * admitted, and the last answer of Postgres. Keys that share it can have different limits, such as a
 * rotated key and its successor: each call names that of its key. No I/O; `now` is whole milliseconds of a
 * monotonic clock: V8 keeps those in the object, and other numbers beside it. See contributing/limits.md.
 */
import type { Place, PlaceAnswer } from '../tables/allowances.ts'
import { SlidingLog } from './sliding-log.ts'
import type { Terms } from './terms.ts'

/** Up to this limit no process holds allowances ahead of need, so the limit is kept exactly. */
const MAX_EXACT = 10
/** The first ones ahead of need are a hundredth of the limit, between these. */
const FIRST_AT_LEAST = 8
const FIRST_AT_MOST = 64
/** A process that requests allowances more often holds more of them, and fewer when more seldom. */
const OFTEN_MS = 5000
const SELDOM_MS = 20_000
/** How long no allowances are requested ahead of need after none were allotted. */
const MORE_AHEAD_MS = 1000
/** For how long a refusal of Postgres is believed: another process can give something back. */
const KNOWN_MS = 30_000
const KNOWN_MS_OF_QUOTA = 10_000
const IDLE_MS_OF_QUOTA = 10_000

/**
 * It is one object with its log: of 100 000 keys a request finds none in the caches of the processor. A
 * field takes 8 bytes of each, and so do all methods that are `#` of a class.
 */
export class Meter extends SlidingLog {
  readonly subject: string
  /**
   * `asked`: a statement is under way that names it. `dropped`: it was unused, and the limiter must look
   * it up again.
   */
  state: 'kept' | 'asked' | 'dropped' = 'kept'
  /** How many allowances it holds that no waiting request has reserved. */
  held = 0
  /** What it gives back with the next statement. */
  returned = 0
  /** When a request last passed it that has the limit that it holds for. */
  usedAt = 0
  /** `null`: for ever. */
  #heldUntil: number | null = 0
  /** The last allotment ahead of need, which is used after those before it. */
  #allotted = 0
  #allottedStamp = 0
  /** The oldest allotment that `returned` is of, or some of what is held. `null`: that one. */
  #oldestStamp: number | null = null
  /** How many to hold ahead of need, before the limit bounds it. 0: the last answer allotted too few. */
  #target = 1
  #askedAt = 0
  /** By the last answer: of a quota what all processes had used or held, of a limit what the others had. */
  #used = 0
  /** When something of what all processes used becomes free. `null`: not known, or never. */
  #freeAt: number | null = null

  constructor(subject: string, terms: Terms) {
    super(terms)
    this.subject = subject
  }

  /** The limit that it holds allowances for: the lowest that was used of late. */
  get limit(): number {
    return this.terms.limit
  }

  get isQuota(): boolean {
    return this.terms.isQuota
  }

  /** What a request takes of it whose route costs `cost`. */
  costOf(cost: number): number {
    return this.isQuota ? cost : 1
  }

  /** Call this before the other methods, with one `now` for all of them. */
  override prune(now: number): void {
    if (!this.isQuota) super.prune(now)
    if (this.held > 0 && this.isOverBy(now)) this.held = 0
  }

  /**
   * A request has that limit. Nothing that was allotted under a higher one is used for it. A higher
   * limit is requested for once no request with the lower one has passed for a while.
   */
  use(terms: Terms, now: number): void {
    if (terms.limit === this.limit) return
    if (terms.limit < this.limit) this.release()
    else if (!this.isIdle(now)) return
    this.terms = terms
  }

  /** Whether this process can refuse a request without a query. */
  isOver(limit: number, cost: number, now: number): boolean {
    return this.isFull(limit) || (this.held < cost && this.isKnownToLack(limit, cost, now))
  }

  /** Whether this process has admitted in the window all that the limit allows. */
  isFull(limit: number): boolean {
    return !this.isQuota && this.count >= limit
  }

  /** A request passes. `at`: when Postgres counts it, if that is later. */
  admit(limit: number, now: number, at = now): void {
    if (limit === this.limit) this.usedAt = now
    if (!this.isQuota) this.add(at, limit)
  }

  /** Takes up to so many of what it holds for waiting requests, until `until`. */
  reserve(most: number, until: number): number {
    if (this.isOverBy(until)) return 0
    const reserved = Math.min(this.held, most)
    this.held -= reserved
    return reserved
  }

  /**
   * Allowances that were reserved, or were allotted of a quota, and are not used. `under`: the limit that
   * they were allotted for.
   */
  putBack(count: number, under: number, now: number): void {
    if (count === 0 || this.isOverBy(now)) return
    this.held += count
    if (under > this.limit) this.release()
  }

  /** Whether to request allowances ahead of need, or to give some back. */
  isLow(now: number): boolean {
    if (this.state === 'asked') return false
    if (this.returned > 0) return true
    if (this.held * 2 >= this.ahead || this.isShort(now)) return false
    return !this.isKnownToLack(this.limit, 1, now)
  }

  /** Whether to renew what it holds, so that requests do not have to wait for the next portion. */
  isToRenew(now: number): boolean {
    return this.state !== 'asked' && this.isEnding(now) && !this.isShort(now)
  }

  /** Requests had to wait, so the process held too few allowances ahead of need. */
  waited(cost: number): void {
    this.#target = Math.max(this.ahead * 2, cost * 2)
  }

  /** What to ask Postgres for. `reserved`: so many of those held are for the demands of the statement. */
  ask(demanded: boolean, reserved: number, now: number): Place {
    const sinceMs = now - this.#askedAt
    if (sinceMs < OFTEN_MS) this.#target = this.ahead * 2
    else if (sinceMs > SELDOM_MS) this.#target >>= 1
    const { subject, returned } = this
    const { period, periods, limit } = this.terms
    const isUnused = !demanded && this.isIdle(now)
    // What is held is valid for longer only where more is requested.
    const wanted = Math.max(this.isEnding(now) ? 1 : 0, this.ahead - this.held)
    const held = this.held + reserved
    this.state = 'asked'
    this.#askedAt = now
    this.returned = 0
    return {
      subject,
      period,
      periods,
      limit,
      demanded,
      ahead: isUnused || returned > 0 ? 0 : wanted,
      held,
      returned,
      stamp: this.#oldestStamp ?? this.#allottedStamp,
    }
  }

  /** To be called once the requests of the statement are admitted, and what they left is put back. */
  apply(place: Place, answer: PlaceAnswer, sentAt: number, now: number): void {
    const { ahead, stamp, used, validMs, retryMs } = answer
    this.state = 'kept'
    this.#heldUntil = validMs === null ? null : Math.floor(sentAt + validMs)
    if (ahead > 0) {
      if (this.returned === 0) this.#oldestStamp = this.held === 0 ? null : this.heldStamp
      this.#allottedStamp = stamp
      this.held += ahead
      this.#allotted = ahead
      // Meanwhile a request with a lower limit came.
      if (place.limit > this.limit) this.release()
    }
    this.#used = this.isQuota ? used : Math.max(0, used - this.held - this.count)
    this.#freeAt = retryMs === null ? null : Math.ceil(now + retryMs)
    this.#target = ahead < place.ahead && this.held * 2 < this.ahead ? 0 : Math.max(1, this.#target)
  }

  /** A statement without an answer may have allotted something. None of it is used. */
  failed(): void {
    this.state = 'kept'
  }

  /** Gives back what it holds. */
  release(): void {
    const { held } = this
    this.held = 0
    this.#target = 1
    if (this.isQuota) this.#used -= held
    this.toReturn(held, this.heldStamp)
  }

  /** Gives back what was allotted to requests that were answered too late. */
  giveBack(count: number, stamp: number): void {
    this.#used = Math.max(0, this.#used - count)
    this.toReturn(count, stamp)
  }

  /** The next statement gives so many back. */
  private toReturn(count: number, stamp: number): void {
    const oldest = this.#oldestStamp ?? this.#allottedStamp
    // What was to be returned until now is of a period that has ended.
    if (this.isQuota && stamp > oldest) this.returned = 0
    if (count === 0) return
    const isOnly = this.returned === 0 && this.held === 0
    this.#oldestStamp = isOnly ? stamp : Math.min(oldest, stamp)
    this.returned += count
  }

  isIdle(now: number): boolean {
    return now - this.usedAt > this.idleMs
  }

  /** Whether it has the state of a new `Meter`, so that it can be dropped. */
  get isBlank(): boolean {
    return this.held + this.returned + this.count === 0 && this.state === 'kept'
  }

  /** How much is left of the limit, by the state in this process. */
  remaining(limit: number, now: number): number {
    if (this.held === 0 && this.isKnownToLack(limit, 1, now)) return 0
    if (this.isQuota && this.#freeAt !== null && now >= this.#freeAt) return limit
    if (!this.isQuota && now >= this.#askedAt + this.terms.windowMs)
      return Math.max(0, limit - this.count)
    return Math.max(0, limit - this.spent)
  }

  /** How much is left where all processes have used as much, with what this one holds. */
  remainingOf(limit: number, used: number): number {
    return Math.max(0, limit - used + this.held)
  }

  /** Milliseconds until a request that it refused, by now or before, has a chance again; `null`: never. */
  retryAfterMs(limit: number, now: number): number | null {
    const ownMs = this.isFull(limit) ? (this.nextLeaves() ?? now) - now : 0
    const isLacking = this.held === 0 && this.isKnownToLack(limit, 1, now)
    if (!isLacking && !this.isQuota) return ownMs
    return this.#freeAt === null ? null : Math.max(ownMs, this.#freeAt - now)
  }

  /** Milliseconds until more than now remains; `null`: never. */
  resetMs(now: number): number | null {
    const leavesAt = this.nextLeaves()
    if (leavesAt !== null) return Math.min(leavesAt - now, this.terms.windowMs)
    return this.#freeAt === null ? null : Math.max(0, this.#freeAt - now)
  }

  /** The oldest allotment that what it holds is of. */
  private get heldStamp(): number {
    return this.held <= this.#allotted
      ? this.#allottedStamp
      : (this.#oldestStamp ?? this.#allottedStamp)
  }

  /** How many to hold ahead of need: at most a tenth of the limit, which is what Postgres allots in all. */
  private get ahead(): number {
    const { limit } = this.terms
    if (limit <= MAX_EXACT) return 0
    const first = Math.min(FIRST_AT_MOST, Math.max(FIRST_AT_LEAST, Math.floor(limit / 100)))
    return Math.min(Math.floor(limit / 10), Math.max(this.#target, first))
  }

  private isOverBy(now: number): boolean {
    return this.#heldUntil !== null && now >= this.#heldUntil
  }

  /** Whether only a third is left of the time for which what it holds may be used. */
  private isEnding(now: number): boolean {
    return this.held > 0 && !this.isQuota && this.isOverBy(now + this.holdMs / 3)
  }

  /** For how long it may use what it holds, as "__svc.auth.allotment_of_window" has it. */
  private get holdMs(): number {
    const { windowMs } = this.terms
    return Math.min(windowMs, Math.max(60_000, Math.min(windowMs / 12, 300_000)))
  }

  /** After how long without a request that passes it gives back what it holds. */
  private get idleMs(): number {
    const { isQuota, windowMs } = this.terms
    if (isQuota) return IDLE_MS_OF_QUOTA
    return Math.max(1000, Math.min(30_000, windowMs / 4), Math.min(120_000, windowMs / 30))
  }

  /** How much of the limit is used, as far as this process knows, without what it holds. */
  private get spent(): number {
    return this.isQuota ? this.#used - this.held : this.#used + this.count
  }

  /** Whether Postgres would not allot as many beside those held, as far as this process knows. */
  private isKnownToLack(limit: number, cost: number, now: number): boolean {
    if (this.spent + cost <= limit) return false
    return this.isUnchanged(now, this.isQuota ? KNOWN_MS_OF_QUOTA : KNOWN_MS)
  }

  /** Whether Postgres has allotted too few ahead of need within the last second. */
  private isShort(now: number): boolean {
    return this.#target === 0 && this.isUnchanged(now, MORE_AHEAD_MS)
  }

  /** Whether nothing can have become free since the last answer, and Postgres was asked within that time. */
  private isUnchanged(now: number, ms: number): boolean {
    return now < this.#askedAt + ms && (this.#freeAt === null || now < this.#freeAt)
  }
}
