/**
 * What this process knows from the table of groups: which groups are held, whose circuit is open,
 * and which may have parked jobs. Pure book-keeping.
 */
import type { JobGroup } from './groups-table.ts'

interface State {
  held: boolean
  isOpen: boolean
  parkedAt: string
  /** Whether all its waiting jobs have been parked since it was held. */
  isParked: boolean
  /** The last claim found too few due jobs of it: no claim before this moment. */
  emptyUntil: number
  emptyForMs: number
}

function stateOf({ held, circuitOpen, parkedAt }: JobGroup, before: State | undefined): State {
  const isParked = held && before?.held === true && before.isParked
  // After a change there may be jobs to claim.
  const isSame =
    before?.held === held && before.isOpen === circuitOpen && before.parkedAt === parkedAt
  const { emptyUntil, emptyForMs } = isSame ? before : { emptyUntil: 0, emptyForMs: FIRST_PAUSE_MS }
  return { held, isOpen: circuitOpen, parkedAt, isParked, emptyUntil, emptyForMs }
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000
/** With an open circuit the next attempt shows whether the receiver is well again. */
const LONGEST_PAUSE_OPEN_MS = 1000

export class GroupStates {
  #states = new Map<string, State>()

  /** Takes over the rows of the table. Groups that were known keep their turn. */
  replace(rows: JobGroup[]): void {
    const known = this.#states
    const rowOf = new Map(rows.map((row) => [row.group, row]))
    const order = [...known.keys(), ...rowOf.keys()]
    this.#states = new Map(
      order.flatMap((group) => {
        const row = rowOf.get(group)
        return row ? [[group, stateOf(row, known.get(group))]] : []
      }),
    )
  }

  get size(): number {
    return this.#states.size
  }

  /** Groups that fetches exclude: their jobs are to be parked. */
  excluded(): string[] {
    return this.#namesOf(({ held, isOpen, isParked }) => isOpen || (held && !isParked))
  }

  /** Held groups that may have jobs that are not parked. */
  toPark(): string[] {
    return this.#namesOf(({ held, isParked }) => held && !isParked)
  }

  parked(groups: readonly string[]): void {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state) state.isParked = true
    }
  }

  /** Groups with an open circuit that are not held. */
  open(): string[] {
    return this.#namesOf(({ held, isOpen }) => isOpen && !held)
  }

  /** Groups whose parked jobs may be claimed, in their turn. */
  claimable(now: number): { group: string; isOpen: boolean }[] {
    return [...this.#states]
      .filter(([, { held, emptyUntil }]) => !held && emptyUntil <= now)
      .map(([group, { isOpen }]) => ({ group, isOpen }))
  }

  /** The first moment at which there may be parked jobs to claim. */
  claimableFrom(): number {
    let first = Infinity
    for (const { held, emptyUntil } of this.#states.values()) {
      if (!held) first = Math.min(first, emptyUntil)
    }
    return first
  }

  /** Parked jobs of the group were claimed: its next turn is the last. */
  claimed(group: string): void {
    const state = this.#states.get(group)
    if (!state) return
    state.emptyForMs = FIRST_PAUSE_MS
    this.#states.delete(group)
    this.#states.set(group, state)
  }

  /** Fewer jobs of the group were due than its limit. Returns whether that has been so for a while. */
  empty(group: string, now: number): boolean {
    const state = this.#states.get(group)
    if (!state) return false
    const hasBeenFor = state.emptyForMs
    state.emptyUntil = now + state.emptyForMs
    const longest = state.isOpen ? LONGEST_PAUSE_OPEN_MS : LONGEST_PAUSE_MS
    state.emptyForMs = Math.min(longest, state.emptyForMs * 2)
    return !state.isOpen && hasBeenFor === LONGEST_PAUSE_MS
  }

  #namesOf(is: (state: State) => boolean): string[] {
    return [...this.#states].filter(([, state]) => is(state)).map(([group]) => group)
  }
}
