/** `svc.health`: whether this process can do its work, within two seconds whatever Postgres does. */
import type { Pauses } from '../jobs/pauses.ts'
import type { Pause } from '../jobs/pauses-table.ts'
import type { PeriodicTasks, TaskHealth } from '../jobs/periodic-tasks.ts'
import { countQueues, type QueueCount } from '../jobs/pg-boss/queue-counts-table.ts'
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import { assertCitusUsable } from '../migrations/citus.ts'
import { whyUnavailable } from '../postgres/connection-errors.ts'
import type { NotificationConnection } from '../postgres/notifications.ts'
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../postgres/worker-pool.ts'
import type { Meter } from '../telemetry/instruments.ts'
import { within } from '../time.ts'
import { observeGauges } from './queue-gauges.ts'
import { HEALTH_TIMEOUT_MS, SharedCall } from './shared-call.ts'

/** The result of `svc.health`: the state of this process and of the queues in its database. */
export interface Health {
  /** Whether `database`, `listener` and `tasks` are ok, and the host has not begun to close. */
  ok: boolean
  database: {
    /**
     * Whether Postgres has answered a statement on the host's pool within two seconds, and takes
     * writes; on Citus also whether our tables are local ones of the coordinator.
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
  database: Pick<Database, 'db' | 'readers' | 'watch'>
  notifications: Pick<NotificationConnection, 'isListening'>
  workers: Pick<WorkerRegistry, 'queues' | 'inFlight'>
  tasks: Pick<PeriodicTasks, 'health' | 'failures'>
  meter: Meter | null
  pauses: Pick<Pauses, 'list'>
  /** The version of Citus; null without it. */
  citus: string | null
}

/** Gauges show counts that are not older, so that several readers of metrics cause one query. */
const COUNTS_SHARED_FOR_MS = 5000
/** The timer of a busy process fires late. */
const MARGIN_MS = 200

export class HealthCheck {
  #parts: Parts
  #ping: SharedCall<unknown>
  #counts: SharedCall<QueueCount[]>
  /** Ends the gauges, where a meter is registered. */
  #unobserve: (() => void) | undefined
  #isClosing = false

  constructor(parts: Parts) {
    this.#parts = parts
    const { database, workers, tasks, meter, citus } = parts
    const db = database.db.within(HEALTH_TIMEOUT_MS)
    this.#ping = new SharedCall(async () => {
      await assertWritable(db)
      database.watch.assertHasDisk()
      // A table of these packages may be distributed while this process runs.
      if (citus !== null) await assertCitusUsable(db, citus)
    }, HEALTH_TIMEOUT_MS)
    const limit = { begin: BEGIN_WITH_WORKER_PLANS, timeoutMs: HEALTH_TIMEOUT_MS }
    this.#counts = new SharedCall(
      () => database.readers.transaction((within) => countQueues(within, workers.queues()), limit),
      HEALTH_TIMEOUT_MS,
    )
    const measured = () => ({
      counts: () => this.#counts.recent(COUNTS_SHARED_FOR_MS),
      pauses: () => this.#paused(),
      inFlight: workers.inFlight(),
      failures: tasks.failures(),
    })
    this.#unobserve = meter === null ? undefined : observeGauges(meter, measured)
  }

  /** The host has begun to close. */
  closing(): void {
    this.#isClosing = true
  }

  /** Before the database is closed. */
  stop(): void {
    this.closing()
    this.#unobserve?.()
  }

  async check(): Promise<Health> {
    const deadline = performance.now() + HEALTH_TIMEOUT_MS - MARGIN_MS
    const [database, queues, paused] = await Promise.all([
      this.#checkDatabase(deadline),
      until(deadline, this.#counts.answer()),
      until(deadline, this.#paused()),
    ])
    const listener = { ok: this.#parts.notifications.isListening }
    const tasks = this.#parts.tasks.health()
    const ok = database.ok && listener.ok && tasks.ok && !this.#isClosing
    return { ok, database, listener, tasks, queues: queues ?? [], paused: paused ?? [] }
  }

  async #paused(): Promise<Paused[]> {
    return pausedOf(await this.#parts.pauses.list())
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

/** The queue of a subscription has its name after this, see events/subscription-worker.ts. */
const SUBSCRIPTION = '__svc.sub/'

export const pausedOf = (all: readonly Pause[]): Paused[] =>
  all.map(({ queue, tenant, reason, since }) => {
    const facts = { reason, since }
    if (tenant !== null) return { scope: 'tenant', tenant, ...facts }
    if (!queue.startsWith(SUBSCRIPTION)) return { scope: 'all', ...facts }
    return { scope: 'subscription', subscription: queue.slice(SUBSCRIPTION.length), ...facts }
  })

/** A standby answers, and so does a server that was set to read only: nothing can be published there. */
async function assertWritable(db: Db): Promise<void> {
  const { rows } = await db.query(
    `select current_setting('transaction_read_only') = 'on' as "reads"`,
  )
  if (rows[0].reads) throw Object.assign(new Error('the database only reads'), { code: '25006' })
}
