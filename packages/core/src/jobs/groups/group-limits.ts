/**
 * How many attempts of a group may be in flight: pure book-keeping.
 *
 * No group may fill a lane. A quick group may use three quarters of it: its slots free up within
 * milliseconds. A slow group may use a quarter, and as much as a quick one where
 * no other jobs wait. A group that has stopped answering may use an eighth; so may a group that has
 * not answered yet, or less where there are many of those. A group with an open circuit gets no
 * slot: its jobs wait aside, and a few at a time are claimed until an attempt succeeds.
 */
import type { Lane } from '../job.ts'
import { isQuick, isSilent, judge, newGroup, type Group } from './group-answers.ts'

/** How many jobs of a group one fetch may bring. */
export interface Allowed {
  /** Of any group at most. */
  share: number
  /** Of groups that `caps` does not name. */
  each: number
  caps: Record<string, number>
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

  /** A job of the group begins, whatever its cap: claims of jobs aside have their own limits. */
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
   * How many jobs of each group a fetch of this lane may bring, where `share` keeps room for others. `uncontended`:
   * no other jobs wait, so that a slow group may have as much as a quick one.
   */
  allow(lane: Lane, share: number, now: number, uncontended = false): Allowed {
    // As of one that has never answered. Once an attempt is in flight, its answers decide.
    const each = Math.min(share, this.#caps[lane].silent)
    const caps: Record<string, number> = {}
    for (const [name, group] of this.#active) {
      const most = Math.min(share, this.#roomOf(group, lane, now, uncontended))
      if (most !== each) caps[name] = most
    }
    return { share, each, caps }
  }

  /** Whether the free slots of the group are worth a fetch. */
  hasRoom(name: string, lane: Lane, now: number, uncontended = false): boolean {
    return this.#roomOf(this.#of(name) ?? newGroup(), lane, now, uncontended) > 0
  }

  /** Groups with attempts in flight that may have no more. */
  full(lane: Lane, now: number): string[] {
    return [...this.#active]
      .filter(([, group]) => group.inFlight >= this.#capOf(group, lane, now, false))
      .map(([name]) => name)
  }

  get size(): number {
    return this.#active.size + this.#idle.size
  }

  /** 0 also where few slots are free: few large portions cost less. */
  #roomOf(group: Group, lane: Lane, now: number, uncontended: boolean): number {
    const cap = this.#capOf(group, lane, now, uncontended)
    const left = cap - group.inFlight
    return left >= Math.max(1, Math.floor(cap / 4)) ? left : 0
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
