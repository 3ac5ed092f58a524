/**
 * The table of a queue's jobs. pg-boss keeps them in `svc_jobs.job`, which is partitioned by the name of
 * the queue. The prepared statements that every job needs name the partition, and find the jobs of a
 * list by their `ctid`. By name and ids, a plan made while the queue is empty would read the whole queue
 * for each list: before version 17, Postgres expects that to be cheaper than to look up each id.
 */
import type { Db } from '../../postgres/transaction.ts'

const ALL_QUEUES = 'svc_jobs.job'

/** The table does not exist any more, or the right was revoked. */
const IS_UNUSABLE = new Set(['42P01', '42501'])

export class QueueTable {
  readonly queue: string
  #name: string | undefined

  constructor(queue: string) {
    this.queue = queue
  }

  /**
   * Runs a statement on the table, whose name it gets as an SQL identifier. The statement runs again where
   * the queue was deleted, or was created again with another table. Within a transaction that second run
   * fails, and the next transaction uses the other table.
   */
  async use<Result>(db: Db, run: (table: string) => Promise<Result>): Promise<Result> {
    try {
      return await run(await this.name(db))
    } catch (error) {
      if (!IS_UNUSABLE.has(String((error as { code?: unknown } | null)?.code))) throw error
      this.#name = undefined
      return await run(await this.name(db))
    }
  }

  /** It is `svc_jobs.job` without rights on the queue's own table, and where the queue was deleted. */
  async name(db: Db): Promise<string> {
    if (this.#name !== undefined) return this.#name
    const { rows } = await db.query(
      `select own.name, has_table_privilege(own.name, 'select') and has_table_privilege(own.name, 'update')
                    and has_table_privilege(own.name, 'delete') as "isUsable"
         from svc_jobs.queue
        cross join lateral format('svc_jobs.%I', queue.table_name) as own (name)
        where queue.name = $1`,
      [this.queue],
    )
    const [own] = rows as { name: string; isUsable: boolean }[]
    if (own === undefined) return ALL_QUEUES
    this.#name = own.isUsable ? own.name : ALL_QUEUES
    return this.#name
  }
}

/** A condition for the jobs of the queue `$1`, which a table of its own does not need. */
const ofQueueIn = (table: string): string => (table === ALL_QUEUES ? 'job.name = $1 and ' : '')

/** A condition for the jobs with these `ctid`s, an expression of SQL, that are of the queue `$1`. */
export const isAnyIn = (table: string, ctids: string): string =>
  `${ofQueueIn(table)}job.ctid = any(${ctids})`

/** Which jobs a statement changes. */
export interface ClaimedJobs {
  table: string
  condition: string
}

/**
 * Claimed jobs: those of the queue `$1` with the ids `$2` whose leases began at `$3`. `started_on`
 * identifies the lease: another process may have claimed the job since. The subquery locks the rows. It
 * also locks a row that another transaction, such as a renewal of leases, changed after the statement
 * began. The statement does not find that row by its new `ctid`.
 */
const claimedIn = (table: string): ClaimedJobs => ({
  table,
  condition: isAnyIn(
    table,
    `array(
       select held.ctid from unnest($2::uuid[], $3::timestamptz[]) as claim (id, started_on)
        cross join lateral (
          select job.ctid from ${table} as job
           where job.name = $1 and job.id = claim.id
             and job.state = 'active' and job.started_on = claim.started_on
             for update) as held)`,
  ),
})

/**
 * The same, found by their ids: Postgres follows a row that others change. The claims are a subquery
 * within a `case`, which Postgres hashes. It would compare each job with each claim of a join.
 */
const CLAIMED_BY_ID: ClaimedJobs = {
  table: ALL_QUEUES,
  condition: `job.name = $1 and job.id = any($2::uuid[])
    and case when job.state = 'active' then (job.id, job.started_on) in (
          select id, started_on
            from unnest($2::uuid[], $3::timestamptz[]) as claim (id, started_on)) end`,
}

/**
 * Runs a statement on `count` claimed jobs, which returns or inserts one row for each job that it
 * changes. If it changes fewer, it runs once more and finds the others by their ids: other transactions
 * changed them meanwhile, or another process has claimed them.
 */
export async function changeClaimed(
  db: Db,
  table: QueueTable,
  count: number,
  run: (jobs: ClaimedJobs) => ReturnType<Db['query']>,
): ReturnType<Db['query']> {
  const changed = await table.use(db, (name) => run(claimedIn(name)))
  if ((changed.rowCount ?? 0) >= count) return changed
  const others = await run(CLAIMED_BY_ID)
  return { ...others, rows: [...changed.rows, ...others.rows] }
}
