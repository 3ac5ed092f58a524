/** The recipients that have a filter: which of them an event is sent to is decided as it is published. */
import type { Db } from '../postgres/transaction.ts'
import { tenantOfEvent } from './event-id.ts'
import type { EventRow } from './events-table.ts'
import type { FilterSet } from './filter-changes-table.ts'
import { EventValues } from './filter/event-values.ts'
import type { KnownFilters } from './known-filters.ts'
import { isReservedName } from './own-events.ts'
import type { UndecidedFilter } from './undecided-filters.ts'

/** A recipient whose filter matches an event. */
export interface MatchedRecipient {
  /** Which of the events, from 1. */
  event: number
  subscription: string
  recipient: string
}

export interface MatchedRecipients {
  /** The recipients in the order of the events: an ordered webhook has them in this order. */
  matched: MatchedRecipient[]
  undecided: UndecidedFilter[]
  /** In which the filters are current. */
  snapshot: string
}

/** Decides the filters of the recipients of these events. */
export async function matchRecipients(
  db: Db,
  filters: KnownFilters,
  events: EventRow[],
): Promise<MatchedRecipients> {
  const sets = new Map<string, FilterSet & { events: number[] }>()
  for (const [index, event] of events.entries()) {
    for (const set of filterSetsOf(event)) {
      const key = `${set.name}\n${set.tenant}`
      const known = sets.get(key)
      if (known) known.events.push(index)
      else sets.set(key, { ...set, events: [index] })
    }
  }
  const values = events.map(valuesOf)
  const matched: MatchedRecipient[] = []
  const undecided = new Map<string, UndecidedFilter>()
  const all = [...sets.values()]
  const { indexes, snapshot } = await filters.of(db, all)
  for (const [place, recipients] of indexes.entries()) {
    for (const event of all[place]?.events ?? []) {
      const matches = recipients.matches(values[event] as EventValues)
      for (const { subscription, recipient } of matches.matched) {
        matched.push({ event: event + 1, subscription, recipient })
      }
      for (const { recipient } of matches.costly) {
        undecided.set(recipient, { recipient, why: 'costly' })
      }
    }
    for (const { recipient } of recipients.unreadable) {
      undecided.set(recipient, { recipient, why: 'unreadable' })
    }
  }
  return {
    matched: matched.toSorted((a, b) => a.event - b.event),
    undecided: [...undecided.values()],
    snapshot,
  }
}

/**
 * The filter sets of an event. "__svc.publish" finds recipients without filters by the same rule.
 */
function filterSetsOf({ name, id }: EventRow): FilterSet[] {
  const tenant = tenantOfEvent(id)
  const names = isReservedName(name) ? [name] : [name, '*']
  const tenants = tenant === null ? [''] : ['', tenant]
  return names.flatMap((one) => tenants.map((its) => ({ name: one, tenant: its })))
}

const valuesOf = ({ name, id, payload }: EventRow): EventValues =>
  new EventValues({
    event: name,
    tenant: tenantOfEvent(id),
    payload: JSON.parse(payload) as unknown,
  })
