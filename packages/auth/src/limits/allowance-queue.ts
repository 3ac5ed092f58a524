/**
 * Requests allowances from Postgres, with one statement for all meters that need them at a moment.
 * No I/O: statements, clock and event loop are passed in.
 */
import type { AllowanceRequest, Answer, Batch } from '../tables/allowance-terms.ts'
import type { Meter } from './meter.ts'
import type { Sending } from './sending.ts'
import type { Waiting } from './waiting-requests.ts'

export interface AllowanceQueueParts {
  /** Answers in the order of the requests. Calls `done` once. */
  send: (batch: Batch, done: (answers: readonly Answer[] | Error) => void) => void
  /** Milliseconds of a monotonic clock. */
  now: () => number
  /** Runs the function after the current synchronous work. */
  schedule: (run: () => void) => void
  newHolder: () => string
}

export interface AllowanceQueueEvents {
  /** What requests wait for. */
  waitingFor: (meter: Meter) => Waiting | null
  /** The meters have the answer. */
  answered: (meters: readonly Meter[], now: number) => void
  failed: (meters: readonly Meter[]) => void
}

const MAX_REQUESTS = 200
const MAX_STATEMENTS = 2
/** How long no other statement is sent after a failed one. */
const PAUSE_MS = 100
/** The first statements of a process take longer than later ones. */
const FIRST_LATE_MS = 50
const SHORTEST_LATE_MS = 5
const LONGEST_LATE_MS = 2000

export class AllowanceQueue {
  #parts: AllowanceQueueParts
  #events: AllowanceQueueEvents
  /** Requests wait for these meters: they go into a statement before the others. */
  #awaited = new Set<Meter>()
  /** These meters give allowances back, or get some ahead of need. */
  #others = new Set<Meter>()
  #isScheduled = false
  #statements = 0
  #holder: string
  #lateMs = FIRST_LATE_MS
  #pausedUntil = -Infinity

  constructor(parts: AllowanceQueueParts, events: AllowanceQueueEvents) {
    this.#parts = parts
    this.#events = events
    this.#holder = parts.newHolder()
  }

  /** Adds a meter that requests wait for. */
  addAwaited(meter: Meter): void {
    this.#others.delete(meter)
    this.#awaited.add(meter)
    this.#scheduleFlush()
  }

  /** Adds a meter with allowances to give back, or to get ahead of need. */
  add(meter: Meter): void {
    if (!this.#awaited.has(meter)) this.#others.add(meter)
    this.#scheduleFlush()
  }

  /** Adds a meter whose allowances are to be renewed: with the next statement or the next `flush`. */
  addForLater(meter: Meter): void {
    if (!this.#awaited.has(meter)) this.#others.add(meter)
  }

  #scheduleFlush(): void {
    if (this.#isScheduled || this.#statements === MAX_STATEMENTS) return
    this.#isScheduled = true
    this.#parts.schedule(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  /** Sends the statements that a pause has delayed, and those for later. */
  flush(): void {
    if (this.#isEmpty) return
    const now = this.#parts.now()
    if (this.isPaused(now)) return
    while (this.#statements < MAX_STATEMENTS) {
      const meters = this.#nextMeters()
      if (meters.length === 0) return
      this.#send(meters, now)
    }
  }

  /**
   * For how long a request may be held at least: what other processes were granted leaves the window of
   * Postgres so much later than theirs.
   */
  get usualHoldMs(): number {
    return Math.max(FIRST_LATE_MS, this.#lateMs)
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntil
  }

  /** Whether no meter has anything to request or to give back. */
  get isSettled(): boolean {
    return this.#isEmpty && this.#statements === 0
  }

  get #isEmpty(): boolean {
    return this.#awaited.size === 0 && this.#others.size === 0
  }

  /** A meter of a statement under way goes into a later statement. */
  #nextMeters(): Meter[] {
    const next: Meter[] = []
    for (const meters of [this.#awaited, this.#others]) {
      for (const meter of meters) {
        if (next.length === MAX_REQUESTS) return next
        if (meter.isRequested) continue
        meters.delete(meter)
        next.push(meter)
      }
    }
    return next
  }

  #send(meters: readonly Meter[], sentAt: number): void {
    const [holder, lateMs] = [this.#holder, this.#lateMs]
    const requests = meters.map((meter) => {
      meter.prune(sentAt)
      return meter.request(this.#events.waitingFor(meter), holder, sentAt)
    })
    this.#statements++
    this.#parts.send({ holder, lateMs, requests }, (answers) => {
      this.#statements--
      const now = this.#parts.now()
      if (answers instanceof Error) this.#failed(meters, now)
      else {
        this.#lateMs = nextLateMs(this.#lateMs, now - sentAt)
        this.#answered(meters, requests, answers, { sentAt, lateMs, holder, now })
      }
      this.flush()
    })
  }

  /** @throws what an answer causes that is not one for each request */
  #answered(
    meters: readonly Meter[],
    requests: readonly AllowanceRequest[],
    answers: readonly Answer[],
    sending: Sending,
  ): void {
    try {
      for (const [index, meter] of meters.entries()) {
        meter.apply(requests[index]!, answers[index]!, sending)
      }
    } catch (error) {
      // Else the requests would wait, and the limits count as asked for, for ever.
      this.#failed(meters, sending.now)
      throw error
    }
    this.#events.answered(meters, sending.now)
  }

  /** The meters may still use what they held. What the failed statement may have granted lapses. */
  #failed(meters: readonly Meter[], now: number): void {
    this.#pausedUntil = now + PAUSE_MS
    // The row of the former holder covers all that this process has, or may have been granted.
    this.#holder = this.#parts.newHolder()
    for (const meter of meters) meter.failed()
    this.#events.failed(meters)
  }
}

/** Four times the usual duration of a statement, so that what it grants is rarely too late. */
function nextLateMs(lateMs: number, tookMs: number): number {
  const wanted = tookMs * 4
  const next = wanted > lateMs ? wanted : lateMs * 0.9 + wanted * 0.1
  return Math.min(LONGEST_LATE_MS, Math.max(SHORTEST_LATE_MS, next))
}
