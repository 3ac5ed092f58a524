/**
 * Publishes without a transaction of the caller. Concurrent ones share a statement, which is a
 * transaction of its own.
 */
import { isLockTimeout } from '../postgres/contention.ts'
import type { Database } from '../postgres/pools.ts'
import { publishedEventId } from './event-id.ts'
import { HeldLane, OTHERS_WAIT_MS } from './held-lane.ts'
import { MicroBatch, type Committed } from './micro-batch.ts'
import {
  findHeld,
  keyOf,
  type AttachedRow,
  type NewEvent,
  type Published,
  type PublishedOrTaken,
  type ToPublish,
} from './publish-sql.ts'
import type { Transactions } from './transactions.ts'

export class PublishBatch {
  #database: Pick<Database, 'db' | 'held'>
  #transactions: Transactions
  #fresh: MicroBatch<NewEvent, PublishedOrTaken>
  #repeatable: MicroBatch<NewEvent, PublishedOrTaken>
  #held = new HeldLane()
  #alone = new Set<Promise<unknown>>()

  constructor(database: Pick<Database, 'db' | 'held'>, transactions: Transactions) {
    this.#database = database
    this.#transactions = transactions
    this.#fresh = new MicroBatch(transactions.publishBatch, keyOf)
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
    if (!keyed) return this.#transactions.publishAtOnce(toPublish)
    const held = { key: keyOfHeld(keyed), what: 'the deduplication key of one of these events' }
    if (!this.#held.has(held.key)) {
      try {
        return await this.#amongOthers(toPublish)
      } catch (error) {
        if (!isLockTimeout(error)) throw error
      }
    }
    return this.#held.wait(held, (lockMs) => this.#apart(toPublish, lockMs))
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
        published = await this.#amongOthers({ events: free })
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
    const { made = 0, jobs = 0 } = published ?? {}
    return { made, jobs, results: results as PublishedOrTaken[] }
  }

  #whenFree(event: NewEvent): Promise<PublishedOrTaken> {
    const held = { key: keyOfHeld(event), what: nameOfHeld(event) }
    return this.#held.wait(held, async (lockMs) => {
      const { results } = await this.#apart({ events: [event] }, lockMs)
      return results[0] ?? null
    })
  }

  #amongOthers(toPublish: ToPublish): Promise<Published> {
    return this.#transactions.publishAtOnce({ ...toPublish, lockMs: OTHERS_WAIT_MS })
  }

  #apart(toPublish: ToPublish, lockMs: number): Promise<Published> {
    return this.#transactions.publishAtOnce({ ...toPublish, lockMs }, this.#database.held)
  }
}

/** What a transaction holds of an event that is not published yet. */
const keyOfHeld = (event: NewEvent): string =>
  event.deduplicationKey ? `\n${event.deduplicationKey.key}` : keyOf(event)

const nameOfHeld = ({ name, id, deduplicationKey }: NewEvent): string =>
  deduplicationKey
    ? 'the deduplication key of this event'
    : `the id ${JSON.stringify(publishedEventId(id))} of the event "${name}"`
