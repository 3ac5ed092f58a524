/**
 * Who may have jobs fetched: pure book-keeping over the groups (a group is a webhook's endpoint).
 * A group at its in-flight cap is passed over, and one that keeps failing is tripped: its backlog
 * leaves the fresh lane, where every fetch would have to step over it, and is tried in the slow
 * lane with a small cap until it answers again.
 */
import type { Lane } from './queue.ts'

export interface Group {
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

export class Fairness {
  #caps: Caps
  #groups = new Map<string, Group>()

  constructor(caps: Caps) {
    this.#caps = caps
  }

  started(name: string | null): void {
    if (name === null) return
    this.#group(name).inFlight++
  }

  /** Says what the outcome changed: a group that was tripped by it, or has recovered through it. */
  ended(name: string | null, succeeded: boolean | null): 'tripped' | 'recovered' | undefined {
    if (name === null) return undefined
    const group = this.#group(name)
    group.inFlight--
    if (succeeded === null) return this.#forget(name, group)
    group.failuresInARow = succeeded ? 0 : group.failuresInARow + 1
    if (!group.tripped && group.failuresInARow >= this.#caps.failuresToTrip) {
      group.tripped = true
      return 'tripped'
    }
    const recovers = group.tripped && succeeded
    if (recovers) group.tripped = false
    this.#forget(name, group)
    return recovers ? 'recovered' : undefined
  }

  /** The groups that a fetch in this lane must pass over. */
  passedOver(lane: Lane): string[] {
    const names: string[] = []
    for (const [name, group] of this.#groups) {
      const cap = group.tripped ? this.#caps.perTrippedGroup : this.#caps.perGroup
      if (group.inFlight >= cap || (lane === 'fresh' && group.tripped)) names.push(name)
    }
    return names
  }

  tripped(): string[] {
    return [...this.#groups].filter(([, group]) => group.tripped).map(([name]) => name)
  }

  #group(name: string): Group {
    let group = this.#groups.get(name)
    if (!group) {
      group = { inFlight: 0, failuresInARow: 0, tripped: false }
      this.#groups.set(name, group)
    }
    return group
  }

  /** A group about which there is nothing to remember costs no memory. */
  #forget(name: string, group: Group): undefined {
    if (group.inFlight === 0 && group.failuresInARow === 0 && !group.tripped) {
      this.#groups.delete(name)
    }
  }
}
