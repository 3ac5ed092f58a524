/**
 * One limit or quota of one key or tenant in this process: the allowances that it holds, what it has
 * admitted, and the last answer of Postgres. Keys that share it can have different limits, such as a
 * rotated key and its successor: each call names that of its key. No I/O; `now` is whole milliseconds of a
 * monotonic clock: V8 keeps those in the object, and other numbers beside it. See docs/limits.md for the bounds.
 */
import type { Period, Place, PlaceAnswer } from '../tables/allowances.ts'
import { SlidingLog } from './sliding-log.ts'

/** Up to this limit no process holds allowances ahead of need, so the limit is kept exactly. */
const MAX_EXACT = 10
/** The first ones ahead of need are a hundredth of the limit, between these. */
const FIRST_AT_LEAST = 8
const FIRST_AT_MOST = 64
/** A process that requests allowances more often holds more of them, and fewer when more seldom. */
const OFTEN_MS = 5000
const SELDOM_MS = 20_000
/** How long no allowances are requested ahead of need after none were granted. */
const MORE_AHEAD_MS = 1000
/** Others can give something back: after as long Postgres is asked again. */
const KNOWN_MS = 30_000
const KNOWN_MS_OF_QUOTA = 10_000
const IDLE_MS_OF_QUOTA = 10_000

/** A statement: when it was sent and answered, and within what time its grants are used. */
export interface Sending {
  readonly sentAt: number
  readonly lateMs: number
  readonly now: number
}

/** It is one object with its log: of 100 000 keys a request finds none in the caches of the processor. */
export class Meter extends SlidingLog {
  readonly subject: string
  readonly period: Period
  /** Another one of the same subject. */
  next: Meter | null = null
  /** It was dropped because it was unused: the limiter must look it up again. */
  isDropped = false
  /** A statement is under way that names it. */
  isAsked = false
  /** How many allowances it holds that no waiting request has reserved. */
  held = 0
  /** What it gives back with the next statement. */
  returned = 0
  /** When a request last passed it that has the limit that it holds for. */
  usedAt = 0
  /** The limit that allowances ahead of need are requested for: the lowest that was used of late. */
  limit: number
  /** `null`: for ever. */
  #heldUntil: number | null = 0
  /** The last grant ahead of need, which is used after those before it. */
  #grantStamp = 0
  #granted = 0
  /** The oldest grant that some of what it held then was of. */
  #oldestStamp = 0
  /** The oldest grant that `returned` is of. */
  #returnStamp = 0
  /** How many to hold ahead of need, before the limit bounds it. */
  #target = 0
  #askedAt = 0
  #nothingAheadUntil = 0
  /** The last answer: what all processes had used, what the others had, until when that is known. */
  #used = 0
  #others = 0
  #knownUntil = 0
  /** When something of what all processes used becomes free. `null`: not known, or never. */
  #freeAt: number | null = null
  /** The longest `lateMs` of a statement of late: Postgres counts requests for so much longer. */
  #lateMs = 0

  constructor(subject: string, period: Period, limit: number) {
    super(typeof period === 'number' ? period * 1000 : 0)
    this.subject = subject
    this.period = period
    this.limit = limit
  }

  /** It has a period of the calendar instead of a window, and nothing in its log. */
  get isQuota(): boolean {
    return this.windowMs === 0
  }

  /** What a request takes of it whose route costs `cost`. */
  costOf(cost: number): number {
    return this.isQuota ? cost : 1
  }

