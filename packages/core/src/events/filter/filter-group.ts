/** Decides the filters of many recipients about one event, as far as its budget goes. */
import { compileFilterMatch, type FilterMatch } from './compile-filter.ts'
import type { EventValues } from './event-values.ts'
import { WorkBound, type FilterBudget } from './work-bound.ts'

export interface Filtered {
  filter: string
}

export interface Matches<One> {
  matched: One[]
  /** Those whose filters the budget did not reach. */
  undecided: One[]
}

interface Entry<One> {
  match: FilterMatch
  of: One[]
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
  #cheap: Entry<One>[]
  /** Those that have been too dear for an event. They come last, so that they use up what is left. */
  #dear: Entry<One>[] = []
  #dearNow = new Set<Entry<One>>()

  /** Filters that `former` has compiled are not compiled again. */
  constructor(all: readonly One[], former?: FilterGroup<One>) {
    let size = all.length * SIZE_OF_ONE
    for (const one of all) {
      const known = this.#entries.get(one.filter)
      const entry = known ?? { match: (former ?? this).#compiled(one.filter), of: [] }
      if (!known) size += one.filter.length
      this.#entries.set(one.filter, entry)
      entry.of.push(one)
      if (entry.match === MATCHES_NOTHING) this.unreadable.push(one)
    }
    this.size = size
    this.#cheap = [...this.#entries.values()]
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  decideCheap(event: EventValues, budget: FilterBudget, matches: Matches<One>): void {
    this.#dearNow = this.#decide(this.#cheap, event, budget, matches)
  }

  /** Follows `decideCheap`, with the same event. */
  decideDear(event: EventValues, budget: FilterBudget, matches: Matches<One>): void {
    this.#decide(this.#dear, event, budget, matches)
    if (this.#dearNow.size === 0) return
    this.#cheap = this.#cheap.filter((entry) => !this.#dearNow.has(entry))
    for (const entry of this.#dearNow) this.#dear.push(entry)
    this.#dearNow.clear()
  }

  #decide(
    entries: readonly Entry<One>[],
    event: EventValues,
    budget: FilterBudget,
    matches: Matches<One>,
  ): Set<Entry<One>> {
    const dear = new Set<Entry<One>>()
    for (const entry of entries) {
      const most = budget.next()
      const work = new WorkBound(most)
      const isMatch = most === 0 ? null : entry.match(event, work)
      if (isMatch === null && most > 0) dear.add(entry)
      if (most > 0) budget.take(Math.min(most, work.used))
      const list = isMatch === null ? matches.undecided : isMatch ? matches.matched : undefined
      if (list) for (const one of entry.of) list.push(one)
    }
    return dear
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
