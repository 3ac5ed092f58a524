/**
 * Decides whether a request passes the limits and the quota of its key. One that finds an allowance
 * held is decided at once; another one waits for the next statement, which asks for all keys that
 * need some at that moment. No I/O: statements, clock and event loop are passed in.
 */
import type { Answer, Ask, Meter, Rule } from './meter.ts'
import { MeterRegistry, type MeterSet } from './meter-registry.ts'

export interface Batch {
  /** Names the process; another one after a statement that failed. */
  holder: string
  /** What is granted to waiting requests is used within that time, or given back. */
  lateMs: number
  asks: readonly Ask[]
}

export interface LimiterParts {
  /** Answers in the order of the asks. Calls `done` once. */
  send: (batch: Batch, done: (answers: readonly Answer[] | Error) => void) => void
  /** Milliseconds of a monotonic clock. */
  now: () => number
  /** Runs it once what is at hand is done. */
  schedule: (run: () => void) => void
  newHolder: () => string
}

/** A meter: the request is over it. */
export type Verdict = 'passed' | 'unavailable' | Meter

interface Waiter {
  readonly set: MeterSet
  readonly cost: number
  readonly until: number
  settle: ((verdict: Verdict) => void) | null
}

const MAX_ASKS = 200
const MAX_STATEMENTS = 2
const LONGEST_WAIT_MS = 2000
/** After a statement that failed no other is sent for so long. */
const PAUSE_MS = 100
/** The first statements of a process take longer than later ones. */
const FIRST_LATE_MS = 50
const SHORTEST_LATE_MS = 5
const LONGEST_LATE_MS = 2000
/** How many meters each sweep looks at: its cost does not grow with their number. */
const SWEPT = 2000

export class Limiter {
  #parts: LimiterParts
  #meters = new MeterRegistry()
  /** Meters to ask for, and the requests that wait for each. */
  #queue = new Set<Meter>()
  #waiting = new Map<Meter, Set<Waiter>>()
  #isScheduled = false
  #statements = 0
  #holder: string
  #lateMs = FIRST_LATE_MS
  #pausedUntil = -Infinity
  #swept: Iterator<Meter> | undefined
  /** Meters with allowances for requests that were refused by another limit: for the next sweep. */
  #unspent = new Set<Meter>()

  constructor(parts: LimiterParts) {
    this.#parts = parts
    this.#holder = parts.newHolder()
  }

  /** The rules of one key; of two for one period the stricter one holds. */
  setOf(rules: readonly Rule[], quota: Rule | null): MeterSet {
    return this.#meters.setOf(rules, quota, this.#parts.now())
  }

  /** At once; `null`: the request must `wait`. `cost`: what it takes of the quota. */
  take(set: MeterSet, cost: number): Verdict | null {
    const now = this.#parts.now()
    const verdict = this.#take(set, cost, now)
    if (verdict !== 'passed') return verdict
    for (const meter of set.meters) if (meter.isLow(now)) this.#enqueue(meter)
    return verdict
  }

  /** After `take` returned `null`. `settle` is called later, never before this returns. */
  wait(set: MeterSet, cost: number, settle: (verdict: Verdict) => void): void {
    const now = this.#parts.now()
    if (now < this.#pausedUntil) {
      this.#parts.schedule(() => settle('unavailable'))
      return
    }
    const waiter: Waiter = { set, cost, until: now + LONGEST_WAIT_MS, settle }
    for (const meter of set.meters) meter.missed(costOf(meter, set, cost))
    this.#waitForLacking(waiter)
  }

  /** Gives back what keys hold that were not used lately, and forgets those that nobody uses. */
  sweep(): void {
    const now = this.#parts.now()
    if (this.#queue.size > 0) this.#flush()
    for (const meter of this.#unspent) {
      meter.prune(now)
      if (meter.hasReturns) this.#enqueue(meter)
      if (!meter.hasUnspent) this.#unspent.delete(meter)
    }
    this.#swept ??= this.#meters.values()
    for (let seen = 0; seen < SWEPT; seen++) {
      const { done, value: meter } = this.#swept.next()
      if (done) {
        this.#swept = undefined
        return
      }
      meter.prune(now)
      if (now - meter.usedAt > idleMs(meter)) {
        if (meter.isBlank(now)) this.#meters.drop(meter)
        else meter.release(now)
      }
      if (meter.hasReturns) this.#enqueue(meter)
    }
  }

  /** Gives back all that is held. Requests that come later wait for a statement. */
  releaseAll(): void {
    const now = this.#parts.now()
    for (const meter of this.#meters.values()) {
      meter.prune(now)
      meter.release(now)
      if (meter.hasReturns) this.#enqueue(meter)
    }
  }

  /** Whether nothing is left to be asked or given back. */
  get isSettled(): boolean {
    return this.#queue.size === 0 && this.#statements === 0
  }

  get size(): number {
    return this.#meters.size
  }

  #take(set: MeterSet, cost: number, now: number): Verdict | null {
    const { meters, rules, quota } = set
    let isLacking = false
    for (let index = 0; index < meters.length; index++) {
      const meter = meters[index] as Meter
      const rule = rules[index] as Rule
      if (meter.isDropped) {
        this.#meters.revive(set, now)
        return this.#take(set, cost, now)
      }
      if (meter.rule !== rule) meter.change(rule)
      const need = meter === quota ? cost : 1
      meter.usedAt = now
      meter.prune(now)
      if (meter.isOver(need, now)) return meter
      if (!meter.holds(need)) isLacking = true
    }
    if (isLacking) return null
    for (const meter of meters) meter.take(meter === quota ? cost : 1, now)
    return 'passed'
  }

