/** Publishes that have no transaction of a caller: in one of their own, shared with their neighbours. */
import { transaction, type Database } from './database.ts'
import type { EventRow } from './event-log.ts'
import { MicroBatch, type Result } from './micro-batch.ts'
import { hasLostStatements, preparing } from './prepared.ts'
import { publishEvents } from './publish.ts'
import type { PgBoss } from './queue.ts'

export class Publisher {
  #boss: PgBoss
  #database: Pick<Database, 'pool' | 'pooled'>
  #committed: (queues: string[]) => void
  #batch = new MicroBatch((events) => this.#commit(events))
  #prepares: boolean

  constructor(
    boss: PgBoss,
    database: Pick<Database, 'pool' | 'pooled'>,
    committed: (queues: string[]) => void,
  ) {
    this.#boss = boss
    this.#database = database
    this.#committed = committed
    this.#prepares = !database.pooled
  }

  publish(event: EventRow): Promise<Result> {
    return this.#batch.publish(event)
  }

  /** Until every publish that was asked for has been committed or refused. */
  idle(): Promise<void> {
    return this.#batch.idle()
  }

  async #commit(events: EventRow[]): Promise<Result[]> {
    try {
      const { results, queues } = await transaction(this.#database.pool, (db) =>
        publishEvents(this.#boss, this.#prepares ? preparing(db) : db, events),
      )
      this.#committed(queues)
      return results
    } catch (error) {
      if (!this.#prepares || !hasLostStatements(error)) throw error
      this.#prepares = false
      return this.#commit(events)
    }
  }
}
