/** Builds `svc.health`, and the gauges of the queues where a meter is registered. */
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import type { NotificationConnection } from '../postgres/notifications.ts'
import type { Database } from '../postgres/pools.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { HealthCheck } from './health.ts'
import { countQueues } from './queue-counts-table.ts'
import { QueueCounts } from './queue-counts.ts'
import { observeQueues } from './queue-gauges.ts'
import { HEALTH_TIMEOUT_MS } from './shared-call.ts'

export function createHealth(
  database: Pick<Database, 'dbWithin' | 'background'>,
  notifications: Pick<NotificationConnection, 'isListening'>,
  workers: Pick<WorkerRegistry, 'queues' | 'inFlight'>,
  telemetry: Pick<Telemetry, 'meter'>,
): HealthCheck {
  const db = database.dbWithin(HEALTH_TIMEOUT_MS)
  const limit = { timeoutMs: HEALTH_TIMEOUT_MS }
  const counts = new QueueCounts(() =>
    database.background((within) => countQueues(within, workers.queues()), limit),
  )
  const { meter } = telemetry
  return new HealthCheck({
    ping: () => db.query('select 1'),
    isListening: () => notifications.isListening,
    counts,
    unobserve: meter && observeQueues(meter, counts, () => workers.inFlight()),
  })
}
