/** The recipients that have a filter: which of them an event is sent to is decided as it is published. */
import type { Db } from '../postgres/transaction.ts'
import { tenantOfEvent } from './event-id.ts'
import type { EventRow } from './events-table.ts'
import { isReadable, matchingFilters } from './filter/matching-filters.ts'
import type { UndecidedFilter } from './undecided-filters.ts'

/** A recipient whose filter lets an event through. */
export interface MatchedRecipient {
  /** Which of the events, from 1. */
  event: number
  subscription: string
  recipient: string
}

interface FilteredRecipient extends MatchedRecipient {
  /** JSON text. */
  filter: string
}

export interface MatchedRecipients {
  matched: MatchedRecipient[]
  undecided: UndecidedFilter[]
}

/** Reads the filters of those who want these events, and decides each. */
export async function matchRecipients(db: Db, events: EventRow[]): Promise<MatchedRecipients> {
  const found = await findFilteredRecipients(db, events)
  const matched: MatchedRecipient[] = []
  const undecided = new Map<string, UndecidedFilter>()
  for (const [number, recipients] of Map.groupBy(found, ({ event }) => event)) {
    const { name, id, payload } = events[number - 1] as EventRow
    const subject = {
      event: name,
      tenant: tenantOfEvent(id),
      payload: JSON.parse(payload) as unknown,
    }
    const matches = matchingFilters(recipients, subject)
    for (const one of matches.matched) matched.push(one)
    for (const { recipient } of matches.costly) {
      undecided.set(recipient, { recipient, why: 'costly' })
    }
  }
  for (const { recipient, filter } of found) {
    if (!isReadable(filter)) undecided.set(recipient, { recipient, why: 'unreadable' })
  }
  return { matched, undecided: [...undecided.values()] }
}

async function findFilteredRecipients(db: Db, events: EventRow[]): Promise<FilteredRecipient[]> {
  const { rows } = await db.query(
    `select given.n::int as event, wants.subscription, target.target::text as recipient,
            target.filter::text
       from unnest($1::text[], $2::text[]) with ordinality as given (name, tenant, n)
       join svc."__svc.subscriptions" as wants on wants.event_name = given.name and wants.targeted
       join svc."__svc.targets" as target
         on target.subscription = wants.subscription and target.filter is not null
        and (target.event_name = given.name
             or target.event_name = '*' and not starts_with(given.name, 'svc.'))
        and target.tenant in ('', given.tenant)`,
    [events.map(({ name }) => name), events.map(({ id }) => tenantOfEvent(id))],
  )
  return rows
}
