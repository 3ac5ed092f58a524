/**
 * The table of a queue's jobs. pg-boss keeps them in `svc_jobs.job`, which is partitioned by the name of
 * the queue. The prepared statements that every job needs name the partition, and find the jobs of a
 * list by their `ctid`. By name and ids, a plan made while the queue is empty would read the whole queue
 * for each list: before version 17, Postgres expects that to be cheaper than to look up each id.
 */
import type { Db } from '../../postgres/transaction.ts'

const ALL_QUEUES = 'svc_jobs.job'

export class QueueTable {
  readonly queue: string
  #db: Db
  #name: string | undefined

  constructor(db: Db, queue: string) {
    this.queue = queue
    this.#db = db
  }

  /**
   * As an SQL identifier. A queue has the table that it was created with for ever. Without rights on it,
   * which statements on `svc_jobs.job` do not need, it is that.
   */
  async name(): Promise<string> {
    if (this.#name !== undefined) return this.#name
    const { rows } = await this.#db.query(
      `select own.name, has_table_privilege(own.name, 'select') and has_table_privilege(own.name, 'update')
                    and has_table_privilege(own.name, 'delete') as "isUsable"
         from svc_jobs.queue
        cross join lateral format('svc_jobs.%I', queue.table_name) as own (name)
        where queue.name = $1`,
      [this.queue],
    )
    const [own] = rows as { name: string; isUsable: boolean }[]
    // The queue was deleted.
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

/**
 * A condition for claimed jobs: those of the queue `$1` with the ids `$2` whose leases began at `$3`.
 * `started_on` names the lease: another process may have the job by now. The rows are locked. One that
 * another transaction has changed just before, as a renewal of leases does, is locked too, but cannot
 * be found by this `ctid`: see {@link untilAllFound}.
 */
export const isClaimedIn = (table: string): string =>
  isAnyIn(
    table,
    `array(
    select held.ctid from unnest($2::uuid[], $3::timestamptz[]) as claim (id, started_on)
     cross join lateral (
       select job.ctid from ${table} as job
        where job.name = $1 and job.id = claim.id
          and job.state = 'active' and job.started_on = claim.started_on
          for update) as held)`,
  )

/**
 * Runs a statement that finds its jobs by {@link isClaimedIn}, once more where it has found fewer than
 * `count`: the others were changed just before, or belong to another process. It returns a row for each
 * job found, or inserts one.
 */
export async function untilAllFound(
  count: number,
  run: () => ReturnType<Db['query']>,
): ReturnType<Db['query']> {
  const found = await run()
  if ((found.rowCount ?? 0) >= count) return found
  const others = await run()
  return { ...others, rows: [...found.rows, ...others.rows] }
}
