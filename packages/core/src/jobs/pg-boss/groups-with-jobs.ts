/** Which groups have jobs that are not done. */
import type { Db } from '../../postgres/transaction.ts'
import { MOST_IN_LINE } from './count-jobs.ts'

/**
 * The groups of which a job waits or is active, or may: waiting jobs that are not parked have no index
 * by group. Where more of them wait, of all groups, than are read, each group may have one among the
 * others.
 */
export async function groupsWithJobs(
  db: Db,
  queue: string,
  groups: string[],
  mostInLine = MOST_IN_LINE,
): Promise<Set<string>> {
  if (groups.length === 0) return new Set()
  const { rows } = await db.query(
    `with in_line as materialized (
       select group_id from svc_jobs.job
        where name = $1 and state < 'active' and not blocked
        order by priority desc, created_on limit $3 + 1
     )
     select wanted.group_id as "group"
       from unnest($2::text[]) as wanted (group_id)
      where (select count(*) from in_line) > $3
         or wanted.group_id in (select group_id from in_line where group_id is not null)
         or exists (
              select from svc_jobs.job
               where name = $1 and singleton_key = wanted.group_id and blocked
                 and state < 'active')
         or exists (
              select from svc_jobs.job
               where name = $1 and group_id = wanted.group_id and state = 'active')`,
    [queue, groups, mostInLine],
  )
  return new Set(rows.map(({ group }: { group: string }) => group))
}
