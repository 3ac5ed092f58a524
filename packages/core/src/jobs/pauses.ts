/**
 * Which queues are stopped, as this process knows it. It reads the table at boot, when a notification says that it
 * has changed, and before it looks for jobs where what it knows is old.
 */
import { loggable } from '../postgres/loggable-error.ts'
import type { Notifications } from '../postgres/notifications.ts'
import type { Db } from '../postgres/transaction.ts'
import { listPauses, type Pause } from './pauses-table.ts'

const CHANNEL = 'svc.pauses'
/** How long it is known without another read: where changes are notified, and where they are not. */
const KNOWN_MS = 10_000
const KNOWN_UNNOTIFIED_MS = 800

interface Parts {
  db: Db
  notifications: Pick<Notifications, 'listen' | 'send' | 'onConnect' | 'session'>
  log: Record<'warn' | 'info', (details: object, message: string) => void>
}

export class Pauses {
  #parts: Parts
  #all: readonly Pause[] = []
  #queues = new Set<string>()
  #readAt = -Infinity
  #reading: Promise<void> | undefined
  /** There may be a change that the read under way does not see. */
  #isStale = false
  #failures = 0
  #resumed: (queue: string) => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** `resumed`: called for a queue that goes on. */
  async start(resumed: (queue: string) => void): Promise<void> {
    const { notifications } = this.#parts
    this.#resumed = resumed
    notifications.listen(CHANNEL, () => void this.#read())
    notifications.onConnect(() => void this.#read())
    await this.#read()
  }

  has(queue: string): boolean {
    return this.#queues.has(queue)
  }

  async holds(queue: string): Promise<boolean> {
    if (this.#knownMs > this.#mostMs) await this.#read()
    return this.has(queue)
  }

  /** The same, where nobody waits: without notifications, what is known for too long counts as a pause. */
  mayHold(queue: string): boolean {
    if (this.#knownMs > this.#mostMs / 2) void this.#read()
    return this.has(queue) || (!this.#isNotified && this.#knownMs > this.#mostMs)
  }

  list(): Promise<Pause[]> {
    return listPauses(this.#parts.db)
  }

  changed(): void {
    void this.#read()
    this.#parts.notifications.send(CHANNEL, '').catch(() => {})
  }

  get #isNotified(): boolean {
    return this.#parts.notifications.session !== undefined
  }

  get #knownMs(): number {
    return performance.now() - this.#readAt
  }

  get #mostMs(): number {
    return this.#isNotified ? KNOWN_MS : KNOWN_UNNOTIFIED_MS
  }

  #read(): Promise<void> {
    this.#isStale = true
    this.#reading ??= this.#readWhileStale().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #readWhileStale(): Promise<void> {
    const { db, log } = this.#parts
    try {
      while (this.#isStale) {
        this.#isStale = false
        const beganAt = performance.now()
        this.#apply(await listPauses(db))
        this.#readAt = beganAt
        if (this.#failures > 0) {
          log.info({ failures: this.#failures }, 'which queues are paused is known again')
        }
        this.#failures = 0
      }
    } catch (error) {
      if (this.#failures++ > 0) return
      log.warn({ err: loggable(error) }, 'could not read which queues are paused; it tries again')
    }
  }

  #apply(all: readonly Pause[]): void {
    const { log } = this.#parts
    const before = this.#queues
    const whole = all.filter(({ tenant }) => tenant === null)
    this.#queues = new Set(whole.map(({ queue }) => queue))
    for (const { queue, reason, since } of whole) {
      if (!before.has(queue)) {
        log.warn({ queue, reason, since }, 'a queue is paused: no attempt begins')
      }
    }
    for (const queue of before) {
      if (this.#queues.has(queue)) continue
      log.info({ queue }, 'a queue is not paused any more')
      this.#resumed(queue)
    }
    const tenants = (of: readonly Pause[]) => of.filter(({ tenant }) => tenant !== null)
    const known = new Set(tenants(this.#all).map(keyOf))
    for (const one of tenants(all)) {
      const { queue, tenant, reason, since } = one
      if (known.delete(keyOf(one))) continue
      log.warn({ queue, tenant, reason, since }, 'a tenant is paused: no attempt for it begins')
    }
    for (const key of known) {
      const [queue, tenant] = key.split('\n')
      log.info({ queue, tenant }, 'a tenant is not paused any more')
    }
    this.#all = all
  }
}

const keyOf = ({ queue, tenant }: Pause): string => `${queue}\n${tenant ?? ''}`
