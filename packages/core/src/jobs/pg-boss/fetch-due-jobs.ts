/** Claims waiting jobs. pg-boss's own fetch does not record which process has claimed a job. */
import type { Db } from '../../postgres/transaction.ts'
import { asJob, JOB_COLUMNS, PRIORITY, type Job, type JobRow, type Lane } from '../job.ts'

export interface Fetch {
  limit: number
  lane: Lane
  excludedGroups: string[]
  /** Names this process, see processes/process-lock.ts. */
  owner: string | null
}

/**
 * What a claim sets. pg-boss counts an attempt when the job is claimed. It uses `group_tier` for
 * limits by tier, which our queues do not have: this field names the process that has the job.
 */
export const claimedBy = (owner: string): string => `
  state = 'active', started_on = now(), heartbeat_on = now(), group_tier = ${owner},
  retry_count = job.retry_count + (job.started_on is not null)::int`

/** Jobs that may start now, of all but the excluded groups, the oldest first. */
export async function fetchJobs<Data>(
  db: Db,
  queue: string,
  { limit, lane, excludedGroups, owner }: Fetch,
): Promise<Job<Data>[]> {
  const { rows } = await db.query(FETCH[lane], [queue, limit, owner, excludedGroups])
  return rows.map((row: JobRow<Data>) => asJob(row))
}

/** The order is that of pg-boss's index of waiting jobs, so that nothing is sorted. */
const fetch = (ofLane: string): string => `
  with next as materialized (
    select id from svc_jobs.job
     where name = $1 and state < 'active' and not blocked and ${ofLane} and start_after <= now()
       and (group_id is null or group_id <> all($4::text[]))
     order by priority desc, created_on limit $2
     for update skip locked
  )
  update svc_jobs.job as job set ${claimedBy('$3')}
   where job.name = $1 and job.id = any(array(select id from next))
  returning ${JOB_COLUMNS}`

const FETCH: Record<Lane, string> = {
  first: fetch(`priority >= ${PRIORITY.first}`),
  retry: fetch(`priority <= ${PRIORITY.retry}`),
}
