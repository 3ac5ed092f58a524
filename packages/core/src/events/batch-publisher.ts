/**
 * Publishes without a transaction of the caller. Concurrent ones share a statement, which is a
 * transaction of its own.
 */
import type { Database } from '../postgres/pools.ts'
import { hasLostStatements, withPreparedStatements } from '../postgres/prepared-statements.ts'
import { transaction, type Db } from '../postgres/transaction.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import { isLockTimeout } from '../postgres/contention.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import {
  insertedRows,
  writeAttachedRows,
  type AttachedRow,
  type InsertedRows,
  type PublishedOrTaken,
} from './attached-rows.ts'
import type { JobHandover } from './job-handover.ts'
import { publishedEventId } from './event-id.ts'
import type { EventRow } from './events-table.ts'
import { HeldLane, OTHERS_WAIT_MS, type Held } from './held-lane.ts'
import { MicroBatch } from './micro-batch.ts'
import { KnownFilters } from './known-filters.ts'
import { findHeld, type JobOffer, type PublishTerms } from './publish-statement.ts'
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

/** Of filters: about the time that it takes to write a job. */
const STEPS_OF_JOB = 1000

/** Where, and how long, a publish may wait for a transaction that holds its id or its key. */
interface Turn extends Pick<Database, 'db' | 'pool'> {
  lockMs?: number
}

export class BatchPublisher {
  /** The terms, which also apply to publishes in the caller's transactions. */
  readonly terms: PublishTerms
  #database: Pick<Database, 'db' | 'pool' | 'held'>
  #handover: JobHandover
  /** Transactions of `publishAll` that are under way. */
  #alone = new Set<Promise<unknown>>()
  #batch: MicroBatch<EventRow, Result<Published>>
  #withGivenId: MicroBatch<EventRow, Result<Published>>
  #deduplicated: MicroBatch<DeduplicatedEvent, Result<PublishedOnce>>
  #held = new HeldLane()
  #prepares: boolean

