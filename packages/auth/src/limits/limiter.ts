/**
 * Decides whether a request passes the limits and the quota of its key. Where this process holds an
 * allowance, the request is decided at once. Otherwise it waits for the next statement, which
 * requests the allowances of many keys together. There is no I/O here: statements, clock and event
 * loop are passed in.
 */
import type { Rule } from '../tables/allowance-terms.ts'
import { AllowanceQueue, type AllowanceQueueParts } from './allowance-queue.ts'
import { idleMsOf } from './lease.ts'
import { HeldRequests } from './held-requests.ts'
import type { Meter } from './meter.ts'
import { MeterRegistry, metersOf, type MeterList } from './meter-registry.ts'
import {
  costOf,
  WaitingRequests,
  type LimitDecision,
  type WaitingRequest,
} from './waiting-requests.ts'

const LONGEST_WAIT_MS = 2000
/** A request that is held for longer takes too much from keys with a lower limit that share the count. */
const LONGEST_HOLD_MS = 500
/** How many meters each sweep checks at least. */
const SWEPT = 2000
/** All are checked within as many sweeps: half a minute. */
const SWEEPS = 60

export interface LimiterParts extends AllowanceQueueParts {
  /** Runs the function after that many milliseconds. */
  runAfter: (ms: number, run: () => void) => void
}

export class Limiter {
  #parts: LimiterParts
  #meters = new MeterRegistry()
  #waiting = new WaitingRequests()
  #held: HeldRequests
  #queue: AllowanceQueue
  #swept: Iterator<Meter> | undefined
  /** How many meters each sweep checks, until it has checked all. */
  #perSweep = SWEPT
  /** Meters with allowances for requests that were refused by another limit: for the next sweep. */
  #unspent = new Set<Meter>()

