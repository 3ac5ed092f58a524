/**
 * Writes the subscriptions of this process into the database: at boot, or before the first publish that
 * would miss them.
 */
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
  lease: Pick<ProcessLease, 'declareEvents'>
  /** The option `migrate` is 'check': queues are rows, and nothing else is made. */
  isCheck: boolean
}

export class Declarations {
  #parts: Parts
  #unwritten: Subscribed[] = []
  #writing: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  add(subscribed: Subscribed): void {
    this.#unwritten.push(subscribed)
  }

  /** Resolves when all subscriptions that were added are written. */
  write(): Promise<void> {
    if (this.#unwritten.length > 0) {
      const subscribed = this.#unwritten.splice(0)
      this.#writing = this.#writing.then(() => this.#writeAll(subscribed))
      // Awaiters still get the error; this prevents an unhandled rejection where there are none.
      this.#writing.catch(() => {})
    }
    return this.#writing
  }

  async #writeAll(subscribed: Subscribed[]): Promise<void> {
    for (const [index, { event, options }] of subscribed.entries()) {
      try {
        await this.#write(event, options)
      } catch (error) {
        this.#unwritten.unshift(...subscribed.slice(index))
        this.#writing = Promise.resolve()
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
