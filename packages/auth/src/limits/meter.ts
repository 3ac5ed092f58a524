/**
 * What this process knows of one limit or quota of one key or tenant: the allowances that it holds
 * and, of a limit, what it has admitted in the last window. No I/O; `now` is milliseconds of a
 * monotonic clock. See docs/limits.md for the bounds that follow from this.
 */
import { SlidingLog } from './sliding-log.ts'

/** How many, in which time: seconds of a sliding window, or a period of the UTC calendar. */
export type Period = number | 'day' | 'month' | 'total'

export interface Rule {
  /** Whose: `key:<id>` or `tenant:<name>`. */
  readonly subject: string
  readonly period: Period
  readonly limit: number
}

/** What a process asks Postgres for. */
export interface Ask {
  readonly rule: Rule
  /** For requests that wait. */
  readonly want: number
  /** For later ones, at most. */
  readonly ahead: number
  /** What the process holds ahead of need already. */
  readonly held: number
  /** Allowances that it gives back, by their stamps. */
  readonly returns: readonly Return[]
}

export interface Return {
  stamp: number
  count: number
}

export interface Answer {
  granted: number
  ahead: number
  /** Names the grant, where a part of it is given back. */
  stamp: number
  /** Of the limit, by all processes and with these grants. */
  used: number
  /** Milliseconds for which what was granted ahead may be used; `null`: forever. */
  validMs: number | null
  /** Milliseconds until more can be granted; `null`: never. */
  retryMs: number | null
  /** What may be given back soon: what other processes hold ahead of need, or were granted just now. */
  othersHold: number
}

interface Portion {
  readonly stamp: number
  count: number
  readonly usableUntil: number
  /** Until then it counts in Postgres, and is worth giving back. */
  readonly countsUntil: number
  readonly isAhead: boolean
  readonly holder: string
}

/** Limits up to this one are kept exactly over all processes: nobody holds an allowance for later. */
export const MAX_EXACT = 10
const FIRST_TARGET = 8
const OFTEN_MS = 2000
const SELDOM_MS = 10_000
const FIRST_RECHECK_MS = 50
const LAST_RECHECK_MS = 30_000
/** Where nothing more could be had ahead, it is not asked for again within that time. */
const MORE_AHEAD_MS = 1000

export class Meter {
  rule: Rule
  readonly id: string
  /** Of a quota 0. */
  readonly windowMs: number
  /** `null` for a quota, whose period only Postgres knows. */
  readonly log: SlidingLog | null
  /** When a request last asked for it. */
  usedAt = 0
  /** A statement is under way that asks for this meter. */
  isAsking = false
  /** It was dropped for want of use: the limiter must look it up again. */
  isDropped = false
  /** Usable allowances, as of the last `prune`. */
  held = 0
  /** Those that end first come first. */
  #portions: Portion[] = []
  #firstEndsAt = Infinity
  #returns: Return[] = []
  /** How many to hold ahead of need. */
  #target = 0
  #askedAt = -Infinity
  #releasedAt = -Infinity
  #deniedUntil = -Infinity
  #nothingAheadUntil = -Infinity
  #retryAt: number | null = 0
  #recheckMs = FIRST_RECHECK_MS
  /** The last answer: what all had used, and others alone; when it came, and until when it says something. */
  #used = 0
  #others = 0
  #staleAt = -Infinity
  #freeAt: number | null = null

  constructor(rule: Rule) {
    this.rule = rule
    this.id = idOf(rule)
    this.windowMs = typeof rule.period === 'number' ? rule.period * 1000 : 0
    this.log = this.windowMs > 0 ? new SlidingLog(this.windowMs) : null
  }

  /** A limit that was changed applies to what is in the window already. */
  change(rule: Rule): void {
    if (rule.limit !== this.rule.limit) this.#deniedUntil = -Infinity
    this.rule = rule
  }

