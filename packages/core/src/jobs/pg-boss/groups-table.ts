/** The table of groups that have, or may have, parked jobs. */
import type { Db } from '../../postgres/transaction.ts'

export interface JobGroup {
  group: string
  /** Whether no job of the group starts. */
  held: boolean
  /** Whether its circuit is open: its last attempts failed. */
  circuitOpen: boolean
  /** When a job of it was parked last, as text. */
  parkedAt: string
  restricted: boolean
  rateSeconds: number | null
  /** Attempts at a time over all processes, where that is restricted. */
  maxInFlight: number | null
  /**
   * Whether its jobs run one at a time, the oldest first, and at any rate: then the settlement of one
   * may claim the next. A group with an order and a rate does not have this.
   */
  ordered: boolean
  /**
   * For a restricted group: since when jobs of it may wait among those of other groups, as text.
   */
  unparkedSince: string | null
}

export async function listJobGroups(db: Db, queue: string): Promise<JobGroup[]> {
  const { rows } = await db.query(
    `select group_id as "group", held, circuit_open as "circuitOpen", parked_at::text as "parkedAt",
            restricted, unparked_since::text as "unparkedSince", rate_seconds as "rateSeconds",
            case when ordered then 1 else max_in_flight end as "maxInFlight",
            ordered and rate_limit is null as ordered
       from svc."__svc.job_groups" where queue = $1`,
    [queue],
  )
  return rows
}

/** From the commit on no job of the group starts (`held`), or its jobs go on. */
export async function setHeld(db: Db, queue: string, group: string, held: boolean): Promise<void> {
  await db.query(
    `insert into svc."__svc.job_groups" as job_groups (queue, group_id, held) values ($1, $2, $3)
     on conflict (queue, group_id) do update
       -- A released group starts with a closed circuit.
       set held = excluded.held, parked_at = now(),
           circuit_open = job_groups.circuit_open and excluded.held`,
    [queue, group, held],
  )
}

export async function setCircuits(
  db: Db,
  queue: string,
  groups: string[],
  isOpen: boolean,
): Promise<void> {
  if (groups.length === 0) return
  await db.query(
    `insert into svc."__svc.job_groups" (queue, group_id, circuit_open)
     select $1, group_id, $3 from unnest($2::text[]) as group_id order by group_id
     on conflict (queue, group_id) do update
       set circuit_open = excluded.circuit_open, parked_at = now()`,
    [queue, groups, isOpen],
  )
}

/**
 * Jobs of these groups are parked in the same transaction: processes see the groups from its commit
 * on, and their rows stay for a while.
 */
export async function recordParked(db: Db, queue: string, groups: string[]): Promise<void> {
  if (groups.length === 0) return
  await db.query(
    `insert into svc."__svc.job_groups" (queue, group_id)
     select $1, group_id from unnest($2::text[]) as group_id order by group_id
     on conflict (queue, group_id) do update set parked_at = now()`,
    [queue, groups],
  )
}

/** Deletes the rows of groups without parked jobs. Returns the groups whose row was deleted. */
export async function deleteUnusedGroups(
  db: Db,
  queue: string,
  groups: string[],
): Promise<string[]> {
  if (groups.length === 0) return []
  const { rows } = await db.query(
    `with unused as materialized (
       select group_id from svc."__svc.job_groups" as job_group
        where queue = $1 and group_id = any($2::text[]) and not held and not circuit_open
          and not restricted
          -- A job that another transaction is parking is not visible below, but has set parked_at.
          and parked_at < now() - interval '10 seconds'
          -- Not as an anti-join: the plan for an empty table would scan all jobs. The indexes of jobs have
          -- the default collation.
          and (select true from svc_jobs.job
                where job.name = $1 and job.singleton_key = job_group.group_id collate "default"
                  and job.blocked and job.state < 'active' limit 1) is null
          -- A running job is parked again where the group was restricted when the job began.
          and (select true from svc_jobs.job
                where job.name = $1 and job.group_id = job_group.group_id collate "default"
                  and job.blocked and job.state = 'active' limit 1) is null
          -- The pump waits for this: a transaction of the host may hold a row for as long as it takes.
          for update skip locked)
     delete from svc."__svc.job_groups" as job_group
      using unused
      where job_group.queue = $1 and job_group.group_id = unused.group_id
     returning job_group.group_id as "group"`,
    [queue, groups],
  )
  return rows.map(({ group }: { group: string }) => group)
}

/** Deletes the rows of groups that do not exist any more, and their moves and recoveries. */
export async function deleteGroups(
  db: Db,
  queue: string,
  groups: readonly string[],
): Promise<void> {
  await db.query(
    `with moves as (
       delete from svc."__svc.job_moves" where queue = $1 and group_id = any($2::text[])
     ), recoveries as (
       delete from svc."__svc.recoveries" where queue = $1 and group_id = any($2::text[])
     ), grants as (
       delete from svc."__svc.job_grants" where queue = $1 and group_id = any($2::text[])
     )
     delete from svc."__svc.job_groups" where queue = $1 and group_id = any($2::text[])`,
    [queue, groups],
  )
}
