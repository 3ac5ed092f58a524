/** How many jobs of each recipient are not done yet. */
import type { Db } from '../../postgres/transaction.ts'

/** Counts the waiting and active jobs of each of these recipients, by indexes, up to `most` in all. */
export async function countJobs(
  db: Db,
  queue: string,
  recipients: string[],
  most: number,
): Promise<Map<string, number>> {
  if (recipients.length === 0) return new Map()
  const { rows } = await db.query(
    `select wanted.group_id as "recipient", least($3, waiting.jobs + active.jobs)::int as jobs
       from unnest($2::text[]) as wanted (group_id)
      cross join lateral (
        select count(*) as jobs from (
          select from unnest(array[-2, -1, 0]) as lane
           cross join lateral (
             select from svc_jobs.job
              where name = $1 and priority = lane and singleton_key = wanted.group_id
                and blocked and state < 'active'
              limit $3) as job
           limit $3) as found
      ) as waiting
      cross join lateral (
        select count(*) as jobs from (
          select from svc_jobs.job
           where name = $1 and group_id = wanted.group_id and state = 'active'
           limit $3) as found
      ) as active`,
    [queue, recipients, most],
  )
  return new Map(
    rows.map(({ recipient, jobs }: { recipient: string; jobs: number }) => [recipient, jobs]),
  )
}
