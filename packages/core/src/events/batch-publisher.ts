/**
 * Publishes that have no transaction of a caller. Those of the same moment share a statement, which
 * is a transaction of its own.
 */
import type { Database } from '../postgres/pools.ts'
import { hasLostStatements, withPreparedStatements } from '../postgres/prepared-statements.ts'
import type { Db } from '../postgres/transaction.ts'
import type { RetrySettings } from '../jobs/pg-boss/dead-letters.ts'
import type { JobHandover } from './job-handover.ts'
import type { EventRow } from './events-table.ts'
import { MicroBatch } from './micro-batch.ts'
import type { JobOffer } from './publish-statement.ts'
import {
  keyOf,
  publishDeduplicated,
  publishEvents,
  type DeduplicatedEvent,
  type Published,
  type PublishedOnce,
} from './publish-events.ts'

type Result<P extends { results: unknown[] }> = P['results'][number]

/** Jobs of larger batches are fetched in batches too: that is as quick, and keeps groups fair. */
const LARGEST_CLAIMED_BATCH = 8

export class BatchPublisher {
  #handover: JobHandover
  #batch: MicroBatch<EventRow, Result<Published>>
  // Apart from other publishes: a key that another transaction is claiming keeps its whole batch waiting.
  #claiming: MicroBatch<DeduplicatedEvent, Result<PublishedOnce>>
  #prepares: boolean

  constructor(
    database: Pick<Database, 'db' | 'pooled'>,
    retry: RetrySettings,
    handover: JobHandover,
  ) {
    this.#handover = handover
    this.#prepares = !database.pooled
    const db = database.db
    this.#batch = new MicroBatch(
      (events) =>
        this.#commit(events.length, (offer) =>
          publishEvents(this.#preparing(db), events, retry, offer),
        ),
      keyOf,
    )
    this.#claiming = new MicroBatch(
      (events) =>
        this.#commit(events.length, (offer) =>
          publishDeduplicated(this.#preparing(db), events, retry, offer),
        ),
      ({ claim }) => claim.key,
    )
  }

  publish(event: EventRow): Promise<Result<Published>> {
    return this.#batch.publish(event)
  }

  /** `null` where the event's key is taken. */
  publishDeduplicated(event: DeduplicatedEvent): Promise<Result<PublishedOnce>> {
    return this.#claiming.publish(event)
  }

  /** Until every publish that was asked for has been committed or refused. */
  async idle(): Promise<void> {
    await Promise.all([this.#batch.idle(), this.#claiming.idle()])
  }

  #preparing(db: Db): Db {
    return this.#prepares ? withPreparedStatements(db) : db
  }

  async #commit<P extends Published | PublishedOnce>(
    count: number,
    publish: (offer: JobOffer | undefined) => Promise<P>,
  ): Promise<P> {
    const offer = count > LARGEST_CLAIMED_BATCH ? undefined : this.#handover.offer()
    try {
      const published = await publish(offer)
      this.#handover.committed(published)
      return published
    } catch (error) {
      if (!this.#prepares || !hasLostStatements(error)) throw error
      this.#prepares = false
      return this.#commit(count, publish)
    }
  }
}
