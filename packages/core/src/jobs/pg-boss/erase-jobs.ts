/** Deletes jobs, waiting, claimed and dead ones, by what they are about. */
import type { Db } from '../../postgres/transaction.ts'
import { pause } from '../../time.ts'

export interface JobsToErase {
  eventIdPrefix: string | null
  recipients: readonly string[]
}

/** Jobs that one statement reads; most of them are others'. */
const PORTION = 5000
/** A pump settles what it has locked within milliseconds. */
const LOCKED_MS = 20
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** The queues that have jobs of ours; dead letters last, since a job may die meanwhile. */
export async function findQueues(db: Db): Promise<string[]> {
  const { rows } = await db.query(
    `select name from svc_jobs.queue where starts_with(name, '__svc.')
      order by name like '%.dlq', name`,
  )
  return rows.map(({ name }: { name: string }) => name)
}

/**
 * Reads a queue once, in the order of the ids of its jobs: a job that is postponed meanwhile keeps
 * its id. An attempt that is under way is not stopped, and nothing is written of it. Returns how
 * many.
 */
export async function eraseJobs(db: Db, queue: string, which: JobsToErase): Promise<number> {
  let erased = 0
  for (let after = FIRST_ID; ;) {
    const { seen, wanted, deleted, last } = await erasePortion(db, queue, which, after)
    erased += deleted
    // The same portion again for those that were locked: waiting for them could deadlock.
    if (deleted < wanted) await pause(LOCKED_MS)
    else if (seen < PORTION) return erased
    else after = last
  }
}

interface Portion {
  seen: number
  wanted: number
  deleted: number
  last: string
}

async function erasePortion(
  db: Db,
  queue: string,
  { eventIdPrefix, recipients }: JobsToErase,
  after: string,
): Promise<Portion> {
  const { rows } = await db.query(
    `with portion as materialized (
       select id, starts_with(data ->> 'eventId', $4) is true
                  or singleton_key = any($5::text[]) is true as is_wanted
         from svc_jobs.job
        where name = $1 and id > $2 order by id limit $3
     ), free as materialized (
       select id from svc_jobs.job
        where name = $1 and id = any(array(select id from portion where is_wanted))
          for update skip locked
     ), deleted as (
       delete from svc_jobs.job
        where name = $1 and id = any(array(select id from free))
       returning id
     )
     select count(*)::int as seen, count(*) filter (where is_wanted)::int as wanted,
            (select count(*)::int from deleted) as deleted,
            (select id from portion order by id desc limit 1) as last
       from portion`,
    [queue, after, PORTION, eventIdPrefix, recipients],
  )
  return rows[0] as Portion
}
