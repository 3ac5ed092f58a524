/**
 * The durable subscriptions of this process. They are written into the database at boot, or before the first
 * publish that would miss them.
 */
import { SubscriptionTaken } from '../errors.ts'
import { defineQueue, emptyQueue, type PgBoss } from '../jobs/pg-boss/boss.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import type { ProcessLease } from '../processes/process-lease.ts'
import type { EventHandler, SubscribeOptions } from './event-api.ts'
import {
  createDeadLetterOperations,
  type DeadLetterOperations,
} from './subscription-dead-letters.ts'
import { createSubscriptionWorker, queueOfSubscription } from './subscription-worker.ts'
import { retireSubscription } from './subscriptions-table.ts'
import {
  checkedSubscriptionName,
  resolveSubscribeOptions,
  type ResolvedSubscribeOptions,
} from './validate-event.ts'

interface Subscribed {
  event: string
  options: ResolvedSubscribeOptions
}

interface Parts {
  boss: PgBoss
  database: Database
  workers: Pick<WorkerRegistry, 'add' | 'remove' | 'wake'>
  retry: RetrySettings
  lease: Pick<ProcessLease, 'declareEvents' | 'forget'>
  /** The option `migrate` is 'check': queues are rows, and nothing else is made. */
  isCheck: boolean
  requestDb: Db
  readDb: Db
  log: { error(details: object, message: string): void }
}

export class Subscriptions {
  readonly deadLetters: DeadLetterOperations
  #parts: Parts
  #names = new Set<string>()
  #unwritten: Subscribed[] = []
  #writing: Promise<void> = Promise.resolve()
  #isReady = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.deadLetters = createDeadLetterOperations(parts, () => this.declare())
  }

  /** The host is ready: a subscription is written as soon as it is made. */
  get isReady(): boolean {
    return this.#isReady
  }

  async ready(): Promise<void> {
    this.#isReady = true
    await this.declare()
  }

  /** @throws SubscriptionTaken */
  subscribe(name: string, handler: EventHandler, options?: SubscribeOptions): Promise<void> {
    const settled = resolveSubscribeOptions(name, handler, options)
    const { subscription } = settled
    if (this.#names.has(subscription)) throw new SubscriptionTaken(subscription)
    this.#names.add(subscription)
    const subscribed = { event: name, options: settled }
    this.#unwritten.push(subscribed)
    const worker = createSubscriptionWorker(handler, settled, this.#parts.log)
    const start = () => this.#parts.workers.add(worker)
    if (this.#isReady) return this.#writeOrRemove(subscribed).then(start)
    start()
    return Promise.resolve()
  }

  async unsubscribe(subscription: string): Promise<void> {
    checkedSubscriptionName(subscription)
    await this.declare()
    const { boss, database, lease, workers } = this.#parts
    lease.forget(subscription)
    await retireSubscription(database.db, subscription)
    this.#names.delete(subscription)
    await workers.remove(queueOfSubscription(subscription))
    await emptyQueue(boss, queueOfSubscription(subscription))
  }

  /** Resolves when all subscriptions that were made are written. */
  declare(): Promise<void> {
    if (this.#unwritten.length === 0) return this.#writing
    const subscribed = this.#unwritten.splice(0)
    const writing = this.#writing.catch(() => {}).then(() => this.#writeAll(subscribed))
    this.#writing = writing
    // Awaiters still get the error. What is not written yet is written again with the next call.
    writing.catch(() => {
      if (this.#writing === writing) this.#writing = Promise.resolve()
    })
    return writing
  }

  /** Where it cannot be written it is as if it had not been made: `subscribe` can be called again. */
  async #writeOrRemove(subscribed: Subscribed): Promise<void> {
    try {
      await this.declare()
    } catch (error) {
      const { subscription } = subscribed.options
      this.#unwritten = this.#unwritten.filter((one) => one !== subscribed)
      this.#parts.lease.forget(subscription)
      this.#names.delete(subscription)
      throw error
    }
  }

  async #writeAll(subscribed: Subscribed[]): Promise<void> {
    for (const [index, { event, options }] of subscribed.entries()) {
      try {
        await this.#write(event, options)
      } catch (error) {
        this.#unwritten.unshift(...subscribed.slice(index))
        throw error
      }
    }
  }

  async #write(event: string, options: ResolvedSubscribeOptions): Promise<void> {
    const { boss, database, lease, isCheck } = this.#parts
    const queue = queueOfSubscription(options.subscription)
    await defineQueue(boss, database, queue, { ownTable: false, isCheck })
    await lease.declareEvents({
      subscription: options.subscription,
      queue,
      events: [event],
      idempotent: options.idempotent,
      fansOut: false,
    })
  }
}
