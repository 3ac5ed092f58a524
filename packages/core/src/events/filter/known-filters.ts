/**
 * The filters of recipients, kept in memory as they are compiled. Each publish checks in its own
 * transaction whether they have changed, so that nothing depends on a notification.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { EventRow } from '../events-table.ts'
import {
  filterSetsOf,
  findFilters,
  keyOfSet,
  type FilterSet,
  type FilteredRecipient,
  type Seen,
} from './filter-changes-table.ts'
import { FilterGroup } from './filter-group.ts'

export type RecipientFilters = FilterGroup<FilteredRecipient>

interface Known {
  group: RecipientFilters
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

export class KnownFilters {
  /** The known filters by their keys, the longest unused first. */
  #known = new Map<string, Known>()
  #size = 0
  /** How many of them are not empty. */
  #filtered = 0
  #mostCharacters: number

  constructor(mostCharacters = MOST_CHARACTERS) {
    this.#mostCharacters = mostCharacters
  }

  /**
   * Whether some recipient of an event of this name and tenant has a filter, as far as this process knows.
   * Where filters were not asked and one exists, Postgres refuses the publish.
   */
  areFor(event: EventRow): boolean {
    if (this.#filtered === 0) return false
    return filterSetsOf(event).some(
      (set) => this.#known.get(keyOfSet(set))?.group.isEmpty === false,
    )
  }

  /** The filters of these sets in the snapshot of `db`, which is returned as well. */
  async of(db: Db, sets: FilterSet[]): Promise<{ groups: RecipientFilters[]; snapshot: string }> {
    const known = sets.map((set) => this.#known.get(keyOfSet(set)))
    const asked = sets.map((set, place) => ({ ...set, seen: known[place]?.seen }))
    const { seen, stale, own, recipients } = await findFilters(db, asked, KEPT_SECONDS)
    const groups = sets.map((set, place) => {
      const former = known[place]
      const isStale = former === undefined || stale.has(place + 1)
      const group = isStale
        ? new FilterGroup(recipients.get(place + 1) ?? [], former?.group)
        : former.group
      const readAt = isStale ? seen.readAt : former.seen.readAt
      // What a transaction has changed itself holds for others once it is committed.
      if (!own.has(place + 1)) this.#keep(set, { group, seen: { ...seen, readAt } })
      return group
    })
    return { groups, snapshot: seen.snapshot }
  }

  #keep(set: FilterSet, known: Known): void {
    const key = keyOfSet(set)
    this.#drop(key)
    this.#known.set(key, known)
    this.#size += sizeOf(known.group)
    if (!known.group.isEmpty) this.#filtered++
    for (const oldest of this.#known.keys()) {
      if (this.#size <= this.#mostCharacters) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const known = this.#known.get(key)
    if (!known) return
    this.#known.delete(key)
    this.#size -= sizeOf(known.group)
    if (!known.group.isEmpty) this.#filtered--
  }
}

const sizeOf = ({ size }: RecipientFilters): number => size + SIZE_OF_SET
