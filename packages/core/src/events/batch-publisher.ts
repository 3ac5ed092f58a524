/** Publishes that have no transaction of a caller: in one of their own, shared with their neighbours. */
import { transaction, type Db } from '../postgres/transaction.ts'
import type { Database } from '../postgres/pools.ts'
import type { RetrySettings } from '../jobs/pg-boss/dead-letters.ts'
import type { EventRow } from './events-table.ts'
import { MicroBatch } from './micro-batch.ts'
import { hasLostStatements, withPreparedStatements } from '../postgres/prepared-statements.ts'
import {
  keyOf,
  publishDeduplicated,
  publishEvents,
  type DeduplicatedEvent,
  type Published,
  type PublishedOnce,
} from './publish-events.ts'
import type { PgBoss } from '../jobs/pg-boss/boss.ts'

export class BatchPublisher {
  #database: Pick<Database, 'pool' | 'pooled'>
  #committed: (queues: string[]) => void
  #batch: MicroBatch<EventRow, Published['results'][number]>
  // Apart from other publishes: a key that another transaction is claiming keeps its whole batch waiting.
  #claiming: MicroBatch<DeduplicatedEvent, PublishedOnce['results'][number]>
  #prepares: boolean

  constructor(
    boss: PgBoss,
    database: Pick<Database, 'pool' | 'pooled'>,
    retry: RetrySettings,
    committed: (queues: string[]) => void,
  ) {
    this.#database = database
    this.#committed = committed
    this.#prepares = !database.pooled
    this.#batch = new MicroBatch(
      (events) => this.#commit((db) => publishEvents(boss, db, events, retry)),
      keyOf,
    )
    this.#claiming = new MicroBatch(
      (events) => this.#commit((db) => publishDeduplicated(boss, db, events, retry)),
      ({ claim }) => claim.key,
    )
  }

  publish(event: EventRow): Promise<Published['results'][number]> {
    return this.#batch.publish(event)
  }

  /** `null` where the event's key is taken. */
  publishDeduplicated(event: DeduplicatedEvent): Promise<PublishedOnce['results'][number]> {
    return this.#claiming.publish(event)
  }

  /** Until every publish that was asked for has been committed or refused. */
  async idle(): Promise<void> {
    await Promise.all([this.#batch.idle(), this.#claiming.idle()])
  }

  async #commit<Result>(
    publish: (db: Db) => Promise<{ results: Result[]; jobs: number; queues: string[] }>,
  ): Promise<{ results: Result[]; jobs: number }> {
    try {
      const { results, jobs, queues } = await transaction(this.#database.pool, (db) =>
        publish(this.#prepares ? withPreparedStatements(db) : db),
      )
      this.#committed(queues)
      return { results, jobs }
    } catch (error) {
      if (!this.#prepares || !hasLostStatements(error)) throw error
      this.#prepares = false
      return this.#commit(publish)
    }
  }
}
