/**
 * Claims waiting jobs. pg-boss's own fetch does not record which process has claimed a job, and knows no turns.
 *
 * Jobs of recipients wait in lanes, see `PRIORITY`, in an index by lane, recipient and due time. A fetch makes a lap: it
 * goes from recipient to recipient, from where the last one ended, and takes a few due jobs of each. So it reads one
 * row for each recipient that it passes and each job that it takes, however many jobs wait.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { QueueTable } from './queue-table.ts'
import { PRIORITY, type Job, type Lane } from '../job.ts'
import { asJob, JOB_COLUMNS, type JobRow } from './jobs-table.ts'

export interface Fetch {
  lane: Lane
  limit: number
  owner: string
}

export interface Lap extends Fetch {
  /** The recipient after which it begins; '' for the first of all. */
  after: string
  /** How many jobs of a recipient it may bring. */
  each: number
  /** Of some recipients another number, also 0. */
  caps: Record<string, number>
}

/**
 * What a claim sets. pg-boss counts an attempt when the job is claimed. It uses `group_tier` for
 * limits by tier, which our queues do not have: this field names the process that has the job, `$3`.
 */
const CLAIMED = `
  state = 'active', started_on = now(), group_tier = $3,
  retry_count = job.retry_count + (job.started_on is not null)::int`

const claim = async <Data>(
  db: Db,
  table: QueueTable,
  statement: string,
  values: unknown[],
): Promise<Job<Data>[]> => {
  const { rows } = await table.query(db, statement, values)
  return rows.map((row: JobRow<Data>) => asJob(row))
}

/** Due jobs without a recipient, the oldest first. */
export const fetchJobs = <Data>(
  db: Db,
  table: QueueTable,
  { lane, limit, owner }: Fetch,
): Promise<Job<Data>[]> => claim(db, table, FETCH, [table.queue, limit, owner, PRIORITY[lane]])

/** Due jobs of a lap, and of those without a recipient. */
export const fetchLap = <Data>(
  db: Db,
  table: QueueTable,
  { lane, limit, owner, after, each, caps }: Lap,
): Promise<Job<Data>[]> =>
  claim(db, table, LAP, [
    table.queue,
    limit,
    owner,
    PRIORITY[lane],
    after,
    each,
    JSON.stringify(caps),
  ])

/**
 * Jobs of the retry lane of the recipients that have the oldest due ones, and those without a recipient. Unlike a lap
 * it does not pass the recipients whose retries are not due.
 */
export const fetchOldestRetries = <Data>(
  db: Db,
  table: QueueTable,
  { limit, owner, each, caps }: Omit<Lap, 'lane' | 'after'>,
): Promise<Job<Data>[]> =>
  claim(db, table, OLDEST_RETRIES, [table.queue, limit, owner, JSON.stringify(caps), each])

/** Due jobs that wait aside, of each recipient at most its limit, the oldest first. */
export const claimAside = <Data>(
  db: Db,
  table: QueueTable,
  limits: { recipient: string; limit: number }[],
  owner: string,
): Promise<Job<Data>[]> =>
  claim(db, table, ASIDE, [
    table.queue,
    limits.map(({ recipient }) => recipient),
    owner,
    limits.map(({ limit }) => limit),
  ])

/**
 * The order is that of pg-boss's index of waiting jobs, so that nothing is sorted. Each statement runs on the table of
 * its queue, see `QueueTable`.
 *
 * Here and below, a subquery locks the rows, and the update finds them by their `ctid`. It does not find a row
 * that another transaction changed after the statement began. The next fetch claims that job.
 */
const FETCH = `
  with next as materialized (
    select ctid from svc_jobs.job as job
     where name = $1 and state < 'active' and not blocked and priority = $4 and start_after <= now()
     order by priority desc, created_on limit $2
     for update skip locked
  )
  update svc_jobs.job as job set ${CLAIMED}
   where job.name = $1 and job.ctid = any(array(select ctid from next))
  returning ${JOB_COLUMNS}`

/**
 * `ahead` and `behind` are the recipients after $5 and up to it. They are read only as far as the limit needs. They
 * carry the lane: a plan that knew it could look for the jobs of a recipient in the index of retries.
 */
