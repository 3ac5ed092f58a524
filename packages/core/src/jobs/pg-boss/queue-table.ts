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
  #statements = new Map<string, string>()

  constructor(queue: string) {
    this.queue = queue
  }

  /**
   * Runs a statement that is written for `svc_jobs.job as job`, and has `job.name = $1 and` where jobs of this queue are
   * meant: on its own table, without these conditions. It runs again where the queue was deleted, or was created again
   * with another table. Within a transaction that second run fails, and the next transaction uses the other table.
   */
  async query(db: Db, statement: string, values: unknown[]): ReturnType<Db['query']> {
    try {
      return await db.query(await this.#onTable(db, statement), values)
    } catch (error) {
      if (!IS_UNUSABLE.has(String((error as { code?: unknown } | null)?.code))) throw error
      this.#name = undefined
      this.#statements.clear()
      return await db.query(await this.#onTable(db, statement), values)
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

  async #onTable(db: Db, statement: string): Promise<string> {
    const known = this.#statements.get(statement)
    if (known !== undefined) return known
    const table = await this.name(db)
    if (table === ALL_QUEUES) return statement
    const own = statement
      .replaceAll(`${ALL_QUEUES} as job`, () => `${table} as job`)
      .replaceAll('job.name = $1 and ', '')
    this.#statements.set(statement, own)
    return own
  }
}
