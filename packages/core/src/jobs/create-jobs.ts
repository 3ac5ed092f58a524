/**
 * Creates the parts of this process that work on jobs: workers with their pumps, moves, and the
 * recovery of the jobs of dead processes.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database } from '../postgres/pools.ts'
import type { NotificationConnection } from '../postgres/notifications.ts'
import { DeadProcesses } from '../processes/dead-processes.ts'
import type { ProcessLease } from '../processes/process-lease.ts'
import type { AttemptTelemetry } from '../telemetry/attempt-telemetry.ts'
import { JobMover } from './groups/job-mover.ts'
import type { PgBoss } from './pg-boss/boss.ts'
import { LostJobs } from './pg-boss/recover-lost-jobs.ts'
import { Pump } from './pump/pump.ts'
import { QueuePolls } from './pump/queue-polls.ts'
import type { RetrySettings } from './retry-settings.ts'
import { WorkerNotifications } from './worker-notifications.ts'
import { WorkerRegistry } from './worker-registry.ts'
import type { Worker } from './worker.ts'

interface Parts {
  /** The option `worker.enabled`. */
  enabled: boolean
  boss: PgBoss
  database: Database
  retry: RetrySettings
  lease: Pick<ProcessLease, 'id' | 'owner'>
  notifications: NotificationConnection
  telemetry: AttemptTelemetry
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export interface Jobs {
  workers: WorkerRegistry
  mover: JobMover
  lostJobs: LostJobs
  notifications: WorkerNotifications
}

export function createJobs(parts: Parts): Jobs {
  const { boss, database, retry, lease, telemetry, log } = parts
  const lostJobs = new LostJobs({
    boss,
    db: database.maintenance,
    dead: new DeadProcesses(lease.id, parts.notifications),
    recovered: (queues) => {
      for (const queue of queues) workers.recovered(queue, null)
    },
    log,
  })
  const mover = new JobMover(database, retry, log, (queue, group) =>
    workers.recovered(queue, [group]),
  )
  const notifications = new WorkerNotifications(parts.notifications)
  const asAtBoot = AsyncLocalStorage.snapshot()
  const polls = new QueuePolls(database.workerPool.prepared)
  const createPump = (worker: Worker): Pump =>
    new Pump({
      worker,
      boss,
      database,
      polls,
      log,
      owner: () => lease.owner,
      isNotified: () => parts.notifications.session !== undefined,
      groupsWritten: () => workers.groupsWritten(worker.queue),
      settled: workers.notifyWatchers,
      fetchFailed: () => lostJobs.databaseFailed(),
      telemetry,
      asAtBoot,
    })
  const { enabled } = parts
  const workers: WorkerRegistry = new WorkerRegistry({ enabled, notifications, mover, createPump })
  return { workers, mover, lostJobs, notifications }
}
