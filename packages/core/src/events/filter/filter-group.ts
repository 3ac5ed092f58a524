/** Decides the filters of many recipients about one event, as far as the work goes that it may be. */
import { compileFilterMatch, type FilterMatch } from './compile-filter.ts'
import type { EventValues } from './event-values.ts'
import { STEPS_OF_DEAR, STEPS_OF_EVENT, WorkBound } from './work-bound.ts'

export interface Filtered {
  filter: string
}

export interface Matches<One> {
  matched: One[]
  /** Those whose filters were too dear, or came when nothing was left. */
  undecided: One[]
  steps: number
}

interface Entry<One> {
  match: FilterMatch
  of: One[]
  /** Whether it has been too dear for an event. */
  isDear: boolean
}

/**
 * A filter that this version cannot read, such as one that a host of a later version has stored. It
 * matches nothing: a recipient must not get an event that it may not want, and an event that it
 * misses can be delivered later.
 */
const MATCHES_NOTHING: FilterMatch = () => false

/** The size of a recipient beside the text of its filter, in characters. */
const SIZE_OF_ONE = 100

export class FilterGroup<One extends Filtered> {
  /** Recipients whose filters this version cannot read: they match nothing. */
  readonly unreadable: One[] = []
  /** The characters of the different filters, and `SIZE_OF_ONE` for each recipient. */
  readonly size: number
  #entries = new Map<string, Entry<One>>()

  /** Filters that `former` has compiled are not compiled again. */
  constructor(all: readonly One[], former?: FilterGroup<One>) {
    let size = all.length * SIZE_OF_ONE
    for (const one of all) {
      const known = this.#entries.get(one.filter)
      const entry = known ?? {
        match: (former ?? this).#compiled(one.filter),
        of: [],
        isDear: false,
      }
      if (!known) size += one.filter.length
      this.#entries.set(one.filter, entry)
      entry.of.push(one)
      if (entry.match === MATCHES_NOTHING) this.unreadable.push(one)
    }
    this.size = size
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  get entries(): Iterable<Entry<One>> {
    return this.#entries.values()
  }

  #compiled(text: string): FilterMatch {
    const known = this.#entries.get(text)
    if (known) return known.match
    try {
      return compileFilterMatch(JSON.parse(text))
    } catch {
      return MATCHES_NOTHING
    }
  }
}

/** The filters that have been too dear come last, so that they use up what is left. */
export function decideFilters<One extends Filtered>(
  groups: readonly FilterGroup<One>[],
  event: EventValues,
): Matches<One> {
  const all = groups.flatMap(({ entries }) => [...entries])
  const matches: Matches<One> = { matched: [], undecided: [], steps: 0 }
  const inTurn = [...all.filter(({ isDear }) => !isDear), ...all.filter(({ isDear }) => isDear)]
  for (const entry of inTurn) {
    const most = Math.min(STEPS_OF_DEAR, STEPS_OF_EVENT - matches.steps)
    const work = new WorkBound(most)
    const isMatch = most <= 0 ? null : entry.match(event, work)
    if (most > 0) {
      matches.steps += Math.min(most, work.used) + 1
      entry.isDear ||= isMatch === null
    }
    const list = isMatch === null ? matches.undecided : isMatch ? matches.matched : undefined
    if (list) for (const one of entry.of) list.push(one)
  }
  return matches
}
