/** The jobs of a group that failed in a span, and wait for their next attempt. */
import type { Db } from '../../postgres/transaction.ts'

export interface FailedIn {
  group: string
  /** When their last attempt began, as ISO 8601. */
  since: string
  until: string
}

const WAITS = `job.name = $1 and job.state = 'retry' and job.singleton_key = $2
  and job.start_after > now()
  and job.started_on >= $3::timestamptz and job.started_on < $4::timestamptz`

export async function countWaitingRetries(
  db: Db,
  queue: string,
  { group, since, until }: FailedIn,
): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int as count from svc_jobs.job as job where ${WAITS}`,
    [queue, group, since, until],
  )
  return (rows[0] as { count: number }).count
}

/** Makes the next attempt of a portion of them due now. Returns of how many. */
export async function makeRetriesDue(
  db: Db,
  queue: string,
  { group, since, until }: FailedIn,
  portion: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `with portion as materialized (
       select job.id from svc_jobs.job as job where ${WAITS}
        order by job.start_after limit $5 for update skip locked
     )
     update svc_jobs.job as job set start_after = now()
      where job.name = $1 and job.id = any(array(select id from portion))`,
    [queue, group, since, until, portion],
  )
  return rowCount ?? 0
}
