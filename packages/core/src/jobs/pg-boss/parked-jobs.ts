/**
 * Statements on parked jobs, which no fetch reads: they are claimed by their group, made due, or
 * discarded with it. park-jobs.ts parks them, and explains how these statements are written.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'
import { asJob, JOB_COLUMNS, type JobRow } from './jobs-table.ts'
import { BEGINS_WITHIN_MS } from './claim-ordered-or-limited.ts'
import { claimedBy } from './fetch-due-jobs.ts'
import { parkHead, PORTION } from './park-jobs.ts'

/** Claims parked jobs that are due, of each group at most its limit, the oldest first. */
export async function claimParked<Data>(
  db: Db,
  queue: string,
  limits: { group: string; limit: number }[],
  owner: string,
): Promise<Job<Data>[]> {
  if (limits.length === 0) return []
  const { rows } = await db.query(
    `with due as materialized (
       select claimable.id from unnest($2::text[], $3::int[]) as wanted (group_id, most)
        cross join lateral (
          select id from svc_jobs.job
           where name = $1 and singleton_key = wanted.group_id
             and blocked and state < 'active' and start_after <= now()
           order by start_after limit wanted.most
           for update skip locked
        ) as claimable
     )
     update svc_jobs.job as job set blocked = false, ${claimedBy('$4')}
      where job.name = $1 and job.id = any(array(select id from due))
     returning ${JOB_COLUMNS}`,
    [queue, limits.map(({ group }) => group), limits.map(({ limit }) => limit), owner],
  )
  return rows.map((row: JobRow<Data>) => asJob(row))
}

/**
 * Claims a job of a held group for a probe. A job whose attempt was under way when the group was held
 * may not be parked yet. It is parked first.
 */
export async function claimProbe<Data>(
  db: Db,
  queue: string,
  group: string,
  owner: string,
): Promise<Job<Data> | undefined> {
  const job = await claimNextProbe<Data>(db, queue, group, owner)
  if (job) return job
  await parkHead(db, queue, group)
  return await claimNextProbe<Data>(db, queue, group, owner)
}

/**
 * Claims the parked job of a held group that is due first, also one that is not due yet: "__svc.settle" puts
 * one whose probe has failed behind the others. In an order it is the oldest one or none: the head is
 * chosen without a lock, so that no other takes its place while its row is locked.
 * What restricts the group holds for a probe too: another attempt may be under way since before it was
 * held, and the rate counts the probe.
 */
async function claimNextProbe<Data>(
  db: Db,
  queue: string,
  group: string,
  owner: string,
): Promise<Job<Data> | undefined> {
  const askedAt = performance.now()
  const { rows } = await db.query(
    `with held as materialized (
       select restricted, ordered, rate_limit, rate_seconds,
              case when ordered then 1 else max_in_flight end as at_a_time
         from svc."__svc.recipient_states"
        where queue = $1 and recipient = $2 and held and unparked_since is null
          for no key update skip locked
     ), allowed as materialized (
       select * from held
        where (at_a_time is null or at_a_time > (
                select count(*) from svc_jobs.job
                 where name = $1 and group_id = $2 and state = 'active'))
          and (rate_limit is null or rate_limit > (
                select coalesce(sum(attempts), 0) from svc."__svc.attempt_grants"
                 where queue = $1 and recipient = $2
                   and begun_by > clock_timestamp() - rate_seconds * interval '1 second'))
     ), head as materialized (
       select id from svc_jobs.job
        where name = $1 and singleton_key = $2 and blocked and state < 'active'
          and exists (select from allowed where ordered)
        order by created_on, id limit 1
     ), head_claimed as materialized (
       select id from svc_jobs.job
        where name = $1 and id = (select id from head) and blocked and state < 'active'
        for update skip locked
     ), first_due_claimed as materialized (
       select id from svc_jobs.job
        where name = $1 and singleton_key = $2 and blocked and state < 'active'
          and exists (select from allowed where not ordered)
        order by start_after limit 1
        for update skip locked
     ), first as materialized (
       select id from head_claimed union all select id from first_due_claimed
     ), granted as (
       insert into svc."__svc.attempt_grants" (id, queue, recipient, granted_at, begun_by)
       select gen_random_uuid(), $1, $2, clock_timestamp(),
              -- As "__svc.claim_restricted" counts an attempt that has no report yet.
              clock_timestamp() + interval '1 millisecond' * ($4 + least(500 * rate_seconds, 1000))
         from allowed where rate_limit is not null and exists (select from first)
       returning id
     )
     update svc_jobs.job as job
        -- The jobs of a restricted group stay marked while they run, see "__svc.claim_restricted".
        set blocked = (select restricted from held), ${claimedBy('$3')}
      where job.name = $1 and job.id = any(array(select id from first))
     returning ${JOB_COLUMNS}, (select restricted from held) as "isRestricted",
               (select id from granted) as "grantId"`,
    [queue, group, owner, BEGINS_WITHIN_MS],
  )
  const [row] = rows as (JobRow<Data> & { isRestricted: boolean; grantId: string | null })[]
  if (row === undefined) return undefined
  const probe = { ...asJob(row), isProbe: true }
  return row.isRestricted ? { ...probe, grant: { id: row.grantId, askedAt } } : probe
}

