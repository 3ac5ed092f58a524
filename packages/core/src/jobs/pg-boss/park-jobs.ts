/**
 * Parks jobs: `blocked` takes them out of the index that fetches scan, so that a parked backlog of
 * a million costs the other jobs nothing. parked-jobs.ts has the statements on parked jobs.
 *
 * Each statement selects its portion in a materialized part, and changes the rows of an array of
 * ids. With a join instead, and an estimate of an empty table, the planner runs the selection once
 * for each row, or reads the table once for each row of the selection.
 */
import type { Db } from '../../postgres/transaction.ts'
import { PRIORITY, type Job } from '../job.ts'
import { LEASE_RETURNED } from './jobs-table.ts'

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

/**
 * Parks jobs that this process has fetched. No attempt is used up. Returns those still leased to it.
 * A probe among them has failed: the next one tries another job.
 */
export async function parkFetched(db: Db, queue: string, jobs: Job[]): Promise<string[]> {
  if (jobs.length === 0) return []
  const { rows } = await db.query(
    `update svc_jobs.job as job
        set ${LEASE_RETURNED}, blocked = true
       from unnest($2::uuid[], $3::timestamptz[]) as claim (id, started_on)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = claim.id
        and job.state = 'active' and job.started_on = claim.started_on
     returning job.id`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ startedOn }) => startedOn)],
  )
  const parked = rows.map(({ id }: { id: string }) => id)
  const probes = new Set(jobs.filter(({ isProbe }) => isProbe).map(({ id }) => id))
  await putBehind(
    db,
    queue,
    parked.filter((id) => probes.has(id)),
  )
  return parked
}

/**
 * Makes parked jobs due after all others of their groups, also those whose retry is hours away. In an
 * order none may overtake another, and a later due time of the first one would hold up the others.
 */
async function putBehind(db: Db, queue: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await db.query(
    `with behind as materialized (
       select failed.id, interval '1 microsecond' + greatest(now(), (
                select last.start_after from svc_jobs.job as last
                 where last.name = $1 and last.singleton_key = failed.singleton_key
                   and last.blocked and last.state < 'active'
                 order by last.start_after desc limit 1)) as at
         from svc_jobs.job as failed
        where failed.name = $1 and failed.id = any($2::uuid[])
          and not exists (
                select from svc."__svc.recipient_states" as known
                 where known.queue = $1 and known.recipient = failed.group_id and known.ordered)
     )
     update svc_jobs.job as job
        set start_after = behind.at, keep_until = behind.at + (job.keep_until - job.start_after)
       from behind
      where job.name = $1 and job.id = any(array(select id from behind)) and job.id = behind.id`,
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
