/**
 * The filters of recipients, kept in memory as they are compiled. Each publish checks in its own
 * transaction whether they have changed, so that nothing depends on a notification.
 */
import type { Db } from '../postgres/transaction.ts'
import {
  findFilters,
  type FilterSet,
  type FilteredRecipient,
  type Seen,
} from './filter-changes-table.ts'
import { FilterIndex } from './filter/filter-index.ts'

export type RecipientIndex = FilterIndex<FilteredRecipient>

interface Known {
  index: RecipientIndex
  seen: Seen
}

/** Characters of filters in memory: tens of thousands of usual ones, which take some 100 MB. */
const MOST_CHARACTERS = 4 * 1024 * 1024
/** A set without filters takes memory too. */
const SIZE_OF_SET = 500
/**
 * After this time they are read again in any case: the tables may have been restored without the
 * trigger.
 */
const KEPT_SECONDS = 3600
/** Changes are kept for longer than what they concern. */
export const CHANGES_KEPT_SECONDS = 3 * KEPT_SECONDS
const MOST_NAMES = 10_000

export class KnownFilters {
  /** The known filters by their keys, the longest unused first. */
  #known = new Map<string, Known>()
  #size = 0
  /** Names of events for which some recipient had a filter. */
  #names = new Set<string>()
  #mostCharacters: number

  constructor(mostCharacters = MOST_CHARACTERS) {
    this.#mostCharacters = mostCharacters
  }

  /**
   * Whether filters have to be decided for these names. Where that was not done and a filter
   * exists, Postgres refuses the publish.
   */
  areFor(names: string[]): boolean {
    return names.some((name) => this.#names.has(name))
  }

  foundFor(names: string[]): void {
    if (this.#names.size > MOST_NAMES) this.#names.clear()
    for (const name of names) this.#names.add(name)
  }

  /** The filters of these sets in the snapshot of `db`, which is returned as well. */
  async of(db: Db, sets: FilterSet[]): Promise<{ indexes: RecipientIndex[]; snapshot: string }> {
    const known = sets.map((set) => this.#known.get(keyOf(set)))
    const asked = sets.map((set, place) => ({ ...set, seen: known[place]?.seen }))
    const { seen, stale, own, recipients } = await findFilters(db, asked, KEPT_SECONDS)
    const indexes = sets.map((set, place) => {
      const former = known[place]
      const isStale = former === undefined || stale.has(place + 1)
      const index = isStale
        ? new FilterIndex(recipients.get(place + 1) ?? [], former?.index)
        : former.index
      const readAt = isStale ? seen.readAt : former.seen.readAt
      // What a transaction has changed itself holds for others once it is committed.
      if (!own.has(place + 1)) this.#keep(set, { index, seen: { ...seen, readAt } })
      return index
    })
    return { indexes, snapshot: seen.snapshot }
  }

  #keep(set: FilterSet, known: Known): void {
    const key = keyOf(set)
    this.#drop(key)
    this.#known.set(key, known)
    this.#size += sizeOf(known.index)
    for (const oldest of this.#known.keys()) {
      if (this.#size <= this.#mostCharacters) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const known = this.#known.get(key)
    if (known && this.#known.delete(key)) this.#size -= sizeOf(known.index)
  }
}

const keyOf = ({ name, tenant }: FilterSet): string => `${name}\n${tenant}`

const sizeOf = ({ size }: RecipientIndex): number => size + SIZE_OF_SET
