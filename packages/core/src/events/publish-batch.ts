/**
 * Publishes without a transaction of the caller. Concurrent ones share a statement, which is a
 * transaction of its own.
 */
import { isLockTimeout } from '../postgres/contention.ts'
import type { Database } from '../postgres/pools.ts'
import { hasLostStatements, withPreparedStatements } from '../postgres/prepared-statements.ts'
import type { Db } from '../postgres/transaction.ts'
import { publishedEventId } from './event-id.ts'
import { HeldLane, OTHERS_WAIT_MS } from './held-lane.ts'
import { MicroBatch, type Committed } from './micro-batch.ts'
import {
  findHeld,
  keyOf,
  publish,
  type AttachedRow,
  type NewEvent,
  type Published,
  type PublishedOrTaken,
  type PublishTerms,
  type ToPublish,
} from './publish-sql.ts'
import type { Handover } from './transactions.ts'

/** Jobs of larger batches are fetched in batches too: that is as quick, and keeps groups fair. */
const LARGEST_CLAIMED_BATCH = 8

/** Of filters: about the time that it takes to write a job. */
const STEPS_OF_JOB = 1000

/** Where, and how long, a statement may wait for a transaction that holds an id or a key. */
interface Turn {
  db: Db
  lockMs?: number
}

export class PublishBatch {
  #database: Pick<Database, 'db' | 'held'>
  #terms: PublishTerms
  #handover: Handover
  #prepares: boolean
  #fresh: MicroBatch<NewEvent, PublishedOrTaken>
  #repeatable: MicroBatch<NewEvent, PublishedOrTaken>
  #held = new HeldLane()
  #alone = new Set<Promise<unknown>>()

  constructor(
    database: Pick<Database, 'db' | 'held' | 'pooled'>,
    terms: PublishTerms,
    handover: Handover,
  ) {
    this.#database = database
    this.#terms = terms
    this.#handover = handover
    this.#prepares = !database.pooled
    this.#fresh = new MicroBatch(async (events) => counted(await this.#write({ events })), keyOf)
    this.#repeatable = new MicroBatch((events) => this.#exceptHeld(events), keyOfHeld)
  }

  /** `attachedRow`: of all these events, however many they are. */
  async publish(
    events: NewEvent[],
    attachedRow: AttachedRow | undefined,
  ): Promise<PublishedOrTaken[]> {
    const [event] = events
    if (event && events.length === 1) {
      return [await this.#inBatch(attachedRow ? { ...event, attachedRow } : event)]
    }
    const publishing = this.#together({ events, attachedRow })
    this.#alone.add(publishing)
    try {
      return (await publishing).results
    } finally {
      this.#alone.delete(publishing)
    }
  }

  async idle(): Promise<void> {
    await Promise.all([this.#fresh.idle(), this.#repeatable.idle()])
    await Promise.allSettled(this.#alone)
    await this.#held.idle()
  }

  #inBatch(event: NewEvent): Promise<PublishedOrTaken> {
    if (!event.mayExist && !event.deduplicationKey) return this.#fresh.publish(event)
    if (!this.#held.has(keyOfHeld(event))) return this.#repeatable.publish(event)
    return this.#whenFree(event)
  }

  /** In one transaction: a repeat must not find a part of them. */
  async #together(toPublish: ToPublish): Promise<Published> {
    const keyed = toPublish.events.find(({ deduplicationKey }) => deduplicationKey)
    if (!keyed) return this.#write(toPublish)
    const held = { key: keyOfHeld(keyed), what: 'the deduplication key of one of these events' }
    if (!this.#held.has(held.key)) {
      try {
        return await this.#write(toPublish, this.#amongOthers)
      } catch (error) {
        if (!isLockTimeout(error)) throw error
      }
    }
    return this.#held.wait(held, (lockMs) => this.#write(toPublish, this.#apart(lockMs)))
  }

  /**
   * Publishes those of a batch that no open transaction holds. The others wait apart, each with a promise
   * for its result: the next batch does not wait for them.
   */
  async #exceptHeld(events: NewEvent[]): Promise<Committed<PublishedOrTaken>> {
    let free = events
    let published: Published | undefined
    while (free.length > 0 && published === undefined) {
      try {
        published = await this.#write({ events: free }, this.#amongOthers)
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        const held = free.length === 1 ? new Set([0]) : await findHeld(this.#database.db, free)
        // Another one may be held since. Where all are free again, one of them waits for another lock.
        free = free.filter((_, place) => held.size > 0 && !held.has(place))
      }
    }
    const place = new Map(free.map((event, at) => [event, at]))
    const results = events.map((event) => {
      const at = place.get(event)
      return at === undefined ? this.#whenFree(event) : published?.results[at]
    })
    return { ...counted(published), results: results as PublishedOrTaken[] }
  }

  #whenFree(event: NewEvent): Promise<PublishedOrTaken> {
    const held = { key: keyOfHeld(event), what: nameOfHeld(event) }
    return this.#held.wait(held, async (lockMs) => {
      const { results } = await this.#write({ events: [event] }, this.#apart(lockMs))
      return results[0] ?? null
    })
  }

  get #amongOthers(): Turn {
    return { db: this.#database.db, lockMs: OTHERS_WAIT_MS }
  }

  #apart(lockMs: number): Turn {
    return { db: this.#database.held, lockMs }
  }

  async #write(toPublish: ToPublish, turn: Turn = { db: this.#database.db }): Promise<Published> {
    const isLarge = toPublish.events.length > LARGEST_CLAIMED_BATCH
    const offer = isLarge ? undefined : this.#handover.offer()
    const db = this.#prepares ? withPreparedStatements(turn.db) : turn.db
    try {
      const all = { ...toPublish, offer, lockMs: turn.lockMs, commitsAtOnce: true }
      const published = await publish(db, all, this.#terms)
      this.#handover.committed(published)
      return published
    } catch (error) {
      if (!this.#prepares || !hasLostStatements(error)) throw error
      this.#prepares = false
      return this.#write(toPublish, turn)
    }
  }
}

/** What a transaction holds of an event that is not published yet. */
const keyOfHeld = (event: NewEvent): string =>
  event.deduplicationKey ? `\n${event.deduplicationKey.key}` : keyOf(event)

const nameOfHeld = ({ name, id, deduplicationKey }: NewEvent): string =>
  deduplicationKey
    ? 'the deduplication key of this event'
    : `the id ${JSON.stringify(publishedEventId(id))} of the event "${name}"`

/** Batches are as small as their jobs, or the work of their filters, want it. */
const counted = (published: Published | undefined): Committed<PublishedOrTaken> => ({
  results: published?.results ?? [],
  made: published?.results.filter((result) => result?.duplicate === false).length ?? 0,
  jobs: published ? Math.max(published.jobs, published.filterSteps / STEPS_OF_JOB) : 0,
})
