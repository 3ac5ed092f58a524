/**
 * Decides whether a request passes the limits and the quota of its key. Where this process holds an
 * allowance of each, the request is decided at once. Otherwise it waits for a statement, which asks
 * Postgres for many keys together. There is no I/O here: statements, clock and event loop are passed in.
 */
import type { Answer, Batch, Period } from '../tables/allowances.ts'
import type { Meter } from './meter.ts'
import { membersOf, MeterRegistry, type MeterList } from './meter-list.ts'
import { Statement, type WaitingRequest } from './statement.ts'

export interface LimiterParts {
  /** Calls `done` once. */
  send: (batch: Batch, done: (answer: Answer | Error) => void) => void
  /** Whole milliseconds of a monotonic clock. */
  now: () => number
  /** Runs the function after the current synchronous work. */
  schedule: (run: () => void) => void
  newHolder: () => string
}

/** What the limiter decides about a request. A limit or quota: the request is over it. */
export type LimitDecision = 'passed' | 'unavailable' | MeterList

const LONGEST_WAIT_MS = 2000
const MOST_METERS = 200
const MOST_STATEMENTS = 2
/** How long no other statement is sent after a failed one. */
const PAUSE_MS = 100
/** The first statements of a process take longer than later ones. */
const FIRST_LATE_MS = 50
const SHORTEST_LATE_MS = 5
const LONGEST_LATE_MS = 2000
/** How many meters each sweep checks at least. All are checked within 60 sweeps: half a minute. */
const SWEPT = 2000
const SWEEPS = 60

export class Limiter {
  #parts: LimiterParts
  #meters = new MeterRegistry()
  /** The requests that wait for the next statement, by the list of their key. */
  #waiting = new Map<MeterList, WaitingRequest[]>()
  /** These meters give allowances back, or get some ahead of need. */
  #low = new Set<Meter>()
  #isScheduled = false
  #statements = 0
  #holder: string
  #lateMs = FIRST_LATE_MS
  #pausedUntil = 0
  #swept: Iterator<Meter> | undefined
  #perSweep = SWEPT
  #isClosing = false

  constructor(parts: LimiterParts) {
    this.#parts = parts
    this.#holder = parts.newHolder()
  }

  /** The meters for the rules of one key, `null` without any. */
  listOf(...rules: Parameters<MeterRegistry['listOf']>): MeterList | null {
    return this.#meters.listOf(...rules)
  }

