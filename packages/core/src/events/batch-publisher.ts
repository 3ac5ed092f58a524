/**
 * Publishes without a transaction of the caller. Concurrent ones share a statement, which is a
 * transaction of its own.
 */
import type { Database } from '../postgres/pools.ts'
import { hasLostStatements, withPreparedStatements } from '../postgres/prepared-statements.ts'
import { transaction, type Db } from '../postgres/transaction.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import {
  insertedRows,
  writeAttachedRows,
  type AttachedRow,
  type InsertedRows,
  type PublishedOrTaken,
} from './attached-rows.ts'
import type { JobHandover } from './job-handover.ts'
import type { EventRow } from './events-table.ts'
import { MicroBatch } from './micro-batch.ts'
import { KnownFilters } from './known-filters.ts'
import type { JobOffer, PublishTerms } from './publish-statement.ts'
import { publishDeduplicated, type DeduplicatedEvent } from './publish-deduplicated.ts'
import { keyOf, publishEvents } from './publish-events.ts'
import type { Published, PublishedOnce } from './published.ts'

/** An event that is published once for its key, or always. */
type OncePublishedRow = EventRow & { deduplicationKey: DeduplicationKey | null }

const isDeduplicated = (event: OncePublishedRow): event is DeduplicatedEvent =>
  event.deduplicationKey !== null

type Result<P extends { results: unknown[] }> = P['results'][number]

/** Jobs of larger batches are fetched in batches too: that is as quick, and keeps groups fair. */
const LARGEST_CLAIMED_BATCH = 8

export class BatchPublisher {
  /** The terms, which also apply to publishes in the caller's transactions. */
  readonly terms: PublishTerms
  #database: Pick<Database, 'db' | 'pool'>
  #handover: JobHandover
  /** Transactions of `publishAll` that are under way. */
  #alone = new Set<Promise<unknown>>()
  #batch: MicroBatch<EventRow, Result<Published>>
  // In batches of their own: where another transaction has not committed the same id, or is taking the
  // same key, the whole batch waits for it.
  #withGivenId: MicroBatch<EventRow, Result<Published>>
  #deduplicated: MicroBatch<DeduplicatedEvent, Result<PublishedOnce>>
  #prepares: boolean

  constructor(
    database: Pick<Database, 'db' | 'pool' | 'pooled'>,
    retry: RetrySettings,
    handover: JobHandover,
  ) {
    this.#database = database
    this.terms = { retry, filters: new KnownFilters() }
    this.#handover = handover
    this.#prepares = !database.pooled
    const commit = (events: EventRow[]) =>
      this.#commit(events.length, (offer) =>
        this.#writing(events, (db, inserted) =>
          publishEvents(this.#preparing(db), events, this.terms, offer, inserted),
        ),
      )
    this.#batch = new MicroBatch(commit, keyOf)
    this.#withGivenId = new MicroBatch(commit, keyOf)
    this.#deduplicated = new MicroBatch(
      (events) =>
        this.#commit(events.length, (offer) =>
          this.#writing(events, (db, inserted) =>
            publishDeduplicated(this.#preparing(db), events, this.terms, offer, inserted),
          ),
        ),
      ({ deduplicationKey }) => deduplicationKey.key,
    )
  }

  /** `hasGivenId`: the publisher named the id, so that the event may exist already. */
  publish(event: EventRow, hasGivenId = false): Promise<Result<Published>> {
    return (hasGivenId ? this.#withGivenId : this.#batch).publish(event)
  }

  /** `null` where the event's key is taken. */
  publishDeduplicated(event: DeduplicatedEvent): Promise<Result<PublishedOnce>> {
    return this.#deduplicated.publish(event)
  }

  /** All of them in one transaction, with one attached row; `null` for those whose key is taken. */
  async publishAll(
    events: OncePublishedRow[],
    attachedRow: AttachedRow | undefined,
  ): Promise<PublishedOrTaken[]> {
    const publishing = this.#publishTogether(events, attachedRow)
    this.#alone.add(publishing)
    try {
      return await publishing
    } finally {
      this.#alone.delete(publishing)
    }
  }

  /** Resolves when every pending publish has been committed or refused. */
  async idle(): Promise<void> {
    const batches = [this.#batch, this.#withGivenId, this.#deduplicated]
    await Promise.all(batches.map((batch) => batch.idle()))
    await Promise.allSettled(this.#alone)
  }

  async #publishTogether(
    events: OncePublishedRow[],
    attachedRow: AttachedRow | undefined,
  ): Promise<PublishedOrTaken[]> {
    const deduplicated = events.filter(isDeduplicated)
    const others = events.filter((event) => !isDeduplicated(event))
    const { results, published } = await transaction(this.#database.pool, async (db) => {
      const once = await publishDeduplicated(db, deduplicated, this.terms)
      const always = await publishEvents(db, others, this.terms)
      const results = { once: once.results.values(), always: always.results.values() }
      const all = events.map(
        (event) => results[isDeduplicated(event) ? 'once' : 'always'].next().value ?? null,
      )
      await writeAttachedRows(db, [{ attachedRow, results: all }])
      return { results: all, published: [once, always] }
    })
    for (const one of published) this.#handover.committed(one)
    return results
  }

  /** A statement of its own, or a transaction where it cannot write the attached rows. */
  #writing<P extends Published | PublishedOnce>(
    events: readonly EventRow[],
    publish: (db: Db, inserted?: InsertedRows) => Promise<P>,
  ): Promise<P> {
    const inserted = insertedRows(events)
    if (inserted || events.every(({ attachedRow }) => !attachedRow)) {
      return publish(this.#database.db, inserted)
    }
    return transaction(this.#database.pool, async (db) => {
      const published = await publish(db)
      const rows = events.map(({ attachedRow }, place) => ({
        attachedRow,
        results: [published.results[place] ?? null],
      }))
      await writeAttachedRows(db, rows)
      return published
    })
  }

  #preparing(db: Db): Db {
    return this.#prepares ? withPreparedStatements(db) : db
  }

  async #commit<P extends Published | PublishedOnce>(
    count: number,
    publish: (offer: JobOffer | undefined) => Promise<P>,
  ): Promise<P & { made: number }> {
    const offer = count > LARGEST_CLAIMED_BATCH ? undefined : this.#handover.offer()
    try {
      const published = await publish(offer)
      this.#handover.committed(published)
      return { ...published, made: published.results.filter(isNew).length }
    } catch (error) {
      if (!this.#prepares || !hasLostStatements(error)) throw error
      this.#prepares = false
      return this.#commit(count, publish)
    }
  }
}

const isNew = (result: { duplicate: boolean } | null): boolean => result?.duplicate === false
