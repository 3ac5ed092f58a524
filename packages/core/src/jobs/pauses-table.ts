/** The table of pauses: which queues are stopped, or the recipients of which tenants in them. */
import type { Db } from '../postgres/transaction.ts'

export interface Pause {
  queue: string
  /** `null`: the whole queue. */
  tenant: string | null
  reason: string | null
  /** ISO 8601. */
  since: string
}

export async function listPauses(db: Db): Promise<Pause[]> {
  const { rows } = await db.query(
    `select coalesce(json_agg(json_build_object(
              'queue', queue, 'tenant', nullif(tenant, ''), 'reason', reason,
              'since', to_char(since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
              order by since, queue, tenant), '[]')::text as pauses
       from svc."__svc.pauses"`,
  )
  return JSON.parse((rows[0] as { pauses: string }).pauses) as Pause[]
}

/** Returns whether it was not paused before. A later reason takes the place of an earlier one. */
export async function insertPause(
  db: Db,
  { queue, tenant, reason }: Omit<Pause, 'since'>,
): Promise<boolean> {
  const { rows } = await db.query(
    `insert into svc."__svc.pauses" as known (queue, tenant, reason) values ($1, $2, $3)
     on conflict (queue, tenant) do update set reason = coalesce(excluded.reason, known.reason)
     returning (xmax = 0)::text as "isNew"`,
    [queue, tenant ?? '', reason],
  )
  return (rows[0] as { isNew: string }).isNew === 'true'
}

export async function deletePause(
  db: Db,
  { queue, tenant }: Pick<Pause, 'queue' | 'tenant'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from svc."__svc.pauses" where queue = $1 and tenant = $2`,
    [queue, tenant ?? ''],
  )
  return (rowCount ?? 0) > 0
}
