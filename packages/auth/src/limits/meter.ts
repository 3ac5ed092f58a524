/**
 * One limit or quota of one key or tenant in this process: it spends the allowances that it holds, and
 * says how many to request. No I/O; `now` is milliseconds of a monotonic clock. See docs/limits.md for
 * the bounds.
 */
import { aheadOf, targetAfter } from './ahead-target.ts'
import { idOf, type Answer, type AllowanceRequest, type Rule } from '../tables/allowance-terms.ts'
import { Denial } from './denial.ts'
import { holdGrants } from './hold-grants.ts'
import { idleMsOf, leaseMsOf, renewedFrom } from './lease.ts'
import { LimitState } from './limit-state.ts'
import type { Sending } from './sending.ts'
import { lackingOf, type Waiting } from './waiting-requests.ts'

/** How long no allowances are requested ahead of need after none were granted. */
const MORE_AHEAD_MS = 1000
const NONE: never[] = []

/** What each request reads stands first, as in `LimitState`. */
export class Meter extends LimitState {
  /** That of the request or statement that it decides about. */
  rule: Rule
  /** It was dropped because it was unused: the limiter must look it up again. */
  isDropped = false
  /** A statement is under way that requests allowances of this meter. */
  isRequested = false
  /** How many to hold ahead of need: what follows from the target and the limit. */
  #ahead = 0
  /** Until then no request leaves the window, and no portion ends or is to be renewed. */
  #unchangedUntil = Infinity
  /** The first portion ends soon, and can be renewed. */
  #isEnding = false
  /** When a request last passed it. */
  usedAt = 0
  readonly id: string
  #target = 0
  #requestedAt = -Infinity
  #releasedAt = -Infinity
  #nothingAheadUntil = -Infinity
  /** The longest `lateMs` of what it was granted in the window. */
  lateMs = 0
  protected denial: Denial | null = null
  protected freeAt = Infinity

  constructor(rule: Rule) {
    super(rule.period)
    this.rule = rule
    this.id = idOf(rule)
    this.change(rule)
  }

  /**
   * Keys that share it can have different limits: it decides by this one from now on. What was granted
   * under a higher limit is kept for requests with that.
   */
  change(rule: Rule): void {
    this.rule = rule
    if (rule.limit === this.limit) return
    this.limit = rule.limit
    this.portions.useUnder(rule.limit)
    this.#setTarget(this.#target)
  }

  /** A key has this limit now: what was granted ahead of need under a higher one is given back. */
  lower(limit: number, now: number): void {
    if (this.portions.releaseAbove(limit, now)) this.denial?.end()
  }

  /** Gives back what was granted ahead of need under a higher limit that is no longer used. */
  releaseUnused(now: number): void {
    if (this.portions.releaseUnused(now, idleMsOf(this.windowMs))) this.denial?.end()
  }