  /** Call this before the other methods, with one `now` for all of them. */
  override prune(now: number): void {
    if (!this.isQuota) super.prune(now)
    if (this.held > 0 && this.#isOverBy(now)) this.held = 0
  }

  /**
   * A request has that limit. Nothing that was granted under a higher one is used for it. A higher
   * limit is requested for once no request with the lower one has passed for a while.
   */
  use(limit: number, now: number): void {
    if (limit === this.limit) return
    if (limit < this.limit) this.release()
    else if (!this.isIdle(now)) return
    this.limit = limit
  }

  /** Whether this process can refuse a request without a query. */
  isOver(limit: number, cost: number, now: number): boolean {
    return this.isFull(limit) || (this.held < cost && this.#isKnownToLack(limit, cost, now))
  }

  /** Whether this process has admitted in the window all that the limit allows. */
  isFull(limit: number): boolean {
    return !this.isQuota && this.count >= limit
  }

  /** A request passes. */
  admit(limit: number, now: number): void {
    if (limit === this.limit) this.usedAt = now
    if (!this.isQuota) this.add(now, limit)
  }

  /** Takes up to so many of what it holds for waiting requests, until `until`. */
  reserve(most: number, until: number): number {
    if (this.#isOverBy(until)) return 0
    const reserved = Math.min(this.held, most)
    this.held -= reserved
    return reserved
  }

  /**
   * Allowances that were reserved, or were granted of a quota, and are not used. `under`: the limit that
   * they were granted for.
   */
  putBack(count: number, under: number, now: number): void {
    if (count === 0 || this.#isOverBy(now)) return
    this.held += count
    if (under > this.limit) this.release()
  }

  /** Whether to request allowances ahead of need, or to give some back. */
  isLow(now: number): boolean {
    if (this.isAsked) return false
    if (this.returned > 0) return true
    if (this.held * 2 >= this.#ahead || now < this.#nothingAheadUntil) return false
    return !this.#isKnownToLack(this.limit, 1, now)
  }

  /** Whether to renew what it holds, so that requests do not have to wait for the next portion. */
  isToRenew(now: number): boolean {
    return !this.isAsked && this.#isEnding(now) && now >= this.#nothingAheadUntil
  }

  /** Requests had to wait, so the process held too few allowances ahead of need. */
  missed(cost: number): void {
    this.#target = Math.max(this.#ahead * 2, cost * 2)
  }

  /** What to ask Postgres for. `reserved`: so many of those held are for the demands of the statement. */
  ask(demanded: boolean, reserved: number, now: number): Place {
    const sinceMs = now - this.#askedAt
    if (sinceMs < OFTEN_MS) this.#target = this.#ahead * 2
    else if (sinceMs > SELDOM_MS) this.#target >>= 1
    const { subject, period, returned } = this
    const isUnused = !demanded && this.isIdle(now)
    // What is held is valid for longer only where more is requested.
    const wanted = Math.max(this.#isEnding(now) ? 1 : 0, this.#ahead - this.held)
    const held = this.held + reserved
    this.isAsked = true
    this.#askedAt = now
    this.returned = 0
    return {
      subject,
      period,
      limit: this.limit,
      demanded,
      ahead: isUnused || returned > 0 ? 0 : wanted,
      held,
      returned,
      stamp: this.#returnStamp,
    }
  }

  /** To be called once the requests of the statement are admitted, and what they left is put back. */
  apply(place: Place, answer: PlaceAnswer, { sentAt, lateMs, now }: Sending): void {
    const { ahead, stamp, used, validMs, retryMs } = answer
    this.isAsked = false
    this.#lateMs = Math.max(lateMs, this.count > 0 ? this.#lateMs : 0)
    this.#heldUntil = validMs === null ? null : Math.floor(sentAt + validMs)
    if (ahead > 0) {
      this.#oldestStamp = this.held === 0 ? stamp : this.#heldStamp
      this.held += ahead
      this.#granted = ahead
      this.#grantStamp = stamp
      // Meanwhile a request with a lower limit came.
      if (place.limit > this.limit) this.release()
    }
    this.#used = used
    this.#others = Math.max(0, used - this.held - this.count)
    this.#freeAt = retryMs === null ? null : Math.ceil(now + retryMs)
    const knownMs = this.isQuota ? KNOWN_MS_OF_QUOTA : KNOWN_MS
    this.#knownUntil = Math.min(this.#freeAt ?? Infinity, now + knownMs)
    // More would not be granted before something is free.
    if (ahead < place.ahead && this.held * 2 < this.#ahead) {
      this.#nothingAheadUntil = Math.min(this.#freeAt ?? Infinity, now + MORE_AHEAD_MS)
      this.#target = 0
    }
  }

  /** A statement without an answer may have granted something. None of it is used. */
  failed(): void {
    this.isAsked = false
  }

  /** Gives back what it holds. */
  release(): void {
    this.giveBack(this.held, this.#heldStamp)
    this.held = 0
    this.#target = 0
  }

  /** With the next statement, of grants since that one. */
  giveBack(count: number, stamp: number): void {
    this.#used = Math.max(0, this.#used - count)
    const isOfPeriodBefore = this.isQuota && stamp > this.#returnStamp
    if (this.returned === 0 || isOfPeriodBefore) {
      this.returned = count
      this.#returnStamp = stamp
    } else if (count > 0) {
      this.returned += count
      this.#returnStamp = Math.min(this.#returnStamp, stamp)
    }
  }

  isIdle(now: number): boolean {
    return now - this.usedAt > this.#idleMs
  }

  /** Whether it has the state of a new `Meter`, so that it can be dropped. */
  get isBlank(): boolean {
    return this.held === 0 && this.returned === 0 && this.count === 0 && !this.isAsked
  }

  /** How much is left of the limit, by the state in this process. */
  remaining(limit: number, now: number): number {
    if (this.held === 0 && this.#isKnownToLack(limit, 1, now)) return 0
    if (this.isQuota)
      return this.remainingOf(
        limit,
        this.#freeAt === null || now < this.#freeAt ? this.#used : this.held,
      )
    const others = now < this.#askedAt + this.windowMs ? this.#others : 0
    return Math.max(0, limit - this.count - others)
  }

  /** How much is left where all processes have used as much, with what this one holds. */
  remainingOf(limit: number, used: number): number {
    return Math.max(0, limit - used + this.held)
  }

  /**
   * Milliseconds until a request that it refused, by now or before, has a chance again; `null`: never.
   * What this process admitted leaves the window of Postgres a little later than its own.
   */
  retryAfterMs(limit: number, now: number): number | null {
    const ownMs = this.isFull(limit) ? (this.nextLeaves() ?? now) - now + this.#lateMs : 0
    const isLacking = this.held === 0 && this.#isKnownToLack(limit, 1, now)
    if (!isLacking && !this.isQuota) return ownMs
    return this.#freeAt === null ? null : Math.max(ownMs, this.#freeAt - now)
  }

  /** Milliseconds until more than now remains; `null`: never. */
  resetMs(now: number): number | null {
    const at = this.nextLeaves() ?? this.#freeAt
    return at === null ? null : Math.max(0, at - now)
  }

  /** The oldest grant that what it holds is of. */
  get #heldStamp(): number {
    return this.held <= this.#granted ? this.#grantStamp : this.#oldestStamp
  }

  /** How many to hold ahead of need: at most a tenth of the limit, which is what Postgres grants in all. */
  get #ahead(): number {
    const limit = this.limit
    if (limit <= MAX_EXACT) return 0
    const first = Math.min(FIRST_AT_MOST, Math.max(FIRST_AT_LEAST, Math.floor(limit / 100)))
    return Math.min(Math.floor(limit / 10), Math.max(this.#target, first))
  }

  #isOverBy(now: number): boolean {
    return this.#heldUntil !== null && now >= this.#heldUntil
  }

  /** The last third of the time for which what it holds may be used. */
  #isEnding(now: number): boolean {
    return this.held > 0 && !this.isQuota && this.#isOverBy(now + this.#leaseMs / 3)
  }

  /** As "__svc.auth.grant_of_window" has it. */
  get #leaseMs(): number {
    return Math.min(this.windowMs, Math.max(60_000, Math.min(this.windowMs / 12, 300_000)))
  }

  /** After how long without a request that passes it gives back what it holds. */
  get #idleMs(): number {
    if (this.isQuota) return IDLE_MS_OF_QUOTA
    const ofLong = Math.min(120_000, this.windowMs / 30)
    return Math.max(1000, Math.min(30_000, this.windowMs / 4), ofLong)
  }

  /** Whether Postgres would not grant as many beside those held, as far as this process knows. */
  #isKnownToLack(limit: number, cost: number, now: number): boolean {
    return now < this.#knownUntil && this.#used - this.held + cost > limit
  }
}
