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
    `select recipient as "group", held, circuit_open as "circuitOpen", parked_at::text as "parkedAt",
            restricted, unparked_since::text as "unparkedSince", rate_seconds as "rateSeconds",
            case when ordered then 1 else max_in_flight end as "maxInFlight",
            ordered and rate_limit is null as ordered
       from svc."__svc.recipient_states" where queue = $1`,
    [queue],
  )
  return rows
}

/** From the commit on no job of the group starts (`held`), or its jobs go on. */
export async function setHeld(db: Db, queue: string, group: string, held: boolean): Promise<void> {
  await db.query(
    `insert into svc."__svc.recipient_states" as known (queue, recipient, held) values ($1, $2, $3)
     on conflict (queue, recipient) do update
       -- A released group starts with a closed circuit.
       set held = excluded.held, parked_at = now(),
           circuit_open = known.circuit_open and excluded.held`,
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
    `insert into svc."__svc.recipient_states" (queue, recipient, circuit_open)
     select $1, recipient, $3 from unnest($2::text[]) as recipient order by recipient
     on conflict (queue, recipient) do update
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
    `insert into svc."__svc.recipient_states" (queue, recipient)
     select $1, recipient from unnest($2::text[]) as recipient order by recipient
     on conflict (queue, recipient) do update set parked_at = now()`,
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
       select recipient from svc."__svc.recipient_states" as known
        where queue = $1 and recipient = any($2::text[]) and not held and not circuit_open
          and not restricted
          -- A job that another transaction is parking is not visible below, but has set parked_at.
          and parked_at < now() - interval '10 seconds'
          -- Not as an anti-join: the plan for an empty table would scan all jobs. The indexes of jobs have
          -- the default collation.
          and (select true from svc_jobs.job
                where job.name = $1 and job.singleton_key = known.recipient collate "default"
                  and job.blocked and job.state < 'active' limit 1) is null
          -- A running job is parked again where the group was restricted when the job began.
          and (select true from svc_jobs.job
                where job.name = $1 and job.group_id = known.recipient collate "default"
                  and job.blocked and job.state = 'active' limit 1) is null
          -- The pump waits for this: a transaction of the host may hold a row for as long as it takes.
          for update skip locked)
     delete from svc."__svc.recipient_states" as known
      using unused
      where known.queue = $1 and known.recipient = unused.recipient
     returning known.recipient as "group"`,
    [queue, groups],
  )
  return rows.map(({ group }: { group: string }) => group)
}

/** Deletes the rows of groups that do not exist any more, and the work on them. */
export async function deleteGroups(
  db: Db,
  queue: string,
  groups: readonly string[],
): Promise<void> {
  await db.query(
    `with work as (
       delete from svc."__svc.work" where queue = $1 and recipient = any($2::text[])
     ), grants as (
       delete from svc."__svc.attempt_grants" where queue = $1 and recipient = any($2::text[])
     )
     delete from svc."__svc.recipient_states" where queue = $1 and recipient = any($2::text[])`,
    [queue, groups],
  )
}