/** The result of {@link makeParkedDue}. */
export interface ParkedMadeDue {
  /** How many jobs became due. */
  count: number
  /** Whether others are not due: more than a portion, or locked by other transactions. */
  hasMore: boolean
  /** Jobs whose last attempt began before that moment, as ISO 8601. */
  attemptedBefore: string
}

/**
 * Makes a portion of a group's parked jobs due that are not yet, and whose last attempt began before
 * a moment: `null` for now.
 */
export async function makeParkedDue(
  db: Db,
  queue: string,
  group: string,
  attemptedBefore: string | null,
): Promise<ParkedMadeDue> {
  const { rows } = await db.query(
    // Not now(): the transaction may have begun long before.
    `with moment as materialized (
       select coalesce($4::timestamptz, clock_timestamp()) as at
     ), waiting as materialized (
       select id from svc_jobs.job
        where name = $1 and singleton_key = $2 and blocked and state < 'active' and start_after > now()
          and (started_on is null or started_on < (select at from moment))
        order by start_after limit $3 + 1
     ), portion as materialized (
       select id from svc_jobs.job
        where name = $1 and id = any(array(select id from waiting limit $3))
          and state < 'active' and blocked
        for update skip locked
     ), made_due as (
       update svc_jobs.job as job set start_after = now()
        where job.name = $1 and job.id = any(array(select id from portion))
     )
     select (select count(*) from portion)::int as count,
            (select count(*) from waiting) > (select count(*) from portion) as "hasMore",
            -- As JSON: the form of a timestamp as text is a setting of the session.
            (select to_json(at) #>> '{}' from moment) as "attemptedBefore"`,
    [queue, group, PORTION, attemptedBefore],
  )
  return rows[0] as ParkedMadeDue
}

/** Deletes a portion of a group's parked jobs and returns them; `attempt` is their next one. */
export async function discardParked<Data>(
  db: Db,
  queue: string,
  group: string,
  portion: number,
): Promise<Job<Data>[]> {
  const { rows } = await db.query(
    `with portion as materialized (
       select id from svc_jobs.job
        where name = $1 and singleton_key = $2 and blocked and state < 'active'
        limit $3 for update skip locked
     )
     delete from svc_jobs.job as job
      where job.name = $1 and job.id = any(array(select id from portion))
     returning ${JOB_COLUMNS}`,
    [queue, group, portion],
  )
  return rows.map((row: JobRow<Data>) => {
    const job = asJob(row)
    // pg-boss counts an attempt when the job is fetched.
    return row.startedOn === null ? job : { ...job, attempt: job.attempt + 1 }
  })
}
