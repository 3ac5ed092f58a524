/**
 * How many attempts of a recipient may be in flight: pure book-keeping.
 *
 * No recipient may fill a lane. A quick recipient may use three quarters of it: its slots free up within
 * milliseconds. A slow recipient may use a quarter, and as much as a quick one where
 * no other jobs wait. A recipient that has stopped answering may use an eighth; so may a recipient that has
 * not answered yet, or less where there are many of those. A recipient with an open circuit gets no
 * slot: its jobs wait aside, and a few at a time are claimed until an attempt succeeds.
 */
import type { Lane } from '../job.ts'
import { isQuick, isSilent, judge, newAnswers, type Recipient } from './recipient-answers.ts'

/** How many jobs of a recipient one fetch may bring. */
export interface Allowed {
  /** Of any recipient at most. */
  share: number
  /** Of recipients that `caps` does not name. */
  each: number
  caps: Record<string, number>
}

/** How many idle recipients are remembered. Beyond it, the recipient that was idle longest is dropped. */
const MOST_IDLE = 10_000

export class RecipientLimits {
  #caps: Record<Lane, Caps>
  /** Attempts in flight of recipients that have not answered yet. */
  #unknownInFlight = 0
  #active = new Map<string, Recipient>()
  #idle = new Map<string, Recipient>()

  /** `windows`: how many attempts each lane may have in flight. */
  constructor(windows: Record<Lane, number>) {
    this.#caps = { first: capsOf(windows.first), retry: capsOf(windows.retry) }
  }

  /** Whether a fetched job may begin: one fetch may bring more of a recipient than its cap. */
  admit(name: string | null, lane: Lane, now: number, uncontended = false): boolean {
    if (name === null) return true
    if (this.inFlightOf(name) >= this.capOf(name, lane, now, uncontended)) return false
    this.begin(name, now)
    return true
  }

  /** A job of the recipient begins, whatever its cap: claims of jobs aside have their own limits. */
  begin(name: string, now: number): void {
    const recipient = this.#of(name) ?? newAnswers()
    if (recipient.inFlight === 0) {
      recipient.lastProgressAt = now
      this.#idle.delete(name)
      this.#active.set(name, recipient)
    }
    recipient.inFlight++
    if (recipient.meanMs === undefined) this.#unknownInFlight++
  }

  /**
   * Returns what the outcome has changed in the recipient's circuit. `succeeded` is `null` where the
   * outcome is no evidence about the receiver.
   */
  ended(
    name: string,
    succeeded: boolean | null,
    tookMs: number,
    now: number,
  ): 'opened' | 'closed' | undefined {
    const recipient = this.#active.get(name)
    if (!recipient) return undefined
    const wasOpen = recipient.isOpen
    if (recipient.meanMs === undefined) this.#unknownInFlight -= recipient.inFlight
    recipient.inFlight--
    recipient.lastProgressAt = now
    if (succeeded !== null) judge(recipient, succeeded, tookMs)
    if (recipient.meanMs === undefined) this.#unknownInFlight += recipient.inFlight
    if (recipient.inFlight === 0) this.#toIdle(name, recipient)
    if (recipient.isOpen === wasOpen) return undefined
    return recipient.isOpen ? 'opened' : 'closed'
  }

  /** Applies the state of the circuit that another process has written. */
  setCircuit(name: string, isOpen: boolean): void {
    const known = this.#of(name)
    if (!known && !isOpen) return
    const recipient = known ?? newAnswers()
    if (!known) this.#idle.set(name, recipient)
    if (recipient.isOpen === isOpen) return
    recipient.isOpen = isOpen
    recipient.failuresInARow = 0
  }

  isOpen(name: string): boolean {
    return this.#of(name)?.isOpen ?? false
  }

