/** Builds `svc.health`, and the gauges of the queues where a meter is registered. */
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import type { NotificationConnection } from '../postgres/notifications.ts'
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import type { PeriodicTasks } from '../jobs/periodic-tasks.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../postgres/worker-pool.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { HealthCheck, type Paused } from './health.ts'
import type { Pauses } from '../jobs/pauses.ts'
import type { Pause } from '../jobs/pauses-table.ts'
import { countQueues } from '../jobs/pg-boss/queue-counts-table.ts'
import { QueueCounts } from './queue-counts.ts'
import { observePauses, observeQueues, observeTasks } from './queue-gauges.ts'
import { HEALTH_TIMEOUT_MS } from './shared-call.ts'

export function createHealth(
  database: Pick<Database, 'dbWithin' | 'readers' | 'watch'>,
  notifications: Pick<NotificationConnection, 'isListening'>,
  workers: Pick<WorkerRegistry, 'queues' | 'inFlight'>,
  tasks: Pick<PeriodicTasks, 'health' | 'failures'>,
  telemetry: Pick<Telemetry, 'meter'>,
  pauses: Pick<Pauses, 'list'>,
  citus: string | null,
): HealthCheck {
  const db = database.dbWithin(HEALTH_TIMEOUT_MS)
  const limit = { begin: BEGIN_WITH_WORKER_PLANS, timeoutMs: HEALTH_TIMEOUT_MS }
  const counts = new QueueCounts(() =>
    database.readers.transaction((within) => countQueues(within, workers.queues()), limit),
  )
  const { meter } = telemetry
  const gauges = meter && [
    observeQueues(meter, counts, () => workers.inFlight()),
    observeTasks(meter, () => tasks.failures()),
    observePauses(meter, async () => pausedOf(await pauses.list())),
  ]
  return new HealthCheck({
    ping: async () => {
      await assertWritable(db)
      database.watch.assertHasDisk()
    },
    citus,
    isListening: () => notifications.isListening,
    tasks: () => tasks.health(),
    counts,
    pauses: async () => pausedOf(await pauses.list()),
    unobserve: gauges && (() => gauges.forEach((end) => end())),
  })
}

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