  /** To be called before the others, with one `now` for all of them. */
  prune(now: number): void {
    this.log?.prune(now)
    if (now < this.#firstEndsAt) return
    const ended = this.#portions.filter(({ usableUntil }) => usableUntil <= now)
    this.#portions = this.#portions.filter(({ usableUntil }) => usableUntil > now)
    for (const portion of ended) this.#giveBack(portion, now)
    this.#sort()
  }

  holds(cost: number): boolean {
    return this.held >= cost
  }

  /** Whether a request is over it as far as this process knows, so that Postgres need not be asked. */
  isOver(cost: number, now: number): boolean {
    if (this.log !== null && this.log.count >= this.rule.limit) return true
    return this.held < cost && now < this.#deniedUntil
  }

  /** Only where it `holds` as many and is not over. */
  take(cost: number, now: number): void {
    this.log?.add(now, this.rule.limit)
    this.held -= cost
    let rest = cost
    while (rest > 0) {
      const portion = this.#portions[0] as Portion
      const part = Math.min(rest, portion.count)
      portion.count -= part
      rest -= part
      if (portion.count > 0) return
      this.#portions.shift()
      this.#firstEndsAt = this.#portions[0]?.usableUntil ?? Infinity
    }
  }

  /** Whether to ask ahead of need. */
  isLow(now: number): boolean {
    if (this.isAsking) return false
    if (this.#returns.length > 0) return true
    if (now < this.#deniedUntil || now < this.#nothingAheadUntil) return false
    return this.held * 2 < this.#wanted()
  }

  /** A request had to wait: what is held ahead was too little. */
  missed(cost: number): void {
    this.#target = Math.max(this.#wanted() * 2, cost * 2)
  }

  /** `waiting`: the sum of what requests wait for. */
  ask(waiting: number, holder: string, now: number): Ask {
    this.isAsking = true
    // So that a busy key is asked for once in a few seconds, and one that rests holds little.
    if (now - this.#askedAt < OFTEN_MS) this.#target = this.#wanted() * 2
    else if (now - this.#askedAt > SELDOM_MS) this.#target /= 2
    this.#askedAt = now
    const held = this.#portions.reduce(
      (sum, { isAhead, count, holder: by }) => sum + (isAhead && by === holder ? count : 0),
      0,
    )
    const returns = this.#returns
    this.#returns = []
    const isIdle = this.usedAt <= this.#releasedAt
    const ahead = isIdle ? 0 : Math.max(0, this.#wanted() - held)
    const want = Math.min(this.rule.limit, Math.max(0, waiting - this.held))
    return { rule: this.rule, want, ahead, held, returns }
  }

  /**
   * `sentAt`: when the statement was sent. What was granted to requests that wait may be used until
   * `lateMs` after that, since Postgres counts it from then on.
   */
  apply(ask: Ask, answer: Answer, { sentAt, lateMs, holder, now }: Sending): void {
    this.isAsking = false
    const { granted, ahead, stamp, used, validMs, retryMs } = answer
    const validUntil = validMs === null ? Infinity : sentAt + validMs
    const isWindow = this.log !== null
    const countsUntil = isWindow ? sentAt + this.windowMs : validUntil
    const common = { stamp, countsUntil, holder }
    if (granted > 0) {
      const usableUntil = isWindow ? sentAt + lateMs : validUntil
      this.#hold({ ...common, count: granted, usableUntil, isAhead: false })
    }
    if (ahead > 0) {
      this.#hold({ ...common, count: ahead, usableUntil: validUntil, isAhead: true })
    }
    this.#used = used
    this.#others = Math.max(0, used - this.held - (this.log?.count ?? 0))
    this.#staleAt = isWindow ? now + this.windowMs : validUntil
    this.#freeAt = retryMs === null ? null : sentAt + retryMs
    if (granted < ask.want) this.#denied(answer, sentAt)
    else if (used < this.rule.limit) this.#deniedUntil = -Infinity
    if (granted > 0) this.#recheckMs = FIRST_RECHECK_MS
    // To ask for more before something is free would be in vain.
    if (ask.ahead > 0 && ahead === 0) {
      this.#nothingAheadUntil = now + Math.min(retryMs ?? Infinity, MORE_AHEAD_MS)
    }
  }

  /** What a statement may have done that was not answered is not known: nothing of it is used. */
  failed(): void {
    this.isAsking = false
  }

  /** How many more requests it can let through at all. */
  get room(): number {
    return this.log === null ? Infinity : this.rule.limit - this.log.count
  }

  /** Gives back what is held for later, until a request comes again. */
  release(now: number): void {
    this.#releasedAt = now
    this.#target = 0
    const portions = this.#portions
    this.#portions = []
    for (const portion of portions) this.#giveBack(portion, now)
    this.#sort()
  }

  /** Whether it holds what was granted to a request that waited. */
  get hasUnspent(): boolean {
    return this.#portions.some(({ isAhead }) => !isAhead)
  }

  get hasReturns(): boolean {
    return this.#returns.length > 0
  }

  /** Nothing is known of it that another `Meter` would not know. */
  isBlank(now: number): boolean {
    this.prune(now)
    const isEmpty = this.#portions.length === 0 && (this.log === null || this.log.count === 0)
    return isEmpty && !this.isAsking && !this.hasReturns
  }

  /** What is left, as far as this process knows. */
  remaining(now: number): number {
    if (this.held === 0 && now < this.#deniedUntil) return 0
    const { limit } = this.rule
    const isStale = now >= this.#staleAt
    if (this.log === null) return isStale ? limit : Math.max(0, limit - this.#used + this.held)
    return Math.max(0, limit - this.log.count - (isStale ? 0 : this.#others))
  }

  /** Milliseconds until a request has a chance again; `null`: never. */
  retryAfterMs(now: number): number | null {
    const isFull = this.log !== null && this.log.count >= this.rule.limit
    const ownMs = isFull ? (this.log.nextLeaves() ?? now) - now : 0
    if (now >= this.#deniedUntil) return ownMs
    return this.#retryAt === null ? null : Math.max(ownMs, this.#retryAt - now)
  }

  /** Milliseconds until more than now remains; `null`: never. */
  resetMs(now: number): number | null {
    const leaves = this.log?.nextLeaves() ?? this.#freeAt
    return leaves === null ? null : Math.max(0, leaves - now)
  }

  #denied({ retryMs, othersHold }: Answer, sentAt: number): void {
    const retryAt = retryMs === null ? Infinity : sentAt + retryMs
    this.#retryAt = retryMs === null ? null : retryAt
    this.#target = 0
    // What others hold they may give back before that.
    const isFinal = this.log !== null && othersHold === 0
    this.#deniedUntil = isFinal ? retryAt : Math.min(retryAt, sentAt + this.#recheckMs)
    this.#recheckMs = Math.min(LAST_RECHECK_MS, this.#recheckMs * 2)
  }

  /** How many to hold ahead of need. */
  #wanted(): number {
    const { limit } = this.rule
    if (limit <= MAX_EXACT) return 0
    return Math.min(Math.floor(limit / 10), Math.max(this.#target, FIRST_TARGET))
  }

  #hold(portion: Portion): void {
    this.held += portion.count
    this.#portions.push(portion)
    this.#sort()
  }

  #sort(): void {
    if (this.#portions.length > 1) this.#portions.sort((a, b) => a.usableUntil - b.usableUntil)
    this.#firstEndsAt = this.#portions[0]?.usableUntil ?? Infinity
  }

  #giveBack({ count, stamp, countsUntil }: Portion, now: number): void {
    this.held -= count
    if (count === 0 || countsUntil <= now) return
    this.#returns.push({ stamp, count })
    // What is given back can be granted again.
    this.#deniedUntil = -Infinity
  }
}

export interface Sending {
  sentAt: number
  lateMs: number
  holder: string
  now: number
}

export const idOf = ({ subject, period }: Rule): string => `${subject}/${period}`
