/** Publishes, and the subscriptions of this process with their pumps. */
import { checkedDb } from '../postgres/checked-db.ts'
import type { Catalogue } from './catalogue.ts'
import { CommitPoller } from './commit-poller.ts'
import type { Db, TimeLimit } from '../postgres/transaction.ts'
import type { Database } from '../postgres/pools.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { EventHandler, PublishOptions, PublishResult, SubscribeOptions } from './event-api.ts'
import {
  checkedEventRow,
  checkedHostEventName,
  checkedPublishOptions,
  checkedSubscriptionName,
  payloadText,
  resolveSubscribeOptions,
} from './validate-event.ts'
import type { EventRow } from './events-table.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import type { AttachedRow } from './attached-rows.ts'
import { Declarations } from './declarations.ts'
import { JobHandover } from './job-handover.ts'
import { publishEvents } from './publish-events.ts'
import { BatchPublisher } from './batch-publisher.ts'
import { emptyQueue, type PgBoss } from '../jobs/pg-boss/boss.ts'
import { createSubscriptionWorker, queueOfSubscription } from './subscription-worker.ts'
import type { TransactionOptions } from '../postgres/host-transactions.ts'
import { addPublished, mayClaim, OpenTransactions } from './open-transactions.ts'
import type { ProcessLease } from '../processes/process-lease.ts'
import {
  createDeadLetterOperations,
  type DeadLetterOperations,
} from './subscription-dead-letters.ts'
import type { OwnEvent } from './own-events.ts'
import { isWanted, retireSubscription } from './subscriptions-table.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import { UndecidedFilters } from './undecided-filters.ts'

interface Parts {
  boss: PgBoss
  database: Database
  workers: WorkerRegistry
  retry: RetrySettings
  transactionIdleSeconds: number
  /** The option `migrate` is 'check'. */
  isCheck: boolean
  lease: Pick<ProcessLease, 'declareEvents' | 'forget' | 'id'>
  catalogue: Pick<Catalogue, 'check'>
  telemetry: Pick<Telemetry, 'publishes'>
  requestDb: Db
  readDb: Db
  log: Record<'error' | 'warn', (details: object, message: string) => void>
}

/** An event that is published once for a key, or always. */
export interface OncePublished {
  name: string
  /** JSON text. */
  payload: string
  deduplicationKey: DeduplicationKey | null
}

export class EventBus {
  readonly deadLetters: DeadLetterOperations
  #parts: Parts
  #handover: JobHandover
  #publisher: BatchPublisher
  #commits: CommitPoller
  #undecided: UndecidedFilters
  #transactions: OpenTransactions
  #declarations: Declarations
  #ready = false

