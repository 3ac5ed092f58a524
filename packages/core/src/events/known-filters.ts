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
import { FilterGroup } from './filter/filter-group.ts'

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
const MOST_FILTERED = 10_000

export class KnownFilters {
  /** The known filters by their keys, the longest unused first. */
  #known = new Map<string, Known>()
  #size = 0
  /** Names and tenants of events for which some recipient has a filter, the oldest first. */
  #filtered = new Set<string>()
  #mostCharacters: number

  constructor(mostCharacters = MOST_CHARACTERS) {
    this.#mostCharacters = mostCharacters
  }

  /**
   * Whether filters have to be decided for an event of this name and tenant. Where that was not done
   * and a filter exists, Postgres refuses the publish.
   */
  areFor(name: string, tenant: string | null): boolean {
    return this.#filtered.has(eventKeyOf(name, tenant))
  }

  /** Whether some recipient of such an event has a filter. */
  noted(name: string, tenant: string | null, isFiltered: boolean): void {
    const key = eventKeyOf(name, tenant)
    if (!isFiltered) this.#filtered.delete(key)
    else if (!this.#filtered.has(key)) {
      this.#filtered.add(key)
      const [oldest] = this.#filtered
      if (this.#filtered.size > MOST_FILTERED && oldest !== undefined) {
        this.#filtered.delete(oldest)
      }
    }
  }

  /** The filters of these sets in the snapshot of `db`, which is returned as well. */
  async of(db: Db, sets: FilterSet[]): Promise<{ groups: RecipientFilters[]; snapshot: string }> {
    const known = sets.map((set) => this.#known.get(keyOf(set)))
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
    const key = keyOf(set)
    this.#drop(key)
    this.#known.set(key, known)
    this.#size += sizeOf(known.group)
    for (const oldest of this.#known.keys()) {
      if (this.#size <= this.#mostCharacters) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const known = this.#known.get(key)
    if (known && this.#known.delete(key)) this.#size -= sizeOf(known.group)
  }
}

const keyOf = ({ name, tenant }: FilterSet): string => `${name}\n${tenant}`

const eventKeyOf = (name: string, tenant: string | null): string => `${name}\n${tenant ?? ''}`

const sizeOf = ({ size }: RecipientFilters): number => size + SIZE_OF_SET
