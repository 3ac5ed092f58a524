/**
 * How many jobs of a group may be in flight: pure book-keeping (a group is a webhook).
 *
 * No group gets all of a lane's window. A group that answers quickly gets most of it, since it gives
 * its places back within milliseconds; a slow one gets a quarter, and as much as a quick one where
 * nothing else waits; a group that has stopped answering gets an eighth, and so does one that has not
 * answered yet, or less where there are many of those. A group whose circuit is open (its last attempts failed) gets none: its
 * jobs are parked, and tried few at a time (see group-scheduler.ts) until one succeeds.
 */
import type { Lane } from '../job.ts'

interface Group {
  inFlight: number
  failuresInARow: number
  isOpen: boolean
  /** Mean time of its answers, in milliseconds; `undefined` before the first. */
  meanMs: number | undefined
  /** When one of its attempts ended last, or the first of those in flight began. */
  lastHeardAt: number
}

/** What a fetch may ask for. */
export interface Allowance {
  /** Jobs; 0: wait until an attempt ends. */
  limit: number
  /** Groups with an open circuit. */
  open: string[]
  /** Groups that have all the places they may have: the end of an attempt changes that. */
  capped: string[]
}

/** A group that takes longer gives no places back by itself. */
const QUICK_MS = 50
/** A group that is not heard of for so many times what it takes has stopped answering. */
const SILENT_AFTER_MEANS = 4
const FAILURES_TO_OPEN = 10
/** A failure that held its place for so long counts as several: others have waited for it. */
const LONG_FAILURE_MS = 1000
const LONG_FAILURE_COUNTS = 5
const WEIGHT_OF_ONE = 0.1
/** Groups with nothing in flight of which so many are remembered; then the longest idle is forgotten. */
const MOST_IDLE = 10_000

export class Fairness {
  #caps: Record<Lane, Caps>
  /** Attempts in flight of groups that have not answered yet. */
  #unknownInFlight = 0
  #active = new Map<string, Group>()
  #idle = new Map<string, Group>()

  /** `windows`: how many attempts each lane may have in flight. */
  constructor(windows: Record<Lane, number>) {
    this.#caps = { fresh: capsOf(windows.fresh), slow: capsOf(windows.slow) }
  }

  /** Whether a job that a fetch has brought may begin: nothing holds a group back within one fetch. */
  admit(name: string | null, lane: Lane, now: number, uncontended = false): boolean {
    if (name === null) return true
    if (this.inFlightOf(name) >= this.capOf(name, lane, now, uncontended)) return false
    this.begin(name, now)
    return true
  }

  /** A job of the group begins, whatever its cap: whoever claimed it has counted already. */
  begin(name: string, now: number): void {
    const group = this.#of(name) ?? newGroup()
    if (group.inFlight === 0) {
      group.lastHeardAt = now
      this.#idle.delete(name)
      this.#active.set(name, group)
    }
    group.inFlight++
    if (group.meanMs === undefined) this.#unknownInFlight++
  }

  /**
   * Says what the outcome changed in the group's circuit. `null` stands for an outcome that says
   * nothing about the group.
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
    group.lastHeardAt = now
    if (succeeded !== null) judge(group, succeeded, tookMs)
    if (group.meanMs === undefined) this.#unknownInFlight += group.inFlight
    if (group.inFlight === 0) this.#rest(name, group)
    if (group.isOpen === wasOpen) return undefined
    return group.isOpen ? 'opened' : 'closed'
  }

  /** What another process has found out about the group. */
  learn(name: string, isOpen: boolean): void {
    const known = this.#of(name)
    if (!known && !isOpen) return
    const group = known ?? newGroup()
    if (!known) this.#idle.set(name, group)
    if (group.isOpen === isOpen) return
    group.isOpen = isOpen
    // Nothing is known of it but that it does not fail any more, or fails now.
    group.failuresInARow = 0
  }

