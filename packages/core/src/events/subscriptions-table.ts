/** The tables of subscriptions and recipients, which every publish reads. */
import { ADVISORY_LOCKS } from '../postgres/advisory-locks.ts'
import type { Db } from '../postgres/transaction.ts'
import { isReservedName } from './own-events.ts'
import { declaredByLiving } from '../processes/processes-table.ts'

export interface Subscription {
  subscription: string
  queue: string
  events: string[]
  idempotent: boolean
  /** One job for each recipient, see {@link setRecipient}, instead of one for the subscription. */
  fansOut: boolean
}

/** Adds the rows of a subscription; those that it had for other events stay. */
export async function addSubscription(db: Db, added: Subscription): Promise<void> {
  await db.query(
    `insert into svc."__svc.subscriptions" (event_name, subscription, queue, idempotent, targeted)
     select event_name, $2, $3, $4, $5 from unnest($1::text[]) as event_name order by event_name
     on conflict (event_name, subscription) do update
       set queue = excluded.queue, idempotent = excluded.idempotent, targeted = excluded.targeted`,
    [added.events, added.subscription, added.queue, added.idempotent, added.fansOut],
  )
}

/** Until the end of the transaction no other process declares or drops events. */
export async function lockDeclarations(db: Db): Promise<void> {
  await db.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.declarations])
}

/**
 * Drops the events of these subscriptions that no process declares: none that lives, and none that
 * closed within so many seconds.
 */
export async function dropUndeclaredEvents(
  db: Db,
  subscriptions: string[],
  closedWithinSeconds: number,
): Promise<void> {
  await db.query(
    `delete from svc."__svc.subscriptions" as wants
      where wants.subscription = any($1::text[]) and not ${declaredByLiving('$2')}`,
    [subscriptions, closedWithinSeconds],
  )
}

/** Whether {@link dropUndeclaredEvents} would drop any. */
export async function hasUndeclaredEvents(
  db: Db,
  subscriptions: string[],
  closedWithinSeconds: number,
): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
       select from svc."__svc.subscriptions" as wants
        where wants.subscription = any($1::text[]) and not ${declaredByLiving('$2')}
     ) as found`,
    [subscriptions, closedWithinSeconds],
  )
  return rows[0].found
}

/** Whether a subscription has no event at all: it was retired, or never declared. */
export async function isRetired(db: Db, subscription: string): Promise<boolean> {
  const { rows } = await db.query(
    `select not exists (
       select from svc."__svc.subscriptions" where subscription = $1) as "isRetired"`,
    [subscription],
  )
  return rows[0].isRetired
}

/** Fan-out subscriptions belong to plugins: `unsubscribe` does not remove them. */
export async function retireSubscription(db: Db, subscription: string): Promise<void> {
  await db.query(`delete from svc."__svc.subscriptions" where subscription = $1 and not targeted`, [
    subscription,
  ])
}

/** What comes of the events of these subscriptions is kept so long, and they with it. */
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
  /** `*` for all of the host, an empty list for none. */
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
  // With '*' the others of the host say nothing more, and would give one event two jobs.
  const named = events.includes('*') ? events.filter(isReservedName) : events
  const names = [...new Set(events.includes('*') ? ['*', ...named] : named)]
  await db.query(
    `with added as (
       insert into svc."__svc.targets" as known (subscription, event_name, target, tenant, filter)
       select $1, event_name, $2, $4, $5 from unnest($3::text[]) as event_name
       on conflict (subscription, event_name, target) do update
         set tenant = excluded.tenant, filter = excluded.filter
         where (known.tenant, known.filter) is distinct from (excluded.tenant, excluded.filter)
     )
     delete from svc."__svc.targets"
      where subscription = $1 and target = $2 and event_name <> all($3::text[])`,
    [subscription, id, names, tenant ?? '', filter && JSON.stringify(filter)],
  )
}

/** Whether some subscription or recipient has asked for the event by its name. */
export async function isWanted(db: Db, name: string): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
       select from svc."__svc.subscriptions" as wants
        where wants.event_name = $1
          and (not wants.targeted or exists (
                 select from svc."__svc.targets" as recipient
                  where recipient.subscription = wants.subscription
                    and recipient.event_name = wants.event_name))) as "isWanted"`,
    [name],
  )
  return rows[0].isWanted
}
