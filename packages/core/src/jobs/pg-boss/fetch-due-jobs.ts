/** Claims waiting jobs. pg-boss's own fetch does not record which process has claimed a job. */
import type { Db } from '../../postgres/transaction.ts'
import { isAnyIn, type QueueTable } from './queue-table.ts'
import { PRIORITY, type Job, type Lane } from '../job.ts'
import { asJob, JOB_COLUMNS, type JobRow } from './jobs-table.ts'

/** The groups whose jobs a fetch passes over. */
export interface ExcludedGroups {
  groups: string[]
  /** Also all groups whose circuit is open by the table of groups: they are too many to be named. */
  withOpenCircuits: boolean
}

export interface Fetch {
  limit: number
  lane: Lane
  excluded: ExcludedGroups
  /** Names this process, see processes/process-lock.ts. */
  owner: string
}

/**
 * What a claim sets. pg-boss counts an attempt when the job is claimed. It uses `group_tier` for
 * limits by tier, which our queues do not have: this field names the process that has the job.
 */
export const claimedBy = (owner: string): string => `
  state = 'active', started_on = now(), group_tier = ${owner},
  retry_count = job.retry_count + (job.started_on is not null)::int`

/** Jobs that may start now, of all but the excluded groups, the oldest first. */
export async function fetchJobs<Data>(
  db: Db,
  table: QueueTable,
  { limit, lane, excluded, owner }: Fetch,
): Promise<Job<Data>[]> {
  const { groups, withOpenCircuits } = excluded
  const values = [table.queue, limit, owner, groups, withOpenCircuits]
  const { rows } = await table.use(db, (name) => db.query(fetch(name, ofLane[lane]), values))
  return rows.map((row: JobRow<Data>) => asJob(row))
}

/**
 * The order is that of pg-boss's index of waiting jobs, so that nothing is sorted. The groups are a
 * subquery: Postgres hashes it once, and would compare each job with each element of an array. The
 * table of groups is read by its key, and for jobs of other groups only.
 *
 * The subquery locks the rows, and the update finds them by their `ctid`. It does not find a row that
 * another transaction changed after the statement began. The next fetch claims that job.
 */
const fetch = (table: string, ofLane: string): string => `
  with next as materialized (
    select ctid from ${table} as job
     where name = $1 and state < 'active' and not blocked and ${ofLane} and start_after <= now()
       and (group_id is null
            or group_id not in (select unnest($4::text[]))
               and (not $5 or (select known.circuit_open from svc."__svc.recipient_states" as known
                                where known.queue = $1 and known.recipient = job.group_id)
                              is not true))
     order by priority desc, created_on limit $2
     for update skip locked
  )
  update ${table} as job set ${claimedBy('$3')}
   where ${isAnyIn(table, 'array(select ctid from next)')}
  returning ${JOB_COLUMNS}`

const ofLane: Record<Lane, string> = {
  first: `priority >= ${PRIORITY.first}`,
  retry: `priority <= ${PRIORITY.retry}`,
}

/**
 * Which of these lanes have a job that is due, also one of a group that their fetch would exclude. It is
 * no join: the plan for an empty table would scan all jobs.
 */
export async function findDueLanes(
  db: Db,
  lanes: { queue: string; lane: Lane }[],
): Promise<{ queue: string; lane: Lane }[]> {
  const { rows } = await db.query(
    `select queue, lane
       from unnest($1::text[], $2::text[], $3::int[], $4::int[]) as asked (queue, lane, least, most)
      where (select true from svc_jobs.job as job
              where job.name = queue and job.state < 'active' and not job.blocked
                and job.priority between least and most and job.start_after <= now() limit 1)`,
    [
      lanes.map(({ queue }) => queue),
      lanes.map(({ lane }) => lane),
      lanes.map(({ lane }) => (lane === 'first' ? PRIORITY.first : LEAST_PRIORITY)),
      lanes.map(({ lane }) => (lane === 'first' ? MOST_PRIORITY : PRIORITY.retry)),
    ],
  )
  return rows
}

const [LEAST_PRIORITY, MOST_PRIORITY] = [-(2 ** 31), 2 ** 31 - 1]