  /**
   * Decides at once, or returns `null`: then the request must `wait`. `cost` is what it takes of
   * the quota.
   */
  take(list: MeterList, cost: number, now = this.#parts.now()): LimitDecision | null {
    let isLacking = false
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      if (one.meter.state === 'dropped') this.#meters.revive(list)
      const { meter, terms } = one
      const need = meter.costOf(cost)
      meter.use(terms, now)
      meter.prune(now)
      if (meter.isOver(terms.limit, need, now)) return one
      if (meter.held < need) isLacking = true
    }
    if (isLacking) return null
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      const { meter, terms } = one
      meter.held -= meter.costOf(cost)
      meter.admit(terms.limit, now)
      if (meter.isLow(now)) this.#requestFor(meter)
      else if (meter.isToRenew(now)) this.#low.add(meter)
    }
    return 'passed'
  }

  /**
   * To be called after `take` returned `null`. `settle` is called later, never before this returns.
   */
  wait(list: MeterList, cost: number, settle: (decision: LimitDecision) => void): void {
    const now = this.#parts.now()
    if (now < this.#pausedUntil) {
      this.#parts.schedule(() => settle('unavailable'))
      return
    }
    for (const { meter } of membersOf(list)) {
      if (meter.held < meter.costOf(cost)) meter.waited(meter.costOf(cost))
    }
    this.#wait({ list, cost, until: now + LONGEST_WAIT_MS, settle })
  }

  /** Gives back what is held of keys without use, and drops meters without use. */
  sweep(): void {
    const now = this.#parts.now()
    if (this.#swept === undefined) {
      this.#swept = this.#meters.values()
      this.#perSweep = Math.max(SWEPT, Math.ceil(this.#meters.size / SWEEPS))
    }
    for (let seen = 0; seen <= this.#perSweep; seen++) {
      const { done, value: meter } = this.#swept.next()
      if (done) {
        this.#swept = undefined
        break
      }
      meter.prune(now)
      if (meter.isIdle(now)) {
        if (meter.held > 0) meter.release()
        else if (meter.isBlank) {
          this.#low.delete(meter)
          this.#meters.drop(meter)
        }
      }
      if (meter.returned > 0) this.#low.add(meter)
    }
    this.flush()
  }

  /** Gives back all that is held, and holds nothing more. Requests that come later wait for a statement. */
  close(): void {
    this.#isClosing = true
    for (const meter of this.#meters.values()) {
      meter.prune(this.#parts.now())
      meter.release()
      if (meter.returned > 0) this.#low.add(meter)
    }
    this.flush()
  }

  /** Whether there is nothing to request or to give back. */
  get isSettled(): boolean {
    return this.#waiting.size === 0 && this.#low.size === 0 && this.#statements === 0
  }

  /** What was allotted to this process and not used: it holds it, or is about to give it back. */
  heldOf(subject: string, period: Period): number {
    const meter = this.#meters.find(subject, period)
    return meter ? meter.held + meter.returned : 0
  }

  get size(): number {
    return this.#meters.size
  }

  /** Sends what there is to send, and is not under way. */
  flush(): void {
    const now = this.#parts.now()
    while (this.#statements < MOST_STATEMENTS && now >= this.#pausedUntil) {
      const statement = this.#next(now)
      if (statement.isEmpty) return
      this.#send(statement)
    }
  }

  #wait(request: WaitingRequest): void {
    const waiting = this.#waiting.get(request.list)
    if (waiting) waiting.push(request)
    else this.#waiting.set(request.list, [request])
    this.#schedule()
  }

  #requestFor(meter: Meter): void {
    this.#low.add(meter)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#statements === MOST_STATEMENTS) return
    this.#isScheduled = true
    this.#parts.schedule(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  /** What requests wait for comes first. A meter of a statement under way goes into a later one. */
  #next(now: number): Statement {
    const statement = new Statement(now, this.#lateMs)
    for (const [list, requests] of this.#waiting) {
      if (statement.size >= MOST_METERS) return statement
      this.#meters.revive(list)
      if (membersOf(list).some(({ meter }) => meter.state === 'asked')) continue
      const rest = statement.demand(list, requests)
      if (rest.length > 0) this.#waiting.set(list, rest)
      else this.#waiting.delete(list)
    }
    for (const meter of this.#low) {
      if (statement.size >= MOST_METERS) return statement
      if (meter.state === 'asked') continue
      this.#low.delete(meter)
      statement.add(meter)
    }
    return statement
  }

  #send(statement: Statement): void {
    this.#statements++
    this.#parts.send(statement.batch(this.#holder), (answer) => {
      this.#statements--
      const now = this.#parts.now()
      if (answer instanceof Error) this.#failed(statement, now)
      else {
        this.#lateMs = nextLateMs(this.#lateMs, now - statement.sentAt)
        this.#answered(statement, answer, now)
      }
      this.flush()
    })
  }

  #answered(statement: Statement, answer: Answer, now: number): void {
    const { passed, others } = statement.apply(answer, now)
    for (const { settle } of passed) settle('passed')
    for (const request of others) this.#retry(request, now)
    for (const meter of statement.meters) {
      const isInUse = !this.#isClosing && now - meter.usedAt < 1000
      if (meter.returned > 0 || (isInUse && meter.isLow(now))) this.#low.add(meter)
    }
  }

  /** A request that its statement did not let pass. */
  #retry(request: WaitingRequest, now: number): void {
    const decision = this.take(request.list, request.cost, now)
    if (decision !== null) request.settle(decision)
    else if (now >= request.until) request.settle('unavailable')
    else this.#wait(request)
  }

  /** Meters may still use what they hold. What the failed statement may have allotted lapses. */
  #failed(statement: Statement, now: number): void {
    this.#pausedUntil = now + PAUSE_MS
    // The row of the former holder covers all that this process has, or may have been allotted.
    this.#holder = this.#parts.newHolder()
    const waiting = [...statement.failed(now), ...[...this.#waiting.values()].flat()]
    this.#waiting.clear()
    for (const { settle } of waiting) settle('unavailable')
  }
}

/** Four times the usual duration of a statement, so that what it allots is rarely too late. */
function nextLateMs(lateMs: number, tookMs: number): number {
  const wanted = tookMs * 4
  const next = wanted > lateMs ? wanted : lateMs - Math.ceil((lateMs - wanted) / 10)
  return Math.min(LONGEST_LATE_MS, Math.max(SHORTEST_LATE_MS, Math.ceil(next)))
}
