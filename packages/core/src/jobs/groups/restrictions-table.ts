/** The restrictions of groups, in the table of groups. They hold over all processes. */
import type { Db } from '../../postgres/transaction.ts'

/** The restrictions of a group's attempts; `null` for one that is not set. */
export interface Restrictions {
  /** The rate: at most `limit` attempts begin in any span of `perSeconds`. */
  rateLimit: { limit: number; perSeconds: number } | null
  /** Attempts at a time. */
  maxInFlight: number | null
  /** One job at a time, the oldest first. One that waits for its next attempt holds the others. */
  ordered: boolean
}

export const isRestricted = ({ rateLimit, maxInFlight, ordered }: Restrictions): boolean =>
  rateLimit !== null || maxInFlight !== null || ordered

const SETTINGS = `restricted = excluded.restricted, rate_limit = excluded.rate_limit,
  rate_seconds = excluded.rate_seconds, max_in_flight = excluded.max_in_flight,
  ordered = excluded.ordered`

/**
 * From the commit on they hold for every attempt that begins. `isNew`: the group has had no job yet.
 * Jobs that wait already are parked in the background before the first of them is claimed; those that
 * run are marked, so that they come back parked.
 */
export async function setRestrictions(
  db: Db,
  queue: string,
  group: string,
  restrictions: Restrictions,
  { isNew = false } = {},
): Promise<void> {
  const { rateLimit, maxInFlight, ordered } = restrictions
  await db.query(
    `insert into svc."__svc.job_groups" as known
       (queue, group_id, restricted, rate_limit, rate_seconds, max_in_flight, ordered, unparked_since)
     values ($1, $2, true, $3, $4, $5, $6, case when not $7 then clock_timestamp() end)
     on conflict (queue, group_id) do update
       set ${SETTINGS}, parked_at = now(),
           unparked_since = case when known.restricted then known.unparked_since
                                 else excluded.unparked_since end`,
    [
      queue,
      group,
      rateLimit?.limit ?? null,
      rateLimit?.perSeconds ?? null,
      maxInFlight,
      ordered,
      isNew,
    ],
  )
  if (isNew) return
  // Locked jobs are left out: they are being settled just now, and may wait for the row above.
  await db.query(
    `update svc_jobs.job as job set blocked = true
      where job.name = $1 and job.id = any(array(
              select id from svc_jobs.job
               where name = $1 and group_id = $2 and state = 'active' and not blocked
                 for update skip locked))`,
    [queue, group],
  )
}

/** The jobs of the group go on as those of any other. Those that are parked are claimed in turns. */
export async function liftRestrictions(db: Db, queue: string, group: string): Promise<void> {
  await db.query(
    `update svc."__svc.job_groups"
        set restricted = false, rate_limit = null, rate_seconds = null, max_in_flight = null,
            ordered = false, unparked_since = null, parked_at = now()
      where queue = $1 and group_id = $2 and restricted`,
    [queue, group],
  )
  await db.query(`delete from svc."__svc.job_grants" where queue = $1 and group_id = $2`, [
    queue,
    group,
  ])
}

/**
 * Marks restricted groups as claimable once all of their jobs are parked. A job that another
 * process is parking counts as not parked. `since`: as it was read. Returns whether any group was
 * marked.
 */
export async function endParking(
  db: Db,
  queue: string,
  groups: { group: string; since: string }[],
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update svc."__svc.job_groups" as known set unparked_since = null
       from unnest($2::text[], $3::text[]) as parked (group_id, since)
      where known.queue = $1 and known.group_id = parked.group_id
        and known.unparked_since = parked.since::timestamptz
        and (select true from svc_jobs.job
              where job.name = $1 and job.state < 'active' and not job.blocked
                and job.group_id = known.group_id limit 1) is null`,
    [queue, groups.map(({ group }) => group), groups.map(({ since }) => since)],
  )
  return rowCount !== 0
}

/** Deletes grants that no rate counts any more: the longest span is a day. */
export async function sweepGrants(db: Db): Promise<void> {
  await db.query(`delete from svc."__svc.job_grants" where begun_by < now() - interval '2 days'`)
}
