/**
 * Writes the subscriptions of this process into the database: at boot, or before the first publish that
 * would miss them.
 */
import { SubscriptionTaken } from '../errors.ts'
import { defineQueue, type PgBoss } from '../jobs/pg-boss/boss.ts'
import type { Database } from '../postgres/pools.ts'
import type { ProcessLease } from '../processes/process-lease.ts'
import { queueOfSubscription } from './subscription-worker.ts'
import type { ResolvedSubscribeOptions } from './validate-event.ts'

export interface Subscribed {
  event: string
  options: ResolvedSubscribeOptions
}

interface Parts {
  boss: PgBoss
  database: Database
  lease: Pick<ProcessLease, 'declareEvents' | 'forget'>
  /** The option `migrate` is 'check': queues are rows, and nothing else is made. */
  isCheck: boolean
}

export class Declarations {
  #parts: Parts
  /** Of the subscriptions of this process. */
  #names = new Set<string>()
  #unwritten: Subscribed[] = []
  #writing: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** @throws SubscriptionTaken */
  add(subscribed: Subscribed): void {
    const { subscription } = subscribed.options
    if (this.#names.has(subscription)) throw new SubscriptionTaken(subscription)
    this.#names.add(subscription)
    this.#unwritten.push(subscribed)
  }

  /** Its name is free again. */
  forget(subscription: string): void {
    this.#names.delete(subscription)
  }

  /** Resolves when all subscriptions that were added are written. */
  write(): Promise<void> {
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

  /** Where it cannot be written it is as if it had not been added: its `subscribe` can be called again. */
  async writeOrRemove(subscribed: Subscribed): Promise<void> {
    try {
      await this.write()
    } catch (error) {
      const { subscription } = subscribed.options
      this.#unwritten = this.#unwritten.filter((one) => one !== subscribed)
      this.#parts.lease.forget(subscription)
      this.forget(subscription)
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