const LAP = `
  with recursive ahead (lane, recipient) as (
    select $4::int, (select job.singleton_key from svc_jobs.job as job
             where job.name = $1 and job.priority = $4 and job.singleton_key > $5
               and job.blocked and job.state < 'active'
             order by job.priority, job.singleton_key limit 1)
    union all
    select ahead.lane, (select job.singleton_key from svc_jobs.job as job
             where job.name = $1 and job.priority = $4 and job.singleton_key > ahead.recipient
               and job.blocked and job.state < 'active'
             order by job.priority, job.singleton_key limit 1)
      from ahead where ahead.recipient is not null
  ), behind (lane, recipient) as (
    select $4::int, (select job.singleton_key from svc_jobs.job as job
             where job.name = $1 and job.priority = $4 and job.singleton_key <= $5
               and job.blocked and job.state < 'active'
             order by job.priority, job.singleton_key limit 1)
    union all
    select behind.lane, (select job.singleton_key from svc_jobs.job as job
             where job.name = $1 and job.priority = $4 and job.singleton_key > behind.recipient
               and job.singleton_key <= $5 and job.blocked and job.state < 'active'
             order by job.priority, job.singleton_key limit 1)
      from behind where behind.recipient is not null
  ), alone as materialized (
    select ctid from svc_jobs.job as job
     where name = $1 and state < 'active' and not blocked and priority = $4 and start_after <= now()
     order by priority desc, created_on limit $2
     for update skip locked
  ), next as materialized (
    select found.ctid from (
      select ctid from alone
      union all
      select taken.ctid
        from (select lane, recipient from ahead union all select lane, recipient from behind) as line
       cross join lateral (
         select job.ctid from svc_jobs.job as job
          where job.name = $1 and job.priority = line.lane and job.singleton_key = line.recipient
            and job.blocked and job.state < 'active' and job.start_after <= now()
          order by job.start_after limit coalesce(($7::jsonb ->> line.recipient)::int, $6)
          for update skip locked) as taken
    ) as found limit $2
  )
  update svc_jobs.job as job set ${CLAIMED}
   where job.name = $1 and job.ctid = any(array(select ctid from next))
  returning ${JOB_COLUMNS}`

const OLDEST_RETRIES = `
  with due as materialized (
    select oldest.lane, oldest.recipient from (
      select job.priority as lane, job.singleton_key as recipient from svc_jobs.job as job
       where job.name = $1 and job.priority = ${PRIORITY.retry}
         and job.blocked and job.state < 'active' and job.start_after <= now()
       order by job.start_after limit 200) as oldest
     group by oldest.lane, oldest.recipient
  ), alone as materialized (
    select ctid from svc_jobs.job as job
     where name = $1 and state < 'active' and not blocked and priority = ${PRIORITY.retry}
       and start_after <= now()
     order by priority desc, created_on limit $2
     for update skip locked
  ), next as materialized (
    select found.ctid from (
      select ctid from alone
      union all
      select taken.ctid from due
       cross join lateral (
         select job.ctid from svc_jobs.job as job
          where job.name = $1 and job.priority = due.lane and job.singleton_key = due.recipient
            and job.blocked and job.state < 'active' and job.start_after <= now()
          order by job.start_after
          limit coalesce(($4::jsonb ->> due.recipient)::int, $5)
          for update skip locked) as taken
    ) as found limit $2
  )
  update svc_jobs.job as job set ${CLAIMED}
   where job.name = $1 and job.ctid = any(array(select ctid from next))
  returning ${JOB_COLUMNS}`

const ASIDE = `
  with next as materialized (
    select taken.ctid from unnest($2::text[], $4::int[]) as wanted (recipient, most)
     cross join lateral (
       select job.ctid from svc_jobs.job as job
        where job.name = $1 and job.priority = ${PRIORITY.aside} and job.singleton_key = wanted.recipient
          and job.blocked and job.state < 'active' and job.start_after <= now()
        order by job.start_after limit wanted.most
        for update skip locked) as taken
  )
  update svc_jobs.job as job set ${CLAIMED}
   where name = $1 and job.ctid = any(array(select ctid from next))
  returning ${JOB_COLUMNS}`

/**
 * Which of these lanes have a job that is due. Jobs of the first lane are due as they come into it. It is
 * no join: the plan for an empty table would scan all jobs.
 */
export async function findDueLanes(
  db: Db,
  lanes: { queue: string; lane: Lane }[],
): Promise<{ queue: string; lane: Lane }[]> {
  const { rows } = await db.query(
    `select queue, lane
       from unnest($1::text[], $2::text[], $3::int[]) as asked (queue, lane, priority)
      where (select true from svc_jobs.job as job
              where job.name = queue and job.state < 'active' and not job.blocked
                and job.priority = asked.priority and job.start_after <= now() limit 1)
         or asked.priority = ${PRIORITY.first}
            and (select true from svc_jobs.job as job
                  where job.name = queue and job.state < 'active' and job.blocked
                    and job.priority = ${PRIORITY.first} and job.start_after <= now()
                  order by job.priority, job.singleton_key limit 1)
         or asked.priority = ${PRIORITY.retry}
            and (select true from svc_jobs.job as job
                  where job.name = queue and job.state < 'active' and job.blocked
                    and job.priority = ${PRIORITY.retry} and job.start_after <= now()
                  order by job.start_after limit 1)`,
    [
      lanes.map(({ queue }) => queue),
      lanes.map(({ lane }) => lane),
      lanes.map(({ lane }) => PRIORITY[lane]),
    ],
  )
  return rows
}
