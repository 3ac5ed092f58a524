/**
 * Decides the filters of many recipients about one event in one pass: those that need a certain
 * value are looked up by the values of the event, and the others are evaluated one by one.
 */
import { compileFilterMatch, type FilterMatch } from './compile-filter.ts'
import { neededValues, type OneOf } from './needed-values.ts'
import { keyOfPath, type EventValues } from './event-values.ts'

/** Something with a filter, as JSON text. */
export interface Filtered {
  filter: string
}

export interface Matches<One> {
  matched: One[]
  /** To decide the filters of these costs more work than one filter may: they do not match. */
  costly: One[]
}

/** A compiled filter. Recipients with equal filters share it. */
interface Compiled {
  match: FilterMatch
  needs: OneOf[]
}

interface Entry<One> extends Compiled {
  of: One[]
}

/** The filters that need a value at one path. */
interface Branch<One> {
  path: readonly string[]
  byValue: Map<unknown, Entry<One>[]>
}

/**
 * A filter that this version cannot read, such as one that a host of a later version has stored. It
 * matches nothing: a recipient must not get an event that it may not want, and an event that it
 * misses can be delivered later.
 */
const MATCHES_NOTHING: Compiled = { match: () => false, needs: [] }

/** The size of a recipient beside the text of its filter, in characters. */
const SIZE_OF_ONE = 100

export class FilterIndex<One extends Filtered> {
  /** Recipients whose filters this version cannot read: they match nothing. */
  readonly unreadable: One[] = []
  /** The characters of the different filters, and `SIZE_OF_ONE` for each recipient. */
  readonly size: number
  #entries = new Map<string, Entry<One>>()
  #branches = new Map<string, Branch<One>>()
  #unindexed: Entry<One>[] = []

  /** Filters that `former` has compiled are not compiled again. */
  constructor(all: readonly One[], former?: FilterIndex<One>) {
    let size = all.length * SIZE_OF_ONE
    for (const one of all) {
      const known = this.#entries.get(one.filter)
      const entry = known ?? { ...(former ?? this).#compiled(one.filter), of: [] }
      if (!known) size += one.filter.length
      this.#entries.set(one.filter, entry)
      entry.of.push(one)
      if (entry.match === MATCHES_NOTHING.match) this.unreadable.push(one)
    }
    this.size = size
    this.#index([...this.#entries.values()])
  }

  matches(event: EventValues): Matches<One> {
    const matches: Matches<One> = { matched: [], costly: [] }
    const decide = ({ match, of }: Entry<One>): void => {
      const isMatch = match(event)
      if (isMatch !== false) matches[isMatch ? 'matched' : 'costly'].push(...of)
    }
    for (const entry of this.#unindexed) decide(entry)
    for (const entry of this.#lookUp(event)) decide(entry)
    return matches
  }

  #compiled(text: string): Compiled {
    return this.#entries.get(text) ?? compiled(text)
  }

  #lookUp(event: EventValues): Set<Entry<One>> {
    const found = new Set<Entry<One>>()
    for (const [key, { path, byValue }] of this.#branches) {
      const values = event.scalarsAt(path, key)
      // `null`: the values at this path take too much work. Each filter decides whether that is too
      // much for it.
      const lists = values === null ? byValue.values() : values.map((value) => byValue.get(value))
      for (const list of lists) for (const entry of list ?? []) found.add(entry)
    }
    return found
  }

  /**
   * A filter that needs several values is indexed by the one that the fewest other filters need,
   * and not, for example, by an event type that all of them need.
   */
  #index(entries: Entry<One>[]): void {
    const keys = entries.map(({ needs }) => needs.map((need) => need.map(keyOf)))
    const counts = new Map<string, number>()
    for (const key of keys.flat(2)) counts.set(key, (counts.get(key) ?? 0) + 1)
    for (const [place, entry] of entries.entries()) {
      const shared = (keys[place] ?? []).map((need) =>
        need.reduce((sum, key) => sum + (counts.get(key) ?? 0), 0),
      )
      const need = entry.needs[shared.indexOf(Math.min(...shared))]
      if (need) for (const { path, value } of need) this.#add(path, value, entry)
      else this.#unindexed.push(entry)
    }
  }

  #add(path: readonly string[], value: unknown, entry: Entry<One>): void {
    const key = keyOfPath(path)
    const branch: Branch<One> = this.#branches.get(key) ?? { path, byValue: new Map() }
    this.#branches.set(key, branch)
    const list = branch.byValue.get(value)
    if (list) list.push(entry)
    else branch.byValue.set(value, [entry])
  }
}

const keyOf = ({ path, value }: OneOf[number]): string =>
  `${keyOfPath(path)}\0${typeof value}\0${value}`

function compiled(text: string): Compiled {
  try {
    const filter: unknown = JSON.parse(text)
    return { match: compileFilterMatch(filter), needs: neededValues(filter) }
  } catch {
    return MATCHES_NOTHING
  }
}
