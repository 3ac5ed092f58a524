/**
 * The restrictions of groups, in the table of groups. They hold over all processes. The package whose
 * groups they are sets them, by the function "__svc.restrict_recipient".
 */
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

/** The jobs of the group go on as those of any other. Those that are parked are claimed in turns. */
export async function liftRestrictions(db: Db, queue: string, group: string): Promise<void> {
  // As text: Prisma reads no column of type void.
  await db.query('select svc."__svc.lift_restrictions"($1, $2)::text', [queue, group])
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
    `update svc."__svc.recipient_states" as known set unparked_since = null
       from unnest($2::text[], $3::text[]) as parked (recipient, since)
      where known.queue = $1 and known.recipient = parked.recipient
        and known.unparked_since = parked.since::timestamptz
        and (select true from svc_jobs.job
              where job.name = $1 and job.state < 'active' and not job.blocked
                and job.group_id = known.recipient limit 1) is null`,
    [queue, groups.map(({ group }) => group), groups.map(({ since }) => since)],
  )
  return rowCount !== 0
}

/** Deletes grants that no rate counts any more: the longest span is a day. */
export async function sweepGrants(db: Db): Promise<void> {
  await db.query(
    `delete from svc."__svc.attempt_grants" where begun_by < now() - interval '2 days'`,
  )
}
