/**
 * Who may have jobs fetched: pure book-keeping over the groups (a group is a webhook's endpoint).
 * A group at its in-flight cap is passed over, and one that keeps failing is tripped: its backlog
 * leaves the fresh lane, where every fetch would have to step over it, and is tried in the slow
 * lane with a small cap until it answers again.
 */
import type { Lane } from './job.ts'

interface Group {
  inFlight: number
  failuresInARow: number
  tripped: boolean
}

export interface Caps {
  /** In flight of one group. */
  perGroup: number
  /** In flight of one tripped group. */
  perTrippedGroup: number
  /** Failures in a row that trip a group. */
  failuresToTrip: number
}

/** Groups with nothing in flight of which so many are remembered; then the oldest are forgotten. */
const MOST_AT_REST = 10_000

export class Fairness {
  readonly caps: Caps
  #groups = new Map<string, Group>()

  constructor(caps: Caps) {
    this.caps = caps
  }

  started(name: string | null): void {
    if (name === null) return
    const group = this.#groups.get(name) ?? { inFlight: 0, failuresInARow: 0, tripped: false }
    group.inFlight++
    // Last in, so that the map is in the order of the last use.
    this.#groups.delete(name)
    this.#groups.set(name, group)
    this.#forgetOldest()
  }

  /**
   * Says what the outcome changed: a group that was tripped by it, or has recovered through it.
   * `null` stands for an outcome that says nothing about the group.
   */
  ended(name: string | null, succeeded: boolean | null): 'tripped' | 'recovered' | undefined {
    const group = name === null ? undefined : this.#groups.get(name)
    if (name === null || !group) return undefined
    group.inFlight--
    const wasTripped = group.tripped
    if (succeeded === true) Object.assign(group, { failuresInARow: 0, tripped: false })
    if (succeeded === false) group.failuresInARow++
    if (group.failuresInARow >= this.caps.failuresToTrip) group.tripped = true
    if (group.inFlight === 0 && group.failuresInARow === 0) this.#groups.delete(name)
    if (group.tripped === wasTripped) return undefined
    return group.tripped ? 'tripped' : 'recovered'
  }

  /** The groups that a fetch in this lane must pass over, and whether the end of a job will change that. */
  passedOver(lane: Lane): { names: string[]; capped: boolean } {
    const names: string[] = []
    let capped = false
    for (const [name, group] of this.#groups) {
      const cap = group.tripped ? this.caps.perTrippedGroup : this.caps.perGroup
      const isElsewhere = lane === 'fresh' && group.tripped
      if (!isElsewhere && group.inFlight < cap) continue
      names.push(name)
      capped ||= !isElsewhere
    }
    return { names, capped }
  }

  tripped(): string[] {
    return [...this.#groups].filter(([, group]) => group.tripped).map(([name]) => name)
  }

  /** How many groups are remembered. */
  get size(): number {
    return this.#groups.size
  }

  #forgetOldest(): void {
    if (this.#groups.size <= MOST_AT_REST) return
    for (const [name, { inFlight }] of this.#groups) {
      if (inFlight > 0) continue
      this.#groups.delete(name)
      if (this.#groups.size <= MOST_AT_REST) return
    }
  }
}