  constructor(
    database: Pick<Database, 'db' | 'pool' | 'held' | 'pooled'>,
    retry: RetrySettings,
    handover: JobHandover,
  ) {
    this.#database = database
    this.terms = { retry, filters: new KnownFilters() }
    this.#handover = handover
    this.#prepares = !database.pooled
    this.#batch = new MicroBatch((events) => this.#writeAll(events), keyOf)
    this.#withGivenId = new MicroBatch(
      (events) => this.#exceptHeld(events, heldId, (free, turn) => this.#writeAll(free, turn)),
      keyOf,
    )
    this.#deduplicated = new MicroBatch(
      (events) => this.#exceptHeld(events, heldKey, (free, turn) => this.#writeOnce(free, turn)),
      ({ deduplicationKey }) => deduplicationKey.key,
    )
  }

  /** `hasGivenId`: the publisher named the id, so that the event may exist already. */
  publish(event: EventRow, hasGivenId = false): Promise<Result<Published>> {
    if (!hasGivenId) return this.#batch.publish(event)
    const held = heldId(event)
    if (!this.#held.has(held.key)) return this.#withGivenId.publish(event)
    return this.#waitFor(held, event, (events, turn) => this.#writeAll(events, turn))
  }

  /** `null` where the event's key is taken. */
  publishDeduplicated(event: DeduplicatedEvent): Promise<Result<PublishedOnce>> {
    const held = heldKey(event)
    if (!this.#held.has(held.key)) return this.#deduplicated.publish(event)
    return this.#waitFor(held, event, (events, turn) => this.#writeOnce(events, turn))
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
    await this.#held.idle()
  }

  async #publishTogether(
    events: OncePublishedRow[],
    attachedRow: AttachedRow | undefined,
  ): Promise<PublishedOrTaken[]> {
    const publish = (turn: Turn) => this.#transact(events, attachedRow, turn)
    const waiting = (lockMs: number) => publish({ ...this.#database.held, lockMs })
    const [first] = events.filter(isDeduplicated)
    if (first === undefined) return publish(this.#database)
    const held = { ...heldKey(first), what: 'the deduplication key of one of these events' }
    if (this.#held.has(held.key)) return this.#held.wait(held, waiting)
    try {
      return await publish({ ...this.#database, lockMs: OTHERS_WAIT_MS })
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      return this.#held.wait(held, waiting)
    }
  }

  async #transact(
    events: OncePublishedRow[],
    attachedRow: AttachedRow | undefined,
    { pool, lockMs }: Turn,
  ): Promise<PublishedOrTaken[]> {
    const deduplicated = events.filter(isDeduplicated)
    const others = events.filter((event) => !isDeduplicated(event))
    const publish = async (db: Db) => {
      const once = await publishDeduplicated(db, deduplicated, this.terms)
      const always = await publishEvents(db, others, this.terms)
      const results = { once: once.results.values(), always: always.results.values() }
      const all = events.map(
        (event) => results[isDeduplicated(event) ? 'once' : 'always'].next().value ?? null,
      )
      await writeAttachedRows(db, [{ attachedRow, results: all }])
      return { results: all, published: [once, always] }
    }
    const { results, published } = await transaction(pool, publish, { lockMs })
    for (const one of published) this.#handover.committed(one)
    return results
  }

  #writeAll(
    events: EventRow[],
    turn: Turn = this.#database,
  ): Promise<Published & { made: number }> {
    return this.#commit(events.length, (offer) =>
      this.#writing(turn, events, (db, inserted) =>
        publishEvents(this.#preparing(db), events, this.terms, offer, inserted, turn.lockMs),
      ),
    )
  }

  #writeOnce(events: DeduplicatedEvent[], turn: Turn): Promise<PublishedOnce & { made: number }> {
    return this.#commit(events.length, (offer) =>
      this.#writing(turn, events, (db, inserted) =>
        publishDeduplicated(this.#preparing(db), events, this.terms, offer, inserted, turn.lockMs),
      ),
    )
  }

  /**
   * Publishes those of a batch that no open transaction holds. The others wait apart, each with a promise
   * for its result: the next batch does not wait for them.
   */
  async #exceptHeld<Event extends EventRow, P extends Published | PublishedOnce>(
    events: Event[],
    heldBy: (event: Event) => Held,
    write: (free: Event[], turn: Turn) => Promise<P & { made: number }>,
  ): Promise<{ results: Result<P>[]; made: number; jobs: number }> {
    let free = events
    let written: (P & { made: number }) | undefined
    while (free.length > 0 && written === undefined) {
      try {
        written = await write(free, { ...this.#database, lockMs: OTHERS_WAIT_MS })
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        const held = await this.#findHeld(free)
        // Another one may be held since. Where all are free again, one of them waits for another lock.
        free = free.filter((_, place) => held.size > 0 && !held.has(place))
      }
    }
    const place = new Map(free.map((event, at) => [event, at]))
    const results = events.map((event) => {
      const at = place.get(event)
      if (at !== undefined) return written?.results[at]
      return this.#waitFor(heldBy(event), event, write)
    })
    return { results: results as Result<P>[], made: written?.made ?? 0, jobs: written?.jobs ?? 0 }
  }

  #findHeld(events: EventRow[]): Promise<Set<number>> {
    if (events.length === 1) return Promise.resolve(new Set([0]))
    const keys = (events as OncePublishedRow[]).flatMap(
      ({ deduplicationKey }) => deduplicationKey?.key ?? [],
    )
    return findHeld(this.#database.db, events, keys.length > 0 ? keys : null)
  }

  #waitFor<Event extends EventRow, P extends Published | PublishedOnce>(
    held: Held,
    event: Event,
    write: (events: Event[], turn: Turn) => Promise<P>,
  ): Promise<Result<P>> {
    return this.#held.wait(held, async (lockMs) => {
      const { results } = await write([event], { ...this.#database.held, lockMs })
      return results[0] as Result<P>
    })
  }

  /** A statement of its own, or a transaction where it cannot write the attached rows. */
  #writing<P extends Published | PublishedOnce>(
    { db, pool }: Turn,
    events: readonly EventRow[],
    publish: (db: Db, inserted?: InsertedRows) => Promise<P>,
  ): Promise<P> {
    const inserted = insertedRows(events)
    if (inserted || events.every(({ attachedRow }) => !attachedRow)) {
      return publish(db, inserted)
    }
    return transaction(pool, async (db) => {
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
      // Batches are as small as their jobs, or the work of their filters, want it.
      const jobs = Math.max(published.jobs, published.filterSteps / STEPS_OF_JOB)
      return Object.assign(published, { jobs, made: published.results.filter(isNew).length })
    } catch (error) {
      if (!this.#prepares || !hasLostStatements(error)) throw error
      this.#prepares = false
      return this.#commit(count, publish)
    }
  }
}

const heldId = (event: EventRow): Held => ({
  key: keyOf(event),
  what: `the id ${JSON.stringify(publishedEventId(event.id))} of the event "${event.name}"`,
})

const heldKey = ({ deduplicationKey: { key } }: DeduplicatedEvent): Held => ({
  key,
  what: 'the deduplication key of this event',
})

const isNew = (result: { duplicate: boolean } | null): boolean => result?.duplicate === false