  /** Recipients with an open circuit. */
  open(): string[] {
    const all = [...this.#active, ...this.#idle]
    return all.filter(([, { isOpen }]) => isOpen).map(([name]) => name)
  }

  inFlightOf(name: string): number {
    return this.#active.get(name)?.inFlight ?? 0
  }

  /** Attempts in flight of all recipients whose circuit is open. */
  openInFlight(): number {
    let sum = 0
    for (const recipient of this.#active.values()) if (recipient.isOpen) sum += recipient.inFlight
    return sum
  }

  capOf(name: string, lane: Lane, now: number, uncontended = false): number {
    const recipient = this.#of(name) ?? newAnswers()
    return this.#capOf(recipient, lane, now, uncontended)
  }

  /**
   * How many jobs of each recipient a fetch of this lane may bring, where `share` keeps room for others. `uncontended`:
   * no other jobs wait, so that a slow recipient may have as much as a quick one.
   */
  allow(lane: Lane, share: number, now: number, uncontended = false): Allowed {
    // As of one that has never answered. Once an attempt is in flight, its answers decide.
    const each = Math.min(share, this.#caps[lane].silent)
    const caps: Record<string, number> = {}
    for (const [name, recipient] of this.#active) {
      const most = Math.min(share, this.#roomOf(recipient, lane, now, uncontended))
      if (most !== each) caps[name] = most
    }
    return { share, each, caps }
  }

  /** Whether the free slots of the recipient are worth a fetch. */
  hasRoom(name: string, lane: Lane, now: number, uncontended = false): boolean {
    return this.#roomOf(this.#of(name) ?? newAnswers(), lane, now, uncontended) > 0
  }

  /** Recipients with attempts in flight that may have no more. */
  full(lane: Lane, now: number): string[] {
    return [...this.#active]
      .filter(([, recipient]) => recipient.inFlight >= this.#capOf(recipient, lane, now, false))
      .map(([name]) => name)
  }

  get size(): number {
    return this.#active.size + this.#idle.size
  }

  /** 0 also where few slots are free: few large portions cost less. */
  #roomOf(recipient: Recipient, lane: Lane, now: number, uncontended: boolean): number {
    const cap = this.#capOf(recipient, lane, now, uncontended)
    const left = cap - recipient.inFlight
    return left >= Math.max(1, Math.floor(cap / 4)) ? left : 0
  }

  #capOf(recipient: Recipient, lane: Lane, now: number, uncontended: boolean): number {
    const caps = this.#caps[lane]
    if (recipient.isOpen) return 0
    if (isQuick(recipient, now)) return caps.quick
    if (recipient.meanMs === undefined) return this.#unknownCapOf(recipient, caps)
    if (isSilent(recipient, recipient.meanMs, now)) return caps.silent
    return uncontended ? caps.quick : caps.slow
  }

  /** The more slots are in use by recipients that have not answered, the fewer each of them may have. */
  #unknownCapOf({ inFlight }: Recipient, { window, silent, unknown }: Caps): number {
    const others = this.#unknownInFlight - inFlight
    if (others < window / 4) return silent
    return others < window / 2 ? unknown : 1
  }

  #of(name: string): Recipient | undefined {
    return this.#active.get(name) ?? this.#idle.get(name)
  }

  #toIdle(name: string, recipient: Recipient): void {
    this.#active.delete(name)
    this.#idle.set(name, recipient)
    if (this.#idle.size <= MOST_IDLE) return
    const [longestIdle] = this.#idle.keys()
    if (longestIdle !== undefined) this.#idle.delete(longestIdle)
  }
}

/** How many attempts of one recipient a lane may have in flight, by the answers of the recipient so far. */
interface Caps {
  window: number
  quick: number
  slow: number
  silent: number
  unknown: number
}

export function capsOf(window: number): Caps {
  return {
    window,
    quick: Math.max(1, Math.floor((window * 3) / 4)),
    slow: Math.max(1, Math.floor(window / 4)),
    silent: Math.max(1, Math.floor(window / 8)),
    // A hundred receivers that hang from the start do not fill a window of 192.
    unknown: Math.max(1, Math.floor(window / 48)),
  }
}