  /** Call this before the other methods, with one `now` for all of them. */
  override prune(now: number): void {
    if (now < this.#unchangedUntil) return
    super.prune(now)
    // What is given back can be granted again.
    if (this.portions.prune(now)) this.denial?.end()
    const leaseMs = leaseMsOf(this.windowMs)
    const { firstEndsAt } = this.portions
    const endsSoonAt = renewedFrom(firstEndsAt, leaseMs)
    this.#isEnding = now >= endsSoonAt && this.portions.isRenewable(now, leaseMs)
    const changesAt = now < endsSoonAt ? endsSoonAt : firstEndsAt
    this.#unchangedUntil = Math.min(this.nextLeaves() ?? Infinity, changesAt)
  }

  holds(cost: number): boolean {
    return this.portions.held >= cost
  }

  /** Whether this process can refuse a request without a query. */
  isOver(cost: number, now: number): boolean {
    if (this.isFull) return true
    const { held } = this.portions
    return held < cost && this.isDenied(cost - held, now)
  }

  /** Only where it `holds` as many and is not over. */
  take(cost: number, now: number): void {
    this.usedAt = now
    if (!this.isQuota) {
      if (this.count === 0) this.#changesBy(now + this.windowMs)
      this.add(now, this.limit)
    }
    this.portions.take(cost)
  }

  /** Whether to request allowances ahead of need. */
  isLow(now: number): boolean {
    if (this.isRequested) return false
    const { held, hasReturns } = this.portions
    if (hasReturns) return true
    if (held * 2 >= this.#ahead) return false
    return now >= this.#nothingAheadUntil && !this.isDenied(1, now)
  }

  /** Whether to renew what it holds, so that requests do not have to wait for the next portion. */
  isToRenew(now: number): boolean {
    return this.#isEnding && !this.isRequested && now >= this.#nothingAheadUntil
  }

  /** A request had to wait, so the process held too few allowances ahead of need. */
  missed(cost: number): void {
    this.#setTarget(Math.max(this.#ahead * 2, cost * 2))
  }

  request(waiting: Waiting | null, holder: string, now: number): AllowanceRequest {
    this.isRequested = true
    if (waiting !== null) this.change(waiting.rule)
    this.#setTarget(targetAfter(now - this.#requestedAt, this.#target, this.#ahead))
    this.#requestedAt = now
    const heldAhead = this.portions.heldAheadBy(holder)
    const isIdle = waiting === null && this.usedAt <= this.#releasedAt
    // The row keeps what is held for longer only where it grants more.
    const ahead = isIdle ? 0 : Math.max(this.#isEnding ? 1 : 0, this.#ahead - heldAhead)
    const want = Math.min(this.limit, lackingOf(waiting, this.portions.held))
    const needs = this.isQuota && waiting !== null && want > 0 ? waiting.needs : NONE
    const held = this.isQuota ? this.portions.held : heldAhead
    return { rule: this.rule, want, needs, ahead, held, returns: this.portions.takeReturns() }
  }

  apply(request: AllowanceRequest, answer: Answer, sending: Sending): void {
    this.isRequested = false
    const { granted, ahead, used, validMs, retryMs } = answer
    const { sentAt, now } = sending
    this.#changesBy(now)
    holdGrants(this.portions, request.rule, answer, sending)
    // Where others gave something back Postgres can be asked again.
    if (used < this.used) this.denial?.end()
    this.used = used
    this.others = Math.max(0, used - this.portions.total - this.count)
    this.staleAt = this.isQuota ? sentAt + (validMs ?? Infinity) : now + this.windowMs
    this.freeAt = retryMs === null ? Infinity : sentAt + retryMs
    if (granted < request.want) {
      this.#setTarget(0)
      this.denial ??= new Denial()
      this.denial.extend(answer, request.rule, sending)
    }
    if (granted > 0) this.denial?.granted(request.rule)
    if (granted + ahead > 0) {
      this.lateMs = this.count === 0 ? sending.lateMs : Math.max(this.lateMs, sending.lateMs)
    }
    // More would not be granted before something is free, or is held already under a higher limit.
    if (ahead === 0 && (request.ahead > 0 || this.portions.held * 2 < this.#ahead)) {
      this.#nothingAheadUntil = now + Math.min(retryMs ?? Infinity, MORE_AHEAD_MS)
    }
  }

  /** A statement without an answer may have granted something. None of it is used. */
  failed(): void {
    this.isRequested = false
  }

  /** How many more requests with this limit it can let through at all. */
  roomUnder(limit: number): number {
    return this.isQuota ? Infinity : limit - this.count
  }

  /** Gives back the allowances held ahead of need, and holds none until the next request. */
  release(now: number): void {
    this.#releasedAt = now
    this.#setTarget(0)
    if (this.portions.release(now)) this.denial?.end()
  }

  /** Whether it holds allowances that were granted to a waiting request. */
  get hasUnspent(): boolean {
    return this.portions.hasUnspent
  }

  get hasReturns(): boolean {
    return this.portions.hasReturns
  }

  /** Whether it has the state of a new `Meter`, so that it can be dropped. */
  isBlank(now: number): boolean {
    this.prune(now)
    const isEmpty = this.portions.isEmpty && this.count === 0
    return isEmpty && !this.isRequested && !this.hasReturns
  }

  #setTarget(target: number): void {
    this.#target = target
    this.#ahead = aheadOf(this.limit, target)
  }

  #changesBy(at: number): void {
    if (at < this.#unchangedUntil) this.#unchangedUntil = at
  }
}
