/**
 * Who may have jobs fetched: pure book-keeping over the groups (a group is a webhook's endpoint).
 *
 * No group gets all of a lane's window. One that has shown itself quick gets most of it: it gives
 * its places back within moments, so at its cap the next fetch just waits; passing over its backlog
 * would cost a walk along all of it. One that answers slowly gets less, and as much where nobody
 * else waits. One that has not answered yet, or does not any more, gets little. One whose backlog
 * makes that walk long, or that keeps failing, is tripped: its backlog leaves the fresh lane, and is
 * done in the slow one, with a small cap where it fails, until it answers again.
 */
import type { Lane } from './job.ts'

interface Group {
  inFlight: number
  failuresInARow: number
  tripped: 'failing' | 'slow' | undefined
  trippedAt: number
  /** Mean time of its answers, in milliseconds; `undefined` before the first. */
  meanMs: number | undefined
  /** When one of its attempts ended last, or the first of those in flight began. */
  lastHeardAt: number
}

/** What a fetch may ask for. */
export interface Allowance {
  /** Jobs; 0: wait until an attempt ends. */
  limit: number
  /** Groups that have no business in this lane. */
  passedOver: string[]
  /** Groups that have all the places they may have: the end of an attempt changes that. */
  capped: string[]
}

/** A group that takes longer gives no places back by itself. */
const QUICK_MS = 50
/** A group that is not heard of for so many times what it takes has stopped answering. */
const PATIENCE = 4
const FAILURES_TO_TRIP = 10
/** A failure that held its place for so long counts as several: others have waited for it. */
const LONG_FAILURE_MS = 1000
const LONG_FAILURE_COUNTS = 5
/** A fetch that takes longer walks along the backlog of groups that it passes over. */
const LONG_WALK_MS = 20
/** After so long a group that was tripped for its slowness may try again: its backlog stays behind. */
const SLOW_FOR_MS = 5000
const WEIGHT_OF_ONE = 0.1
/** Groups with nothing in flight of which so many are remembered; then the longest idle is forgotten. */
const MOST_AT_REST = 10_000

export class Fairness {
  #caps: Record<Lane, Caps>
  #active = new Map<string, Group>()
  #resting = new Map<string, Group>()

  /** `windows`: how many attempts each lane may have in flight. */
  constructor(windows: Record<Lane, number>) {
    this.#caps = { fresh: capsOf(windows.fresh), slow: capsOf(windows.slow) }
  }