  constructor(parts: LimiterParts) {
    this.#parts = parts
    this.#held = new HeldRequests(parts.runAfter)
    this.#queue = new AllowanceQueue(parts, {
      waitingFor: (meter) => this.#waiting.of(meter),
      answered: (meters, now) => this.#answered(meters, now),
      failed: (meters) => this.#failed(meters),
    })
  }

  /** The meters for the rules of one key, `null` without any. */
  listOf(rules: readonly Rule[], quota: Rule | null): MeterList | null {
    return this.#meters.listOf(rules, quota, this.#parts.now())
  }

  /**
   * Decides at once, or returns `null`: then the request must `wait`. `cost` is what it takes of
   * the quota.
   */
  take(list: MeterList, cost: number, now = this.#parts.now()): LimitDecision | null {
    const decision = this.#take(list, cost, now)
    if (decision === null) return null
    if (decision !== 'passed') {
      if (decision.isFull) return decision
      const until = now + LONGEST_HOLD_MS
      return this.#holdBy(list, { cost, until, now }) === null ? decision : null
    }
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      if (one.meter.isLow(now)) this.#queue.add(one.meter)
      else if (one.meter.isToRenew(now)) this.#queue.addForLater(one.meter)
    }
    return decision
  }

  /**
   * To be called after `take` returned `null`. `settle` is called later, never before this returns.
   */
  wait(list: MeterList, cost: number, settle: (decision: LimitDecision) => void): void {
    const now = this.#parts.now()
    if (this.#queue.isPaused(now)) {
      this.#parts.schedule(() => settle('unavailable'))
      return
    }
    const heldUntil = now + LONGEST_HOLD_MS
    const request = { list, cost, until: now + LONGEST_WAIT_MS, heldUntil, settle }
    if (this.#hold(request, now)) return
    for (const meter of metersOf(list)) meter.missed(costOf(meter, cost))
    this.#waitForLacking(request)
  }

  /** Gives back allowances of keys whose requests did not pass recently, and drops meters without use. */
  sweep(): void {
    const now = this.#parts.now()
    this.#queue.flush()
    for (const meter of this.#unspent) {
      meter.prune(now)
      if (meter.hasReturns) this.#queue.add(meter)
      if (!meter.hasUnspent) this.#unspent.delete(meter)
    }
    if (this.#swept === undefined) {
      this.#swept = this.#meters.values()
      this.#perSweep = Math.max(SWEPT, Math.ceil(this.#meters.size / SWEEPS))
    }
    for (let seen = 0; seen <= this.#perSweep; seen++) {
      const { done, value: meter } = this.#swept.next()
      if (done) {
        this.#swept = undefined
        return
      }
      meter.prune(now)
      meter.releaseUnused(now)
      const isIdle = now - meter.usedAt > idleMsOf(meter.windowMs)
      if (isIdle && !meter.hasUnspent && !this.#waiting.has(meter)) {
        if (meter.isBlank(now)) this.#meters.drop(meter)
        else meter.release(now)
      }
      if (meter.hasReturns) this.#queue.add(meter)
    }
  }

  /** Gives back all that is held. Requests that come later wait for a statement. */
  releaseAll(): void {
    const now = this.#parts.now()
    for (const meter of this.#meters.values()) {
      meter.prune(now)
      meter.release(now)
      if (meter.hasReturns) this.#queue.add(meter)
    }
    // Meters that were to be renewed later may have nothing to give back.
    this.#queue.flush()
  }

  /** Whether no meter has anything to request or to give back. */
  get isSettled(): boolean {
    return this.#queue.isSettled
  }

  get size(): number {
    return this.#meters.size
  }

  #take(list: MeterList, cost: number, now: number): 'passed' | Meter | null {
    let isLacking = false
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      const { meter, rule } = one
      if (meter.isDropped) {
        this.#meters.revive(list, now)
        return this.#take(list, cost, now)
      }
      if (meter.rule !== rule) meter.change(rule)
      const need = costOf(meter, cost)
      meter.prune(now)
      if (meter.isOver(need, now)) return meter
      if (!meter.holds(need)) isLacking = true
    }
    if (isLacking) return null
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      one.meter.take(costOf(one.meter, cost), now)
    }
    return 'passed'
  }

  /** Holds a request that is over its limits, if all of them grant again in a moment. */
  #hold(request: WaitingRequest, now: number): boolean {
    const { list, cost, heldUntil } = request
    const meter = this.#holdBy(list, { cost, until: heldUntil, now })
    if (meter === null) return false
    this.#held.add(meter, request, meter.grantsAgainAt - now, (requests) => {
      for (const one of requests) this.#retry(one, this.#parts.now())
    })
    return true
  }

  /**
   * Returns the limit that grants again last, of those that the request is over. Returns `null` where the
   * request is over none of them, and where a limit grants again after `until` or is full in this process.
   */
  #holdBy(
    list: MeterList,
    { cost, until, now }: { cost: number; until: number; now: number },
  ): Meter | null {
    let last: Meter | null = null
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      const { meter, rule } = one
      if (meter.rule !== rule) meter.change(rule)
      meter.prune(now)
      if (!meter.isOver(costOf(meter, cost), now)) continue
      const longestMs = Math.max(this.#queue.usualHoldMs, meter.lateMs)
      if (meter.isFull || meter.grantsAgainAt > Math.min(until, now + longestMs)) return null
      if (last === null || meter.grantsAgainAt > last.grantsAgainAt) last = meter
    }
    return last !== null && this.#held.hasRoomFor(last) ? last : null
  }

  #waitForLacking(request: WaitingRequest): void {
    const { list, cost } = request
    for (const meter of metersOf(list)) {
      if (meter.holds(costOf(meter, cost))) continue
      this.#waiting.add(meter, request)
      this.#queue.addAwaited(meter)
    }
  }

  #answered(meters: readonly Meter[], now: number): void {
    for (const request of this.#waiting.takeAll(meters)) this.#retry(request, now)
    for (const meter of meters) {
      meter.prune(now)
      if (meter.hasUnspent) this.#unspent.add(meter)
      const isInUse = meter.hasReturns || now - meter.usedAt < 1000
      if (isInUse && meter.isLow(now)) this.#queue.add(meter)
    }
  }

  #retry(request: WaitingRequest, now: number): void {
    if (request.settle === null) return
    const decision = this.#take(request.list, request.cost, now)
    if (decision === null) {
      const isLate = now >= request.until || this.#queue.isPaused(now)
      if (isLate) settle(request, 'unavailable')
      else this.#waitForLacking(request)
    } else if (decision === 'passed' || !this.#hold(request, now)) settle(request, decision)
  }

  #failed(meters: readonly Meter[]): void {
    const waiting = this.#waiting.takeAll(meters)
    for (const request of [...waiting, ...this.#waiting.takeNotRequested()]) {
      settle(request, 'unavailable')
    }
  }
}

function settle(request: WaitingRequest, decision: LimitDecision): void {
  const { settle } = request
  request.settle = null
  settle?.(decision)
}
