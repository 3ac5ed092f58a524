/** What Postgres holds of a schedule when the storm is over. */
import type pg from 'pg'
import type { Afterwards, Counted, Handled } from './ledger.ts'

/** Makes the host's own tables: its orders, and what its subscriptions handled. */
export async function createTables(direct: pg.Pool): Promise<void> {
  await direct.query('create table orders (id text primary key)')
  await direct.query(
    `create table handled (
       subscription text, name text, event_id text, payload_id text,
       primary key (subscription, name, event_id))`,
  )
}

/** Empties them for the next schedule. */
export const emptyTables = (direct: pg.Pool): Promise<unknown> =>
  direct.query('delete from orders; delete from handled')

/** Jobs of subscriptions and deliveries that are not done, and those that have died. */
export async function jobsIn(direct: pg.Pool): Promise<{ waiting: number; dead: number }> {
  const { rows } = await direct.query<{ waiting: number; dead: number }>(
    `select count(*) filter (where state < 'completed' and name not like '%.dlq')::int as waiting,
       count(*) filter (where name like '%.dlq')::int as dead
     from svc_jobs.job
     where name like '\\_\\_svc.%'`,
  )
  return rows[0]!
}

/** Attempts in the log beside those in the statistics, wherever these have got to. */
const STATISTICS = `
  with logged as (
    select webhook_id, status, count(*) as attempts
      from svc."__svc.webhooks.delivery_log" where webhook_id = any($1::uuid[]) group by 1, 2
  ), counted as (
    select webhook_id, status, count(*) as attempts
      from svc."__svc.webhooks.recent_attempts" where webhook_id = any($1::uuid[]) group by 1, 2
    union all
    select webhook_id, of.status, sum(of.attempts)
      from svc."__svc.webhooks.stats",
           lateral (values ('delivered', delivered), ('failed', failed - dead), ('dead', dead),
                           ('skipped', skipped)) as of (status, attempts)
     where webhook_id = any($1::uuid[])
     group by 1, 2
  )
  select coalesce(logged.webhook_id, sums.webhook_id)::text as webhook, status,
         coalesce(logged.attempts, 0)::int as logged, coalesce(sums.attempts, 0)::int as counted
    from logged
    full join (select webhook_id, status, sum(attempts) as attempts
                 from counted group by 1, 2) as sums using (webhook_id, status)`

/** @param webhooks the ids of the schedule's own */
export async function afterwardsIn(
  direct: pg.Pool,
  seed: number,
  webhooks: readonly string[],
): Promise<Afterwards> {
  const own = [`%-${seed}-%`]
  // Before the jobs are counted: an order that is committed later is not expected yet.
  const { rows: orders } = await direct.query<{ id: string }>(
    'select id from orders where id like $1',
    own,
  )
  const { waiting, dead } = await jobsIn(direct)
  const { rows: stored } = await direct.query<{ id: string }>(
    `select payload::json ->> 'id' as id from svc."__svc.events"
      where name in ('order.created', 'order.step', 'sender.sent')`,
  )
  const { rows: handled } = await direct.query<Handled>(
    'select * from handled where payload_id like $1',
    own,
  )
  const { rows: logged } = await direct.query<{ id: string }>(
    `select delivery_id::text as id from svc."__svc.webhooks.delivery_log"
      where webhook_id = any($1::uuid[]) and status = 'delivered'`,
    [webhooks],
  )
  return {
    handled,
    stored: stored.map(({ id }) => id),
    orders: orders.map(({ id }) => id),
    waiting,
    deadLetters: dead,
    logged: logged.map(({ id }) => id),
    // In one statement: a host may roll up at any time.
    statistics: (await direct.query<Counted>(STATISTICS, [webhooks])).rows,
  }
}

/** What is known of jobs that wait, for whoever reads that they do. */
export async function describeWaiting(direct: pg.Pool): Promise<string[]> {
  const { rows } = await direct.query<{ text: string }>(
    `select format('%s: %s of %s, owner %s, blocked %s, %s retries, due in %s s, started %s s ago,'
                   ' %s',
              name, state, coalesce(group_id, singleton_key), group_tier, blocked, retry_count,
              extract(epoch from start_after - now()), extract(epoch from now() - started_on),
              output) as text
       from svc_jobs.job
      where name like '\\_\\_svc.%' and state < 'completed' and name not like '%.dlq'
      limit 5`,
  )
  return rows.map(({ text }) => text)
}
