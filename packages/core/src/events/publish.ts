/** Publishes events: of hosts by `svc.events.publish`, of our packages as JSON text. */
import { checkedDb } from '../postgres/db.ts'
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Catalogue } from './catalogue.ts'
import { changedText } from './changed-paths.ts'
import type { PublishOptions, PublishResult } from './event-api.ts'
import { KnownFilters } from './filter/known-filters.ts'
import { UndecidedFilters } from './filter/undecided-filters.ts'
import { PublishBatch } from './publish-batch.ts'
import type { AttachedRow, NewEvent, PublishedOrTaken } from './publish-sql.ts'
import type { Subscriptions } from './subscriptions.ts'
import { Transactions } from './transactions.ts'
import {
  checkedEventRow,
  checkedHostEventName,
  checkedPublishOptions,
  payloadText,
} from './validate-event.ts'

export interface GivenEvent {
  name: string
  /** JSON text, which is kept byte for byte. */
  payload: string
  /** @default a new one */
  id?: string | undefined
  /** @default null: the operator's */
  tenant?: string | null | undefined
  /** It is published once for this key, else always. @default null */
  deduplicationKey?: DeduplicationKey | null
  /** JSON text: the paths of what has changed, see changed-paths.ts. @default null: unknown */
  changed?: string | null
}

export interface PublishedWith {
  /** A transaction. @default one of its own */
  db?: Db | undefined
  /** A row that is written in its own transaction. @default none */
  attachedRow?: AttachedRow | undefined
}

/**
 * What a host gives to `svc.events.publish`.
 *
 * @throws InvalidEventName, ReservedEventName, InvalidPayload, InvalidOption, NoTransaction
 */
export function givenByHost(
  name: string,
  payload: unknown,
  options: PublishOptions = {},
): { event: GivenEvent; db: Db | undefined } {
  const event = { name: checkedHostEventName(name), payload: payloadText(payload) }
  const { id, tenant, db, before } = checkedPublishOptions(options)
  const changed = before === undefined ? null : changedText(before, event.payload)
  return { event: { ...event, id, tenant, changed }, db }
}

interface Parts {
  database: Database
  workers: WorkerRegistry
  retry: RetrySettings
  transactionIdleSeconds: number
  catalogue: Pick<Catalogue, 'check'>
  telemetry: Pick<Telemetry, 'publishes'>
  subscriptions: Pick<Subscriptions, 'declare' | 'isReady'>
  log: Record<'warn', (details: object, message: string) => void>
}

export class Publisher {
  readonly transactions: Transactions
  #parts: Parts
  #batch: PublishBatch

  constructor(parts: Parts) {
    this.#parts = parts
    const { database, workers, retry, transactionIdleSeconds, log } = parts
    this.transactions = new Transactions({
      database,
      workers,
      undecided: new UndecidedFilters(log),
      terms: { retry, filters: new KnownFilters() },
      idleSeconds: transactionIdleSeconds,
    })
    this.#batch = new PublishBatch(database, this.transactions)
  }

  /**
   * Publishes all of them in one transaction. The results are in their order: `null` where the
   * deduplication key was taken.
   *
   * @throws InvalidEventName, InvalidEventId, PayloadMismatch, InvalidTransaction, Unavailable
   */
  async publish(
    given: readonly GivenEvent[],
    how: PublishedWith = {},
  ): Promise<(PublishResult | null)[]> {
    const events = given.map(
      ({
        name,
        id,
        tenant = null,
        payload,
        deduplicationKey = null,
        changed = null,
      }): NewEvent => ({
        ...checkedEventRow(name, id, tenant, payload),
        mayExist: id !== undefined,
        deduplicationKey,
        changed,
      }),
    )
    const { publishes } = this.#parts.telemetry
    if (!publishes.isOn) return this.#write(events, how)
    const named = given.map(({ name, tenant = null }) => ({ name, tenant }))
    return publishes.measure(named, (traceContexts) =>
      this.#write(
        events.map((event, place) => ({ ...event, traceContext: traceContexts[place] ?? null })),
        how,
      ),
    )
  }

  idle(): Promise<void> {
    return this.#batch.idle()
  }

  async close(): Promise<void> {
    await this.idle()
    this.transactions.close()
  }

  async #write(
    events: NewEvent[],
    { db, attachedRow }: PublishedWith,
  ): Promise<PublishedOrTaken[]> {
    const { catalogue, subscriptions } = this.#parts
    for (const { name, payload } of events) catalogue.check(name, payload)
    // A caller with `db` holds a connection already: declaring takes a second one, and can deadlock
    // a full pool.
    if (!db || !subscriptions.isReady) await subscriptions.declare()
    if (!db) return this.#batch.publish(events, attachedRow)
    const ours = this.transactions.forOurs(checkedDb(db, 'events.publish'))
    return (await this.transactions.publish(ours, { events, attachedRow })).results
  }
}
