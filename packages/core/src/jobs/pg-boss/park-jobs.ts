/**
 * Parks jobs: `blocked` takes them out of the index that fetches scan, so that a parked backlog of
 * a million costs the other jobs nothing. parked-jobs.ts has the statements on parked jobs.
 *
 * Each statement selects its portion in a materialized part, and changes the rows of an array of
 * ids. With a join instead, and an estimate of an empty table, the planner runs the selection once
 * for each row, or reads the table once for each row of the selection.
 */
import type { Db } from '../../postgres/transaction.ts'
import { PRIORITY } from '../job.ts'

/** Rows that one statement moves: a fetch may wait for their locks. */
export const PORTION = 2000

export interface Backlog {
  groups: string[]
  /** Also jobs that are not due yet, such as retries. */
  includesNotDue: boolean
}

/**
 * The position at which the next portion begins: one scan of the fetches' index parks a whole
 * backlog.
 */
export interface ScanPosition {
  priority: number
  createdOn: string
}

export const SCAN_START: ScanPosition = { priority: PRIORITY.first, createdOn: '-infinity' }

/** Parks a portion. Returns of which groups, and where the next portion begins: `null` at the end. */
export async function parkWaiting(
  db: Db,
  queue: string,
  { groups, includesNotDue }: Backlog,
  position: ScanPosition,
): Promise<{ parked: number; groups: string[]; next: ScanPosition | null }> {
  const { rows } = await db.query(
    `with portion as materialized (
       select id, created_on, group_id from svc_jobs.job
        where name = $1 and state < 'active' and not blocked
          and priority = $2 and created_on >= $3::timestamptz
          and group_id = any($4::text[]) and ($5 or start_after <= now())
        order by created_on limit $6
        for update skip locked
     ), parked as (
       update svc_jobs.job as job set blocked = true
        where job.name = $1 and job.id = any(array(select id from portion))
     )
     select count(*)::int as parked, max(created_on)::text as last,
            array_agg(distinct group_id) as groups
       from portion`,
    [queue, position.priority, position.createdOn, groups, includesNotDue, PORTION],
  )
  const [moved] = rows as { parked: number; last: string | null; groups: string[] | null }[]
  const { parked = 0, last = null, groups: parkedGroups = null } = moved ?? {}
  const next = positionAfter(position, parked, last, PORTION)
  return { parked, groups: parkedGroups ?? [], next }
}

/** The end of a portion of that size that found `moved` jobs, the last of which was made at `last`. */
export function positionAfter(
  position: ScanPosition,
  moved: number,
  last: string | null,
  portion: number,
): ScanPosition | null {
  if (moved === portion && last !== null) return { ...position, createdOn: last }
  return position.priority === PRIORITY.first
    ? { priority: PRIORITY.retry, createdOn: '-infinity' }
    : null
}

/** Parks jobs that were inserted in this transaction. They are claimed in the order given. */
export async function parkJobs(db: Db, queue: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await db.query(
    `update svc_jobs.job as job
        set blocked = true,
            created_on = job.created_on + given.n * interval '1 microsecond',
            start_after = job.start_after + given.n * interval '1 microsecond'
       from unnest($2::uuid[]) with ordinality as given (id, n)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = given.id
        and job.state < 'active'`,
    [queue, ids],
  )
}

/** Parks those that were inserted in this transaction for groups that are restricted. */
export async function parkRestricted(db: Db, queue: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await db.query(
    `update svc_jobs.job as job set blocked = true
      where job.name = $1 and job.id = any($2::uuid[]) and job.state < 'active'
        and (select known.restricted from svc."__svc.recipient_states" as known
              where known.queue = $1 and known.recipient = job.singleton_key and known.restricted
                for key share)`,
    [queue, ids],
  )
}

/** Jobs at the head of a lane that {@link parkHead} scans. */
const HEAD = 5000

/**
 * Parks a group's jobs among those that are fetched next, in one short statement. Returns how many of
 * them it has left out, because other transactions have locked them.
 */
export async function parkHead(db: Db, queue: string, group: string): Promise<number> {
  const { rows } = await db.query(
    `with head as materialized (
       (select id, group_id from svc_jobs.job
         where name = $1 and state < 'active' and not blocked and priority = $3
         order by created_on limit $5)
        union all
       (select id, group_id from svc_jobs.job
         where name = $1 and state < 'active' and not blocked and priority = $4
         order by created_on limit $5)
     ), portion as materialized (
       select job.id from svc_jobs.job as job
        where job.name = $1 and job.state < 'active'
          and job.id = any(array(select id from head where group_id = $2))
        for update of job skip locked
     ), parked as (
       update svc_jobs.job as job set blocked = true
        where job.name = $1 and job.id = any(array(select id from portion))
     )
     select (select count(*) from head where group_id = $2)::int
            - (select count(*) from portion)::int as locked`,
    [queue, group, PRIORITY.first, PRIORITY.retry, HEAD],
  )
  return (rows[0] as { locked: number }).locked
}