  isOpen(name: string): boolean {
    return this.#of(name)?.isOpen ?? false
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
   * How much a fetch in this lane may bring, and of which groups. `uncontended`: nothing else waits,
   * so that a slow group may have as much as a quick one.
   */
  allow(lane: Lane, room: number, now: number, uncontended = false): Allowance {
    const allowance: Allowance = { limit: room, open: [], capped: [] }
    for (const [name, group] of this.#active) {
      if (group.isOpen) {
        allowance.open.push(name)
        continue
      }
      const cap = this.#capOf(group, lane, now, uncontended)
      const left = cap - group.inFlight
      // The least of its places that a fetch is worth.
      const portion = Math.max(1, Math.floor(cap / 4))
      if (isQuick(group, now)) {
        allowance.limit = Math.min(allowance.limit, left >= halfOf(cap) ? left : 0)
      } else if (left < portion) allowance.capped.push(name)
      else if (group.inFlight >= portion) allowance.limit = Math.min(allowance.limit, left)
    }
    for (const [name, { isOpen }] of this.#idle) if (isOpen) allowance.open.push(name)
    return allowance
  }

  /** The groups that fill most of a lane's window, and answer quickly: a fetch waits for them. */
  dominant(lane: Lane, now: number): string[] {
    const { quick } = this.#caps[lane]
    return [...this.#active]
      .filter(([, group]) => isQuick(group, now) && group.inFlight > quick / 4)
      .map(([name]) => name)
  }

  /** How many groups are remembered. */
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

  /** The more places are held by groups that have not answered, the fewer each of them may have. */
  #unknownCapOf({ inFlight }: Group, { window, silent, unknown }: Caps): number {
    const others = this.#unknownInFlight - inFlight
    if (others < window / 4) return silent
    return others < window / 2 ? unknown : 1
  }

  #of(name: string): Group | undefined {
    return this.#active.get(name) ?? this.#idle.get(name)
  }

  #rest(name: string, group: Group): void {
    this.#active.delete(name)
    this.#idle.set(name, group)
    if (this.#idle.size <= MOST_IDLE) return
    const [longestIdle] = this.#idle.keys()
    if (longestIdle !== undefined) this.#idle.delete(longestIdle)
  }
}

const newGroup = (): Group => ({
  inFlight: 0,
  failuresInARow: 0,
  isOpen: false,
  meanMs: undefined,
  lastHeardAt: 0,
})

/** Attempts in flight of one group. */
interface Caps {
  window: number
  quick: number
  slow: number
  silent: number
  unknown: number
}

function capsOf(window: number): Caps {
  return {
    window,
    quick: Math.max(1, Math.floor((window * 3) / 4)),
    slow: Math.max(1, Math.floor(window / 4)),
    silent: Math.max(1, Math.floor(window / 8)),
    // A hundred endpoints that hang from the start do not fill a window of 192.
    unknown: Math.max(1, Math.floor(window / 48)),
  }
}

/** What a quick group has given back before it is worth a fetch: few large ones cost less. */
const halfOf = (cap: number): number => Math.max(1, Math.floor(cap / 2))

function judge(group: Group, succeeded: boolean, tookMs: number): void {
  group.failuresInARow = succeeded ? 0 : group.failuresInARow + weightOf(group, tookMs)
  if (succeeded) {
    group.meanMs ??= tookMs
    group.meanMs += (tookMs - group.meanMs) * WEIGHT_OF_ONE
    group.isOpen = false
  } else if (group.failuresInARow >= FAILURES_TO_OPEN) group.isOpen = true
}

/** A group that lets attempts wait and has never answered is opened at once. */
function weightOf({ meanMs }: Group, tookMs: number): number {
  if (tookMs < LONG_FAILURE_MS) return 1
  return meanMs === undefined ? FAILURES_TO_OPEN : LONG_FAILURE_COUNTS
}

const isQuick = ({ meanMs, lastHeardAt }: Group, now: number): boolean =>
  meanMs !== undefined && meanMs < QUICK_MS && now - lastHeardAt < QUICK_MS

const isSilent = ({ lastHeardAt }: Group, meanMs: number, now: number): boolean =>
  now - lastHeardAt > Math.max(QUICK_MS, SILENT_AFTER_MEANS * meanMs)
