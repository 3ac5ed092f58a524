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
export const ofQueueIn = (table: string): string =>
  table === ALL_QUEUES ? 'job.name = $1 and ' : ''

/** A condition for the jobs with these `ctid`s, an expression of SQL, that are of the queue `$1`. */
export const isAnyIn = (table: string, ctids: string): string =>
  `${ofQueueIn(table)}job.ctid = any(${ctids})`
