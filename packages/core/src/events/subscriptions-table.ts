/** The tables of subscriptions and recipients, which every publish reads. */
import type { Db } from '../postgres/transaction.ts'
import { withoutCovered } from './event-patterns.ts'

/** Fan-out subscriptions belong to plugins: `unsubscribe` does not remove them. */
export async function retireSubscription(db: Db, subscription: string): Promise<void> {
  await db.query(`delete from svc."__svc.subscriptions" where subscription = $1 and not fans_out`, [
    subscription,
  ])
}

/** How long the dead letters of these subscriptions are kept, and their events with them. */
export async function setRetentionDays(
  db: Db,
  subscriptions: string[],
  days: number,
): Promise<void> {
  await db.query(
    `update svc."__svc.subscriptions" set keep_days = $2
      where subscription = any($1::text[]) and keep_days <> $2`,
    [subscriptions, days],
  )
}

/** What a recipient of a subscription that fans out wants. */
export interface Recipient {
  id: string
  /** Names and patterns, see event-patterns.ts; an empty list for none. */
  events: string[]
  /** With one it gets the events of that tenant, else those of all. @default null */
  tenant?: string | null
  /** Which of them, see filter/compile-filter.ts. @default null: all */
  filter?: object | null
}

export async function setRecipient(
  db: Db,
  subscription: string,
  { id, events, tenant = null, filter = null }: Recipient,
): Promise<void> {
  await db.query(
    `with added as (
       insert into svc."__svc.recipients" as known (subscription, event_name, recipient, tenant, filter)
       select $1, event_name, $2, $4, $5 from unnest($3::text[]) as event_name
       on conflict (subscription, event_name, recipient) do update
         set tenant = excluded.tenant, filter = excluded.filter
         where (known.tenant, known.filter) is distinct from (excluded.tenant, excluded.filter)
     )
     delete from svc."__svc.recipients"
      where subscription = $1 and recipient = $2 and event_name <> all($3::text[])`,
    // A name beside a pattern that means it too would give one event two jobs.
    [subscription, id, withoutCovered(events), tenant ?? '', filter && JSON.stringify(filter)],
  )
}
