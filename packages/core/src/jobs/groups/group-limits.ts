/**
 * How many attempts of a group may be in flight: pure book-keeping.
 *
 * No group may fill a lane. A quick group may use three quarters of it: its slots free up within
 * milliseconds, so that at its cap the pump waits instead of excluding it (an exclusion makes
 * Postgres scan its whole backlog). A slow group may use a quarter, and as much as a quick one where
 * no other jobs wait. A group that has stopped answering may use an eighth; so may a group that has
 * not answered yet, or less where there are many of those. A group with an open circuit gets no
 * slot: its jobs are parked, and a few at a time are claimed until an attempt succeeds.
 */
import type { Lane } from '../job.ts'
import { isQuick, isSilent, judge, newGroup, type Group } from './group-answers.ts'

/** What one fetch may bring. */
export interface FetchLimits {
  /** Jobs; 0: wait until an attempt ends. */
  limit: number
  /** Groups that have all the slots that they may have, until an attempt of theirs ends. */
  capped: string[]
}

/** How many idle groups are remembered. Beyond it, the group that was idle longest is dropped. */
const MOST_IDLE = 10_000

export class GroupLimits {
  #caps: Record<Lane, Caps>
  /** Attempts in flight of groups that have not answered yet. */
  #unknownInFlight = 0
  #active = new Map<string, Group>()
  #idle = new Map<string, Group>()

  /** `windows`: how many attempts each lane may have in flight. */
  constructor(windows: Record<Lane, number>) {
    this.#caps = { first: capsOf(windows.first), retry: capsOf(windows.retry) }
  }

  /** Whether a fetched job may begin: one fetch may bring more of a group than its cap. */
  admit(name: string | null, lane: Lane, now: number, uncontended = false): boolean {
    if (name === null) return true
    if (this.inFlightOf(name) >= this.capOf(name, lane, now, uncontended)) return false
    this.begin(name, now)
    return true
  }

  /** A job of the group begins, whatever its cap: claims of parked jobs have their own limits. */
  begin(name: string, now: number): void {
    const group = this.#of(name) ?? newGroup()
    if (group.inFlight === 0) {
      group.lastProgressAt = now
      this.#idle.delete(name)
      this.#active.set(name, group)
    }
    group.inFlight++
    if (group.meanMs === undefined) this.#unknownInFlight++
  }

  /**
   * Returns what the outcome has changed in the group's circuit. `succeeded` is `null` where the
   * outcome is no evidence about the receiver.
   */
  ended(
    name: string,
    succeeded: boolean | null,
    tookMs: number,
    now: number,
  ): 'opened' | 'closed' | undefined {
    const group = this.#active.get(name)
    if (!group) return undefined
    const wasOpen = group.isOpen
    if (group.meanMs === undefined) this.#unknownInFlight -= group.inFlight
    group.inFlight--
    group.lastProgressAt = now
    if (succeeded !== null) judge(group, succeeded, tookMs)
    if (group.meanMs === undefined) this.#unknownInFlight += group.inFlight
    if (group.inFlight === 0) this.#toIdle(name, group)
    if (group.isOpen === wasOpen) return undefined
    return group.isOpen ? 'opened' : 'closed'
  }

  /** Applies the state of the circuit that another process has written. */
  setCircuit(name: string, isOpen: boolean): void {
    const known = this.#of(name)
    if (!known && !isOpen) return
    const group = known ?? newGroup()
    if (!known) this.#idle.set(name, group)
    if (group.isOpen === isOpen) return
    group.isOpen = isOpen
    group.failuresInARow = 0
  }

  isOpen(name: string): boolean {
    return this.#of(name)?.isOpen ?? false
  }

  /** Groups with an open circuit. */
  open(): string[] {
    const all = [...this.#active, ...this.#idle]
    return all.filter(([, { isOpen }]) => isOpen).map(([name]) => name)
  }

  inFlightOf(name: string): number {
    return this.#active.get(name)?.inFlight ?? 0
  }

  /** Attempts in flight of all groups whose circuit is open. */
  openInFlight(): number {
    let sum = 0
    for (const group of this.#active.values()) if (group.isOpen) sum += group.inFlight
    return sum
  }

  capOf(name: string, lane: Lane, now: number, uncontended = false): number {
    const group = this.#of(name) ?? newGroup()
    return this.#capOf(group, lane, now, uncontended)
  }

  /**
   * How much a fetch of this lane may bring, and of which groups. `uncontended`: no other jobs wait,
   * so that a slow group may have as much as a quick one.
   */
  allow(lane: Lane, room: number, now: number, uncontended = false): FetchLimits {
    const limits: FetchLimits = { limit: room, capped: [] }
    for (const [name, group] of this.#active) {
      if (group.isOpen) continue
      const cap = this.#capOf(group, lane, now, uncontended)
      const left = cap - group.inFlight
      // Fewer free slots are not worth a fetch.
      const portion = Math.max(1, Math.floor(cap / 4))
      if (isQuick(group, now)) {
        limits.limit = Math.min(limits.limit, left >= halfOf(cap) ? left : 0)
      } else if (left < portion) limits.capped.push(name)
      else if (group.inFlight >= portion) limits.limit = Math.min(limits.limit, left)
    }
    return limits
  }

  /** Groups with attempts in flight that may have no more. */
  full(lane: Lane, now: number): string[] {
    return [...this.#active]
      .filter(([, group]) => group.inFlight >= this.#capOf(group, lane, now, false))
      .map(([name]) => name)
  }

  /** Quick groups that use most of their cap in a lane. */
  dominant(lane: Lane, now: number): string[] {
    const { quick } = this.#caps[lane]
    return [...this.#active]
      .filter(([, group]) => isQuick(group, now) && group.inFlight > quick / 4)
      .map(([name]) => name)
  }

  get size(): number {
    return this.#active.size + this.#idle.size
  }

  #capOf(group: Group, lane: Lane, now: number, uncontended: boolean): number {
    const caps = this.#caps[lane]
    if (group.isOpen) return 0
    if (isQuick(group, now)) return caps.quick
    if (group.meanMs === undefined) return this.#unknownCapOf(group, caps)
    if (isSilent(group, group.meanMs, now)) return caps.silent
    return uncontended ? caps.quick : caps.slow
  }

  /** The more slots are in use by groups that have not answered, the fewer each of them may have. */
  #unknownCapOf({ inFlight }: Group, { window, silent, unknown }: Caps): number {
    const others = this.#unknownInFlight - inFlight
    if (others < window / 4) return silent
    return others < window / 2 ? unknown : 1
  }

  #of(name: string): Group | undefined {
    return this.#active.get(name) ?? this.#idle.get(name)
  }

  #toIdle(name: string, group: Group): void {
    this.#active.delete(name)
    this.#idle.set(name, group)
    if (this.#idle.size <= MOST_IDLE) return
    const [longestIdle] = this.#idle.keys()
    if (longestIdle !== undefined) this.#idle.delete(longestIdle)
  }
}

/** How many attempts of one group a lane may have in flight, by the answers of the group so far. */
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

/**
 * How many slots of a quick group must be free before it is fetched again: few large fetches cost
 * less.
 */
const halfOf = (cap: number): number => Math.max(1, Math.floor(cap / 2))