  #waitForLacking(waiter: Waiter): void {
    const { set, cost } = waiter
    for (const meter of set.meters) {
      if (meter.holds(costOf(meter, set, cost))) continue
      const waiting = this.#waiting.get(meter)
      if (waiting) waiting.add(waiter)
      else this.#waiting.set(meter, new Set([waiter]))
      this.#enqueue(meter)
    }
  }

  #enqueue(meter: Meter): void {
    this.#queue.add(meter)
    if (this.#isScheduled || this.#statements === MAX_STATEMENTS) return
    this.#isScheduled = true
    this.#parts.schedule(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const now = this.#parts.now()
    if (now < this.#pausedUntil) return
    while (this.#statements < MAX_STATEMENTS) {
      const batch = this.#nextBatch()
      if (batch.length === 0) return
      this.#send(batch, now)
    }
  }

  /** One that is asked for already comes in the statement after that. */
  #nextBatch(): Meter[] {
    const batch: Meter[] = []
    for (const meter of this.#queue) {
      if (meter.isAsking) continue
      this.#queue.delete(meter)
      batch.push(meter)
      if (batch.length === MAX_ASKS) break
    }
    return batch
  }

  #send(batch: Meter[], sentAt: number): void {
    const [holder, lateMs] = [this.#holder, this.#lateMs]
    const asks = batch.map((meter) => {
      meter.prune(sentAt)
      return meter.ask(this.#waitedFor(meter), holder, sentAt)
    })
    this.#statements++
    this.#parts.send({ holder, lateMs, asks }, (answers) => {
      this.#statements--
      if (answers instanceof Error) this.#failed(batch)
      else this.#answered(batch, asks, answers, { sentAt, lateMs, holder })
      this.#flush()
    })
  }

  /** Of the requests of a key no more than its other limits can let through. */
  #waitedFor(meter: Meter): number {
    const left = new Map<MeterSet, number>()
    let sum = 0
    for (const { set, cost, settle: waits } of this.#waiting.get(meter) ?? []) {
      // Another limit has decided about it.
      if (waits === null) continue
      const room = left.get(set) ?? roomBeside(set, meter)
      if (room > 0) sum += costOf(meter, set, cost)
      left.set(set, room - 1)
    }
    return sum
  }

  #answered(
    batch: Meter[],
    asks: Ask[],
    answers: readonly Answer[],
    sending: { sentAt: number; lateMs: number; holder: string },
  ): void {
    const now = this.#parts.now()
    this.#learnLateness(now - sending.sentAt)
    for (const [index, meter] of batch.entries()) {
      meter.apply(asks[index] as Ask, answers[index] as Answer, { ...sending, now })
    }
    for (const waiter of this.#takeWaiters(batch)) this.#retry(waiter, now)
    for (const meter of batch) {
      meter.prune(now)
      if (meter.hasUnspent) this.#unspent.add(meter)
      if (meter.isLow(now) && (meter.hasReturns || now - meter.usedAt < 1000)) this.#enqueue(meter)
    }
  }

  /** Four times the usual duration of a statement, so that what it grants is rarely too late. */
  #learnLateness(tookMs: number): void {
    const wanted = tookMs * 4
    const next = wanted > this.#lateMs ? wanted : this.#lateMs * 0.9 + wanted * 0.1
    this.#lateMs = Math.min(LONGEST_LATE_MS, Math.max(SHORTEST_LATE_MS, next))
  }

  #retry(waiter: Waiter, now: number): void {
    if (waiter.settle === null) return
    const verdict = this.#take(waiter.set, waiter.cost, now)
    if (verdict !== null) settle(waiter, verdict)
    else if (now >= waiter.until) settle(waiter, 'unavailable')
    else this.#waitForLacking(waiter)
  }

  /** What they held stays theirs to use. What the statement may have granted lapses. */
  #failed(batch: Meter[]): void {
    this.#pausedUntil = this.#parts.now() + PAUSE_MS
    // What Postgres knows of the former holder covers all that this process has and may have.
    this.#holder = this.#parts.newHolder()
    for (const meter of batch) meter.failed()
    const unasked = [...this.#waiting.keys()].filter((meter) => !meter.isAsking)
    for (const waiter of this.#takeWaiters([...batch, ...unasked])) settle(waiter, 'unavailable')
  }

  /** In the order in which they came. */
  #takeWaiters(meters: Meter[]): Waiter[] {
    const waiters = new Set<Waiter>()
    for (const meter of meters) {
      for (const waiter of this.#waiting.get(meter) ?? []) waiters.add(waiter)
      this.#waiting.delete(meter)
    }
    return [...waiters].filter((waiter) => waiter.settle !== null)
  }
}

const costOf = (meter: Meter, set: MeterSet, cost: number): number =>
  meter === set.quota ? cost : 1

/** At least one: a request that waits is decided by the answer. */
const roomBeside = ({ meters }: MeterSet, beside: Meter): number =>
  Math.max(1, Math.min(...meters.map((meter) => (meter === beside ? Infinity : meter.room))))

/** How long a key may rest before others may have what it holds. */
const idleMs = ({ windowMs }: Meter): number =>
  windowMs === 0 ? 10_000 : Math.min(30_000, Math.max(1000, windowMs / 4))

function settle(waiter: Waiter, verdict: Verdict): void {
  const { settle: tell } = waiter
  waiter.settle = null
  tell?.(verdict)
}
