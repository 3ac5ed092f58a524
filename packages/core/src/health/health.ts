/** `svc.health`: whether this process can do its work, within two seconds whatever Postgres does. */
import type { TaskHealth } from '../jobs/periodic-tasks.ts'
import type { QueueCount } from '../jobs/pg-boss/queue-counts-table.ts'
import type { QueueCounts } from './queue-counts.ts'
import { whyUnavailable } from '../postgres/connection-errors.ts'
import { within } from '../within.ts'
import { HEALTH_TIMEOUT_MS, SharedCall } from './shared-call.ts'

/** The result of `svc.health`: the state of this process and of the queues in its database. */
export interface Health {
  /** Whether `database`, `listener` and `tasks` are ok, and the host has not begun to close. */
  ok: boolean
  database: {
    /**
     * Whether Postgres has answered a statement on the host's pool within two seconds, and takes
     * writes.
     */
    ok: boolean
    /** What is the matter, where `ok` is `false`. */
    reason?: string
    /** Milliseconds until the answer, or until it was given up; the wait for a connection included. */
    latencyMs: number
    /** Where the database is the coordinator of a Citus cluster: `Citus` and the version, as of the boot. */
    engine?: string
  }
  listener: {
    /**
     * Whether other processes can wake this one, on a connection of its own; without it jobs are found
     * by polling, within seconds. `true` behind a pooler, where there is no such connection.
     */
    ok: boolean
  }
  /**
   * The work that this process repeats in the background: sweeps, roll-ups, partitions, notices. `ok` is
   * `false` once a task has failed three times in a row, by itself and not for want of the database.
   */
  tasks: TaskHealth
  /** The queues of all subscriptions in the database; none where they could not be counted in time. */
  queues: QueueCount[]
  /**
   * What an operator has stopped: `all` deliveries of webhooks, those of a `tenant`, or a `subscription`. None where
   * Postgres did not answer in time.
   */
  paused: Paused[]
}

/** A pause. `since` is ISO 8601. */
export interface Paused {
  scope: 'all' | 'tenant' | 'subscription'
  tenant?: string
  subscription?: string
  reason: string | null
  since: string
}

interface Parts {
  pauses: () => Promise<Paused[]>
  /** Sends a small query, on the connections that the application uses. Rejects where nothing can be written. */
  ping: () => Promise<unknown>
  /** The version of Citus; null without it. */
  citus: string | null
  isListening: () => boolean
  tasks: () => TaskHealth
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
    const [database, queues, paused] = await Promise.all([
      this.#checkDatabase(deadline),
      until(deadline, this.#parts.counts.read()),
      until(deadline, this.#parts.pauses()),
    ])
    const listener = { ok: this.#parts.isListening() }
    const tasks = this.#parts.tasks()
    const ok = database.ok && listener.ok && tasks.ok && !this.#isClosing
    return { ok, database, listener, tasks, queues: queues ?? [], paused: paused ?? [] }
  }

  async #checkDatabase(deadline: number): Promise<Health['database']> {
    const startedAt = performance.now()
    let reason = NO_ANSWER
    const answer = await until(
      deadline,
      this.#ping.answer().then(
        () => true,
        (error: unknown) => {
          reason = whyUnavailable(error) ?? (error as Error).message
          return false
        },
      ),
    )
    const latencyMs = Math.round((performance.now() - startedAt) * 10) / 10
    const { citus } = this.#parts
    const facts = { latencyMs, ...(citus !== null && { engine: `Citus ${citus}` }) }
    return answer === true ? { ok: true, ...facts } : { ok: false, reason, ...facts }
  }
}

const NO_ANSWER = `the database has not answered within ${HEALTH_TIMEOUT_MS / 1000} seconds`

/** `null` where it fails, or takes longer. */
const until = <T>(deadline: number, answer: Promise<T>): Promise<T | null> =>
  within(
    deadline - performance.now(),
    answer.catch(() => null),
    () => null,
  )