  /** Whether a job that a fetch has brought may begin: nothing holds a group back within one fetch. */
  admit(name: string | null, lane: Lane, now: number, generous = false): boolean {
    if (name === null) return true
    const group = this.#active.get(name) ?? this.#resting.get(name) ?? newGroup()
    if (group.inFlight === 0) {
      group.lastHeardAt = now
      this.#resting.delete(name)
      this.#active.set(name, group)
    }
    if (group.inFlight >= capOf(group, this.#caps[lane], now, generous)) return false
    group.inFlight++
    return true
  }

  /**
   * Says what the outcome changed: a group that was tripped by it, or has recovered through it.
   * `null` stands for an outcome that says nothing about the group.
   */
  ended(
    name: string | null,
    succeeded: boolean | null,
    tookMs: number,
    now: number,
  ): 'tripped' | 'recovered' | undefined {
    const group = name === null ? undefined : this.#active.get(name)
    if (name === null || !group) return undefined
    group.inFlight--
    group.lastHeardAt = now
    const before = group.tripped
    if (succeeded !== null) judge(group, succeeded, tookMs)
    if (group.inFlight === 0) this.#rest(name, group)
    if (before === undefined && group.tripped !== undefined) return 'tripped'
    return before !== undefined && group.tripped === undefined ? 'recovered' : undefined
  }

  /**
   * How much a fetch in this lane may bring, and of whom. `generous`: nobody else waits, so who
   * answers may have as much as the quick.
   */
  allow(lane: Lane, room: number, now: number, generous = false): Allowance {
    const caps = this.#caps[lane]
    const allowance: Allowance = { limit: room, passedOver: [], capped: [] }
    const atMost = (jobs: number) => {
      allowance.limit = Math.min(allowance.limit, jobs)
    }
    for (const [name, group] of this.#active) {
      if (group.tripped === 'slow' && now - group.trippedAt > SLOW_FOR_MS) group.tripped = undefined
      if (lane === 'fresh' && group.tripped) {
        allowance.passedOver.push(name)
        continue
      }
      const cap = capOf(group, caps, now, generous)
      const left = cap - group.inFlight
      // The least of its places that a fetch is worth.
      const portion = Math.max(1, Math.floor(cap / 4))
      if (group.tripped === 'failing') {
        atMost(caps.small)
        if (left <= 0) allowance.capped.push(name)
      } else if (isQuick(group, now)) atMost(left >= halfOf(cap) ? left : 0)
      else if (left < portion) allowance.capped.push(name)
      else if (group.inFlight >= portion) atMost(left)
    }
    for (const [name, { tripped }] of this.#resting) {
      if (!tripped) continue
      if (lane === 'fresh') allowance.passedOver.push(name)
      else atMost(caps.small)
    }
    return allowance
  }

  /** Trips the capped groups of a fetch that took long, and says which. */
  walked(capped: readonly string[], tookMs: number, now: number): string[] {
    if (tookMs < LONG_WALK_MS) return []
    return capped.filter((name) => {
      const group = this.#active.get(name)
      if (!group || group.tripped) return false
      group.tripped = 'slow'
      group.trippedAt = now
      return true
    })
  }

  tripped(): string[] {
    return [...this.#active, ...this.#resting]
      .filter(([, group]) => group.tripped)
      .map(([name]) => name)
  }

  /** How many groups are remembered. */
  get size(): number {
    return this.#active.size + this.#resting.size
  }

  #rest(name: string, group: Group): void {
    this.#active.delete(name)
    // Nothing is left to do for it, or it would be in flight: slowness is forgiven.
    if (group.tripped === 'slow') group.tripped = undefined
    this.#resting.set(name, group)
    if (this.#resting.size <= MOST_AT_REST) return
    const [longestIdle] = this.#resting.keys()
    if (longestIdle !== undefined) this.#resting.delete(longestIdle)
  }
}

const newGroup = (): Group => ({
  inFlight: 0,
  failuresInARow: 0,
  tripped: undefined,
  trippedAt: 0,
  meanMs: undefined,
  lastHeardAt: 0,
})

/** Attempts in flight of one group. */
interface Caps {
  quick: number
  slow: number
  small: number
}

function capsOf(window: number): Caps {
  return {
    quick: Math.max(1, Math.floor((window * 3) / 4)),
    slow: Math.max(1, Math.floor(window / 4)),
    small: Math.min(window, Math.max(2, Math.floor(window / 8))),
  }
}

/** What a quick group has given back before it is worth a fetch: few large ones cost less. */
const halfOf = (cap: number): number => Math.max(1, Math.floor(cap / 2))

function capOf(group: Group, caps: Caps, now: number, generous: boolean): number {
  if (group.tripped === 'failing') return caps.small
  if (isQuick(group, now)) return caps.quick
  if (group.meanMs === undefined || isSilent(group, group.meanMs, now)) return caps.small
  return generous || group.tripped === 'slow' ? caps.quick : caps.slow
}

function judge(group: Group, succeeded: boolean, tookMs: number): void {
  group.failuresInARow = succeeded ? 0 : group.failuresInARow + weightOf(group, tookMs)
  if (succeeded) {
    group.meanMs ??= tookMs
    group.meanMs += (tookMs - group.meanMs) * WEIGHT_OF_ONE
  }
  if (group.failuresInARow >= FAILURES_TO_TRIP) group.tripped = 'failing'
  else if (succeeded && group.tripped === 'failing') group.tripped = undefined
  else if (group.tripped === 'slow' && (group.meanMs ?? Infinity) < QUICK_MS) {
    group.tripped = undefined
  }
}

/** Whoever lets us wait and has never answered is tripped at once. */
function weightOf({ meanMs }: Group, tookMs: number): number {
  if (tookMs < LONG_FAILURE_MS) return 1
  return meanMs === undefined ? FAILURES_TO_TRIP : LONG_FAILURE_COUNTS
}

const isQuick = ({ meanMs, lastHeardAt }: Group, now: number): boolean =>
  meanMs !== undefined && meanMs < QUICK_MS && now - lastHeardAt < QUICK_MS

const isSilent = ({ lastHeardAt }: Group, meanMs: number, now: number): boolean =>
  now - lastHeardAt > Math.max(QUICK_MS, PATIENCE * meanMs)
