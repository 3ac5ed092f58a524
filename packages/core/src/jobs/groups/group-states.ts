/**
 * What this process knows of the table of groups: which are held, whose circuit is open, and which
 * may have parked jobs. Pure: what is read from the table is put in, decisions come out.
 */
import type { JobGroup } from './groups-table.ts'

interface State {
  held: boolean
  isOpen: boolean
  parkedAt: string
  /** Whether all that it had waiting has been parked since it is held. */
  isWalked: boolean
  /** Nothing of it was due when it was asked last: not before this moment again. */
  emptyUntil: number
  emptyForMs: number
}

function stateOf({ held, circuitOpen, parkedAt }: JobGroup, before: State | undefined): State {
  const isWalked = held && before?.held === true && before.isWalked
  // A change says that there may be something to do.
  const isSame =
    before?.held === held && before.isOpen === circuitOpen && before.parkedAt === parkedAt
  const { emptyUntil, emptyForMs } = isSame ? before : { emptyUntil: 0, emptyForMs: FIRST_PAUSE_MS }
  return { held, isOpen: circuitOpen, parkedAt, isWalked, emptyUntil, emptyForMs }
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000
/** With an open circuit the next delivery shows whether the endpoint is well again. */
const LONGEST_PAUSE_OPEN_MS = 1000

export class GroupStates {
  #states = new Map<string, State>()

  /** Takes over what the table says. Groups that were known keep their place in the line. */
  replace(rows: JobGroup[]): void {
    const known = this.#states
    const told = new Map(rows.map((row) => [row.group, row]))
    const order = [...known.keys(), ...told.keys()]
    this.#states = new Map(
      order.flatMap((group) => {
        const row = told.get(group)
        return row ? [[group, stateOf(row, known.get(group))]] : []
      }),
    )
  }

  get size(): number {
    return this.#states.size
  }

  /** Groups of which a fetch may bring nothing: their jobs are to be parked. */
  passedOver(): string[] {
    return this.#namesOf(({ held, isOpen, isWalked }) => isOpen || (held && !isWalked))
  }

  /** Held groups that may still have jobs among the others. */
  toWalk(): string[] {
    return this.#namesOf(({ held, isWalked }) => held && !isWalked)
  }

  walked(groups: readonly string[]): void {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state) state.isWalked = true
    }
  }

  /** Groups with an open circuit that are not held. */
  open(): string[] {
    return this.#namesOf(({ held, isOpen }) => isOpen && !held)
  }

  /** Groups of which parked jobs may be claimed, those first that were not asked for longest. */
  claimable(now: number): { group: string; isOpen: boolean }[] {
    return [...this.#states]
      .filter(([, { held, emptyUntil }]) => !held && emptyUntil <= now)
      .map(([group, { isOpen }]) => ({ group, isOpen }))
  }

  /** Until when nothing can be claimed, as far as is known. */
  claimableFrom(): number {
    let first = Infinity
    for (const { held, emptyUntil } of this.#states.values()) {
      if (!held) first = Math.min(first, emptyUntil)
    }
    return first
  }

  /** Parked jobs of the group were claimed: it goes to the end of the line. */
  claimed(group: string): void {
    const state = this.#states.get(group)
    if (!state) return
    state.emptyForMs = FIRST_PAUSE_MS
    this.#states.delete(group)
    this.#states.set(group, state)
  }

  /** Less of the group was due than was asked for. Returns whether it has been so for a while. */
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
