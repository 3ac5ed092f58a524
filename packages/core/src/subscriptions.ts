/** Who wants which event: the rows that every publish reads. */
import type { Db } from './database.ts'

export interface Subscription {
  subscription: string
  queue: string
  events: string[]
  idempotent: boolean
  /** One job for each target, see {@link setTarget}, instead of one for the subscription. */
  targeted: boolean
}

/** Adds the rows of a subscription; those that it had for other events stay. */
export async function addSubscription(db: Db, wanted: Subscription): Promise<void> {
  await db.query(
    `insert into svc."__svc.subscriptions" (event_name, subscription, queue, idempotent, targeted)
     select event_name, $2, $3, $4, $5 from unnest($1::text[]) as event_name order by event_name
     on conflict (event_name, subscription) do update
       set queue = excluded.queue, idempotent = excluded.idempotent, targeted = excluded.targeted`,
    [wanted.events, wanted.subscription, wanted.queue, wanted.idempotent, wanted.targeted],
  )
}

/** Drops the rows of a subscription for all but these events. */
export async function dropOtherEvents(
  db: Db,
  { subscription, events }: Pick<Subscription, 'subscription' | 'events'>,
): Promise<void> {
  await db.query(
    `delete from svc."__svc.subscriptions"
      where subscription = $1 and event_name <> all($2::text[])`,
    [subscription, events],
  )
}

/** One that fans out is not anybody's to retire. */
export async function retireSubscription(db: Db, subscription: string): Promise<void> {
  await db.query(`delete from svc."__svc.subscriptions" where subscription = $1 and not targeted`, [
    subscription,
  ])
}

/** What comes of the events of these subscriptions is kept so long, and they with it. */
export async function setKeepDays(db: Db, subscriptions: string[], days: number): Promise<void> {
  await db.query(
    `update svc."__svc.subscriptions" set keep_days = $2
      where subscription = any($1::text[]) and keep_days <> $2`,
    [subscriptions, days],
  )
}

/** Which events of a subscription one target wants; `*` stands for all, an empty list for none. */
export async function setTarget(
  db: Db,
  subscription: string,
  target: string,
  events: string[],
): Promise<void> {
  // With '*' the others say nothing more, and would give one event two jobs.
  const wanted = events.includes('*') ? ['*'] : [...new Set(events)]
  await db.query(
    `with wanted as (
       insert into svc."__svc.targets" (subscription, event_name, target)
       select $1, event_name, $2 from unnest($3::text[]) as event_name
       on conflict do nothing
     )
     delete from svc."__svc.targets"
      where subscription = $1 and target = $2 and event_name <> all($3::text[])`,
    [subscription, target, wanted],
  )
}
