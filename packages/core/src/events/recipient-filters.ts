/** The recipients that have a filter: which of them an event is sent to is decided as it is published. */
import type { Db } from '../postgres/transaction.ts'
import { tenantOfEvent } from './event-id.ts'
import type { EventRow } from './events-table.ts'
import type { Subject } from './filter/field-path.ts'
import { isReadable, matchingFilters } from './filter/matching-filters.ts'
import type { UndecidedFilter } from './undecided-filters.ts'

/** A recipient whose filter lets an event through. */
export interface MatchedRecipient {
  /** Which of the events, from 1. */
  event: number
  subscription: string
  recipient: string
}

interface FilteredRecipient {
  /** Which of the kinds, from 1. */
  kind: number
  subscription: string
  recipient: string
  /** JSON text. */
  filter: string
}

/** Events of one kind have the same recipients. */
interface Kind {
  name: string
  tenant: string | null
  /** Which of the events, from 1. */
  events: number[]
}

export interface MatchedRecipients {
  matched: MatchedRecipient[]
  undecided: UndecidedFilter[]
}

/**
 * Reads the filters of those who want these events, and decides each about each of its events. A batch
 * is often of one kind: what thousands of webhooks want is read once for all of it.
 */
export async function matchRecipients(db: Db, events: EventRow[]): Promise<MatchedRecipients> {
  const byKind = new Map<string, Kind>()
  for (const [index, { id, name }] of events.entries()) {
    const tenant = tenantOfEvent(id)
    const key = JSON.stringify([name, tenant])
    const kind: Kind = byKind.get(key) ?? { name, tenant, events: [] }
    kind.events.push(index + 1)
    byKind.set(key, kind)
  }
  const kinds = [...byKind.values()]
  const found = await findFilteredRecipients(db, kinds)
  const matched: MatchedRecipient[] = []
  const undecided = new Map<string, UndecidedFilter>()
  for (const [number, recipients] of Map.groupBy(found, ({ kind }) => kind)) {
    for (const event of kinds[number - 1]?.events ?? []) {
      const matches = matchingFilters(recipients, subjectOf(events[event - 1] as EventRow))
      for (const { subscription, recipient } of matches.matched) {
        matched.push({ event, subscription, recipient })
      }
      for (const { recipient } of matches.costly) {
        undecided.set(recipient, { recipient, why: 'costly' })
      }
    }
  }
  for (const { recipient, filter } of found) {
    if (!isReadable(filter)) undecided.set(recipient, { recipient, why: 'unreadable' })
  }
  // As they are published: an ordered webhook has them in this order.
  return {
    matched: matched.toSorted((a, b) => a.event - b.event),
    undecided: [...undecided.values()],
  }
}

const subjectOf = ({ name, id, payload }: EventRow): Subject => ({
  event: name,
  tenant: tenantOfEvent(id),
  payload: JSON.parse(payload) as unknown,
})

async function findFilteredRecipients(db: Db, kinds: Kind[]): Promise<FilteredRecipient[]> {
  const { rows } = await db.query(
    `select given.n::int as kind, wants.subscription, target.target::text as recipient,
            target.filter::text
       from unnest($1::text[], $2::text[]) with ordinality as given (name, tenant, n)
       join svc."__svc.subscriptions" as wants on wants.event_name = given.name and wants.targeted
       join svc."__svc.targets" as target
         on target.subscription = wants.subscription and target.filter is not null
        and (target.event_name = given.name
             or target.event_name = '*' and not starts_with(given.name, 'svc.'))
        and target.tenant in ('', given.tenant)`,
    [kinds.map(({ name }) => name), kinds.map(({ tenant }) => tenant)],
  )
  return rows
}
