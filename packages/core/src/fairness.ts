/**
 * Who may have jobs fetched: pure book-keeping over the groups (a group is a webhook's endpoint).
 *
 * No group gets all of a lane's window. One that is quick gives its places back within moments, so
 * at its cap the next fetch just waits for it; passing over its backlog would cost a walk along all
 * of it. One that is slow, or does not answer, is passed over. One whose backlog makes that walk
 * long, or that keeps failing, is tripped: its backlog leaves the fresh lane, and is done in the
 * slow one, with a small cap where it fails, until it answers again.
 */
import type { Lane } from './job.ts'

interface Group {
  inFlight: number
  failuresInARow: number
  tripped: 'failing' | 'slow' | undefined
  /** Mean time of its attempts, in milliseconds. */
  meanMs: number
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
const FAILURES_TO_TRIP = 10
/** A fetch that takes longer walks along the backlog of groups that it passes over. */
const LONG_WALK_MS = 10
const WEIGHT_OF_ONE = 0.1
/** Groups with nothing in flight of which so many are remembered; then the oldest are forgotten. */
const MOST_AT_REST = 10_000

export class Fairness {
  #caps: Record<Lane, { ceiling: number; portion: number; failing: number }>
  #active = new Map<string, Group>()
  #resting = new Map<string, Group>()

  /** `windows`: how many attempts each lane may have in flight. */
  constructor(windows: Record<Lane, number>) {
    this.#caps = { fresh: capsOf(windows.fresh), slow: capsOf(windows.slow) }
  }

  started(name: string | null, now: number): void {
    if (name === null) return
    const group = this.#active.get(name) ?? this.#resting.get(name) ?? newGroup()
    if (group.inFlight++ > 0) return
    group.lastHeardAt = now
    this.#resting.delete(name)
    this.#active.set(name, group)
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

  /** How much a fetch in this lane may bring, and of whom. */
  allow(lane: Lane, room: number, now: number): Allowance {
    const { ceiling, portion, failing } = this.#caps[lane]
    const allowance: Allowance = { limit: room, passedOver: [], capped: [] }
    const atMost = (jobs: number) => {
      allowance.limit = Math.min(allowance.limit, jobs)
    }
    for (const [name, group] of this.#active) {
      if (lane === 'fresh' && group.tripped) allowance.passedOver.push(name)
      else if (group.tripped === 'failing') {
        // Nothing holds a group at its cap within one fetch: it may exceed it by one of these.
        atMost(failing)
        if (group.inFlight >= failing) allowance.capped.push(name)
      } else if (ceiling - group.inFlight >= portion) atMost(ceiling - group.inFlight)
      else if (!group.tripped && isQuick(group, now)) atMost(0)
      else allowance.capped.push(name)
    }
    for (const [name, { tripped }] of this.#resting) {
      if (!tripped) continue
      if (lane === 'fresh') allowance.passedOver.push(name)
      else atMost(failing)
    }
    return allowance
  }

  /** Trips the capped groups of a fetch that took long, and says which. */
  walked(capped: readonly string[], tookMs: number): string[] {
    if (tookMs < LONG_WALK_MS) return []
    return capped.filter((name) => {
      const group = this.#active.get(name)
      if (!group || group.tripped) return false
      group.tripped = 'slow'
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

  /** A group about which there is nothing to remember costs no memory. */
  #rest(name: string, group: Group): void {
    this.#active.delete(name)
    // Nothing is left to do for it, or it would be in flight: slowness is forgiven.
    if (group.tripped === 'slow') group.tripped = undefined
    if (group.failuresInARow === 0) return
    this.#resting.set(name, group)
    if (this.#resting.size <= MOST_AT_REST) return
    const [oldest] = this.#resting.keys()
    if (oldest !== undefined) this.#resting.delete(oldest)
  }
}

const newGroup = (): Group => ({
  inFlight: 0,
  failuresInARow: 0,
  tripped: undefined,
  meanMs: 0,
  lastHeardAt: 0,
})

/**
 * Up to three quarters of a window for one group; `portion`, a quarter of that, is the least that a
 * fetch is worth; a group that fails gets an eighth of the window.
 */
function capsOf(window: number) {
  const ceiling = Math.max(1, Math.floor((window * 3) / 4))
  return {
    ceiling,
    portion: Math.max(1, Math.floor(ceiling / 4)),
    failing: Math.max(1, Math.floor(window / 8)),
  }
}

function judge(group: Group, succeeded: boolean, tookMs: number): void {
  group.meanMs += (tookMs - group.meanMs) * WEIGHT_OF_ONE
  group.failuresInARow = succeeded ? 0 : group.failuresInARow + 1
  if (group.failuresInARow >= FAILURES_TO_TRIP) group.tripped = 'failing'
  else if (succeeded && group.tripped === 'failing') group.tripped = undefined
  else if (group.tripped === 'slow' && group.meanMs < QUICK_MS) group.tripped = undefined
}

const isQuick = ({ meanMs, lastHeardAt }: Group, now: number): boolean =>
  meanMs < QUICK_MS && now - lastHeardAt < QUICK_MS
