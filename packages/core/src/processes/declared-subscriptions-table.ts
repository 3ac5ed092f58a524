/**
 * The rows of subscriptions that processes declare: written at boot, and dropped when no process
 * declares them any more. What else is done with them is in events/subscriptions-table.ts.
 */
import { ADVISORY_LOCKS } from '../postgres/advisory-locks.ts'
import type { Db } from '../postgres/transaction.ts'
import { declaredByAlive } from './processes-table.ts'

export interface Subscription {
  subscription: string
  queue: string
  events: string[]
  idempotent: boolean
  /** One job for each recipient, see `setRecipient`, instead of one for the subscription. */
  fansOut: boolean
}

/** Adds the rows of a subscription; those that it had for other events stay. */
export async function addSubscription(db: Db, added: Subscription): Promise<void> {
  await db.query(
    `insert into svc."__svc.subscriptions" (event_name, subscription, queue, idempotent, fans_out)
     select event_name, $2, $3, $4, $5 from unnest($1::text[]) as event_name order by event_name
     on conflict (event_name, subscription) do update
       set queue = excluded.queue, idempotent = excluded.idempotent, fans_out = excluded.fans_out`,
    [added.events, added.subscription, added.queue, added.idempotent, added.fansOut],
  )
}

/** Until the end of the transaction no other process declares or drops events. */
export async function lockDeclarations(db: Db): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.declarations})`)
}

/**
 * Drops the events of these subscriptions that no process declares: no live one, and none that
 * closed within so many seconds.
 */
export async function dropUndeclaredEvents(
  db: Db,
  subscriptions: string[],
  closedWithinSeconds: number,
): Promise<void> {
  await db.query(
    `delete from svc."__svc.subscriptions" as wants
      where wants.subscription = any($1::text[]) and not ${declaredByAlive('$2')}`,
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
        where wants.subscription = any($1::text[]) and not ${declaredByAlive('$2')}) as found`,
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
