/** `svc.health`: whether this process can do its work, within two seconds whatever Postgres does. */
import type { QueueCount } from './queue-counts-table.ts'
import type { QueueCounts } from './queue-counts.ts'
import { HEALTH_TIMEOUT_MS, SharedCall } from './shared-call.ts'

/** The result of `svc.health`: the state of this process and of the queues in its database. */
export interface Health {
  /** Whether `database` and `listener` are ok, and the host has not begun to close. */
  ok: boolean
  database: {
    /** Whether Postgres has answered a statement on the host's pool within two seconds. */
    ok: boolean
    /** Milliseconds until the answer, or until it was given up; the wait for a connection included. */
    latencyMs: number
  }
  listener: {
    /**
     * Whether other processes can wake this one, on a connection of its own; without it jobs are found
     * by polling, within seconds. `true` behind a pooler, where there is no such connection.
     */
    ok: boolean
  }
  /** The queues of all subscriptions in the database; none where they could not be counted in time. */
  queues: QueueCount[]
}

interface Parts {
  /** Sends a small query, on the connections that the application uses. */
  ping: () => Promise<unknown>
  isListening: () => boolean
  counts: Pick<QueueCounts, 'read'>
  /** Ends the gauges of the queues, where there are any. */
  unobserve: (() => void) | null
}

/** The timer of a busy process fires late. */
const MARGIN_MS = 200

export class HealthCheck {
  #parts: Parts
  #ping: SharedCall<unknown>
  #isClosing = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#ping = new SharedCall(parts.ping, HEALTH_TIMEOUT_MS)
  }

  /** The host has begun to close. */
  closing(): void {
    this.#isClosing = true
  }

  /** Before the database is closed. */
  stop(): void {
    this.closing()
    this.#parts.unobserve?.()
  }

  async check(): Promise<Health> {
    const deadline = performance.now() + HEALTH_TIMEOUT_MS - MARGIN_MS
    const [database, queues] = await Promise.all([
      this.#checkDatabase(deadline),
      within(deadline, () => this.#parts.counts.read()),
    ])
    const listener = { ok: this.#parts.isListening() }
    const ok = database.ok && listener.ok && !this.#isClosing
    return { ok, database, listener, queues: queues ?? [] }
  }

  async #checkDatabase(deadline: number): Promise<Health['database']> {
    const startedAt = performance.now()
    const answer = await within(deadline, async () => {
      await this.#ping.answer()
      return true
    })
    const latencyMs = Math.round((performance.now() - startedAt) * 10) / 10
    return { ok: answer === true, latencyMs }
  }
}

/** `null` where it fails, or takes longer. */
async function within<T>(deadline: number, run: () => Promise<T>): Promise<T | null> {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), deadline - performance.now())
  try {
    return await Promise.race([run().catch(() => null), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
