/** How many jobs of each group are not done yet. */
import type { Db } from '../../postgres/transaction.ts'

/**
 * How many waiting jobs, of all groups, are read to count those of some groups: they are read along
 * the index of the fetches, which has no groups.
 */
export const MOST_IN_LINE = 20_000

/**
 * Counts the waiting and active jobs of each of these groups, by indexes, up to `most` of each
 * kind. Only the first {@link MOST_IN_LINE} waiting jobs of the queue are counted. Long backlogs of
 * one group are parked, and not among them.
 */
export async function countJobs(
  db: Db,
  queue: string,
  groups: string[],
  most: number,
): Promise<Map<string, number>> {
  if (groups.length === 0) return new Map()
  const { rows } = await db.query(
    `with in_line as materialized (
       select group_id from svc_jobs.job
        where name = $1 and state < 'active' and not blocked
        order by priority desc, created_on limit $4
     ), counted as materialized (
       select group_id, count(*) as jobs from in_line
        where group_id = any($2::text[]) group by group_id
     )
     select wanted.group_id as "group",
            least($3, coalesce(counted.jobs, 0) + parked.jobs + active.jobs)::int as jobs
       from unnest($2::text[]) as wanted (group_id)
       left join counted using (group_id)
      cross join lateral (
        select count(*) as jobs from (
          select from svc_jobs.job
           where name = $1 and singleton_key = wanted.group_id and blocked and state < 'active'
           limit $3) as found
      ) as parked
      cross join lateral (
        select count(*) as jobs from (
          select from svc_jobs.job
           where name = $1 and group_id = wanted.group_id and state = 'active'
           limit $3) as found
      ) as active`,
    [queue, groups, most, MOST_IN_LINE],
  )
  return new Map(rows.map(({ group, jobs }: { group: string; jobs: number }) => [group, jobs]))
}
