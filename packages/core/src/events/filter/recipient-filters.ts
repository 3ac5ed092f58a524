/** The recipients that have a filter: which of them an event is sent to is decided as it is published. */
import { setImmediate } from 'node:timers/promises'
import type { Db } from '../../postgres/transaction.ts'
import { tenantOfEvent } from '../event-id.ts'
import type { EventRow } from '../events-table.ts'
import {
  filterSetsOf,
  keyOfSet,
  type FilteredRecipient,
  type FilterSet,
} from './filter-changes-table.ts'
import { EventValues } from './event-values.ts'
import { subjectOf } from './field-path.ts'
import { decideFilters } from './filter-group.ts'
import type { KnownFilters, RecipientFilters } from './known-filters.ts'
import type { UndecidedFilter } from './undecided-filters.ts'

export interface MatchedRecipient {
  /** Which of the events, from 1. */
  event: number
  subscription: string
  recipient: string
  isUndecided: boolean
}

export interface MatchedRecipients {
  /** The recipients in the order of the events: an ordered webhook has them in this order. */
  matched: MatchedRecipient[]
  unreadable: UndecidedFilter[]
  /** In which the filters are current. */
  snapshot: string
  steps: number
}

/** After so many milliseconds the events that follow give way to others. */
const LONGEST_TURN_MS = 10

export async function matchRecipients(
  db: Db,
  filters: KnownFilters,
  events: EventRow[],
  places: ReadonlySet<number>,
): Promise<MatchedRecipients> {
  const sets = new Map<string, FilterSet>()
  for (const place of places) {
    for (const set of filterSetsOf(events[place] as EventRow)) sets.set(keyOfSet(set), set)
  }
  const { groups, snapshot } = await filters.of(db, [...sets.values()])
  const groupOf = new Map([...sets.keys()].map((key, place) => [key, groups[place]]))
  const matched: MatchedRecipient[] = []
  let steps = 0
  let turnEndsAt = performance.now() + LONGEST_TURN_MS
  for (const place of [...places].toSorted((a, b) => a - b)) {
    const event = events[place] as EventRow
    const filtered = filterSetsOf(event)
      .flatMap((set) => groupOf.get(keyOfSet(set)) ?? [])
      .filter(({ isEmpty }) => !isEmpty)
    if (filtered.length === 0) continue
    if (performance.now() > turnEndsAt) {
      await setImmediate()
      turnEndsAt = performance.now() + LONGEST_TURN_MS
    }
    const its = decideFilters(filtered, valuesOf(event))
    const add = (isUndecided: boolean) => (one: FilteredRecipient) => {
      const { subscription, recipient } = one
      matched.push({ event: place + 1, subscription, recipient, isUndecided })
    }
    its.matched.forEach(add(false))
    its.undecided.forEach(add(true))
    steps += its.steps
  }
  return { matched, unreadable: groups.flatMap(unreadableOf), snapshot, steps }
}

const unreadableOf = ({ unreadable }: RecipientFilters): UndecidedFilter[] =>
  unreadable.map(({ recipient }) => ({ recipient, why: 'unreadable' }))

const valuesOf = ({ name, id, payload, changed }: EventRow): EventValues =>
  new EventValues(() => subjectOf(name, tenantOfEvent(id), JSON.parse(payload), changed))