  constructor(parts: Parts) {
    this.#parts = parts
    const { database, workers, retry, lease, requestDb, readDb } = parts
    this.#declarations = new Declarations(parts)
    this.#undecided = new UndecidedFilters(parts.log)
    this.#handover = new JobHandover(workers, () => lease.id, this.#undecided)
    this.#transactions = new OpenTransactions(
      database.pool,
      parts.transactionIdleSeconds,
      this.#handover,
    )
    this.#commits = new CommitPoller(database.db, (waiting) => this.#handover.wake(waiting))
    this.#publisher = new BatchPublisher(database, retry, this.#handover)
    this.deadLetters = createDeadLetterOperations({
      db: requestDb,
      readDb,
      retry,
      declare: () => this.declare(),
      wake: (queue) => workers.wake(queue),
    })
  }

  /**
   * Does the same as `svc.events.publish`, with the payload as JSON text, which is kept byte for
   * byte.
   */
  async publishText(
    name: string,
    payload: string,
    options: PublishOptions = {},
  ): Promise<PublishResult> {
    const { id, db, tenant = null } = checkedPublishOptions(options)
    const event = checkedEventRow(name, id, tenant, payload)
    const { publishes } = this.#parts.telemetry
    if (!publishes.isOn) return this.#publish(event, db, id !== undefined)
    const [result] = await publishes.measure([{ name, tenant }], async ([traceContext = null]) => [
      await this.#publish({ ...event, traceContext }, db, id !== undefined),
    ])
    return result
  }

  async #publish(event: EventRow, db: Db | undefined, hasGivenId: boolean): Promise<PublishResult> {
    this.#parts.catalogue.check(event.name, event.payload)
    // A caller with `db` holds a connection already: declaring takes a second one, and can deadlock
    // a full pool.
    if (!db || !this.#ready) await this.declare()
    if (!db) return this.#publisher.publish(event, hasGivenId)
    const [result] = await this.#publishWithin(this.forOurs(checkedDb(db, 'events.publish')), [
      event,
    ])
    return result as PublishResult
  }

  /**
   * Publishes events of ours in the caller's transaction. `make` is called only where a
   * subscription or a recipient wants the event.
   */
  async publishOwn(db: Db, name: string, make: () => Promise<OwnEvent[]>): Promise<void> {
    if (!this.#ready) await this.declare()
    if (!(await isWanted(db, name))) return
    const events = await make()
    const rows = events.map(({ payload, tenant }) =>
      checkedEventRow(name, undefined, tenant, payloadText(payload)),
    )
    if (rows.length > 0) await this.#publishWithin(db, rows)
  }

  /**
   * Publishes several events in one transaction, each event once for its key: `null` where the key
   * is taken. `attachedRow` is a row that is written in the same transaction.
   */
  async publishOnce(
    given: OncePublished[],
    {
      attachedRow,
      tenant = null,
    }: { attachedRow?: AttachedRow | undefined; tenant?: string | null } = {},
  ): Promise<(PublishResult | null)[]> {
    const events = given.map(({ name, payload, deduplicationKey }) => ({
      ...checkedEventRow(checkedHostEventName(name), undefined, tenant, payload),
      deduplicationKey,
    }))
    const { publishes } = this.#parts.telemetry
    if (!publishes.isOn) return this.#publishOnce(events, attachedRow)
    const named = events.map(({ name }) => ({ name, tenant }))
    return publishes.measure(named, (traceContexts) =>
      this.#publishOnce(
        events.map((event, index) => ({ ...event, traceContext: traceContexts[index] ?? null })),
        attachedRow,
      ),
    )
  }

  async #publishOnce(
    events: (EventRow & { deduplicationKey: DeduplicationKey | null })[],
    attachedRow: AttachedRow | undefined,
  ): Promise<(PublishResult | null)[]> {
    for (const { name, payload } of events) this.#parts.catalogue.check(name, payload)
    await this.declare()
    const [event] = events
    if (events.length !== 1 || !event) return this.#publisher.publishAll(events, attachedRow)
    const { deduplicationKey, ...row } = event
    return deduplicationKey === null
      ? [await this.#publisher.publish({ ...row, attachedRow })]
      : [await this.#publisher.publishDeduplicated({ ...row, deduplicationKey, attachedRow })]
  }

  async #publishWithin(db: Db, events: EventRow[]): Promise<PublishResult[]> {
    const open = this.#transactions.of(db)
    if (open) open.publishing++
    try {
      const offer = open && mayClaim(open) ? this.#handover.offer() : undefined
      const published = await publishEvents(db, events, this.#publisher.terms, offer)
      if (open) addPublished(open, published)
      else {
        this.#undecided.found(published.unreadable)
        this.#commits.expect(published.transactionId, published.waiting)
      }
      return published.results
    } finally {
      if (open) open.publishing--
    }
  }

  /** A transaction of our own, whose commit needs no polling. */
  transaction<T>(run: (db: Db) => Promise<T>, limit?: TimeLimit): Promise<T> {
    return this.#transactions.run(run, limit)
  }

  /** `svc.transaction`. */
  hostTransaction<T>(run: (db: Db) => T | Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#transactions.runOfHost(run, options)
  }

  /** See {@link OpenTransactions.forOurs}. */
  forOurs(db: Db): Db {
    return this.#transactions.forOurs(db)
  }

  /** Runs `task` after the commit. The commit of a transaction of the caller's own is not seen: `false`. */
  afterCommit(db: Db, task: () => void): boolean {
    return this.#transactions.of(db)?.tasks.push(task) !== undefined
  }

  subscribe(name: string, handler: EventHandler, options?: SubscribeOptions): Promise<void> {
    const settled = resolveSubscribeOptions(name, handler, options)
    const subscribed = { event: name, options: settled }
    this.#declarations.add(subscribed)
    const worker = createSubscriptionWorker(handler, settled, this.#parts.log)
    const start = () => this.#parts.workers.add(worker)
    if (this.#ready) return this.#declarations.writeOrRemove(subscribed).then(start)
    start()
    return Promise.resolve()
  }

  async unsubscribe(subscription: string): Promise<void> {
    checkedSubscriptionName(subscription)
    await this.declare()
    this.#parts.lease.forget(subscription)
    await retireSubscription(this.#parts.database.db, subscription)
    this.#declarations.forget(subscription)
    await this.#parts.workers.remove(queueOfSubscription(subscription))
    await emptyQueue(this.#parts.boss, queueOfSubscription(subscription))
  }

  /** Writes the subscriptions that are not in the database yet. */
  declare(): Promise<void> {
    return this.#declarations.write()
  }

  /** The host is ready: from now on a subscription is written as soon as it is made. */
  async ready(): Promise<void> {
    this.#ready = true
    await this.declare()
  }

  /** Resolves when every publish without a transaction is committed or refused. */
  idle(): Promise<void> {
    return this.#publisher.idle()
  }

  async close(): Promise<void> {
    await this.idle()
    this.#commits.close()
  }
}
