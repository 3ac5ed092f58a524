/** What Postgres holds when the storm is over. */
import type pg from 'pg'
import type { Handled } from './ledger.ts'

/** Of the host's own: its orders, and what its subscriptions handled. */
export async function createTables(direct: pg.Pool): Promise<void> {
  await direct.query('create table orders (id text primary key)')
  await direct.query(
    'create table handled (name text, event_id text, payload_id text, primary key (name, event_id))',
  )
}

export const handledIn = async (direct: pg.Pool): Promise<Handled[]> =>
  (await direct.query<Handled>('select * from handled')).rows

export async function ordersIn(direct: pg.Pool): Promise<string[]> {
  const { rows } = await direct.query<{ id: string }>('select id from orders')
  return rows.map(({ id }) => id)
}

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
