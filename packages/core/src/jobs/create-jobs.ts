/**
 * Creates the parts of this process that work on jobs: workers with their pumps, work on many jobs, and the
 * recovery of the jobs of dead processes.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database } from '../postgres/pools.ts'
import type { NotificationConnection } from '../postgres/notifications.ts'
import { DeadProcesses } from '../processes/dead-processes.ts'
import type { ProcessLease } from '../processes/process-lease.ts'
import type { AttemptTelemetry } from '../telemetry/attempt-telemetry.ts'
import type { Job } from './job.ts'
import { WorkRunner } from './recipients/work-runner.ts'
import type { PgBoss } from './pg-boss/boss.ts'
import { LostJobs } from './pg-boss/recover-lost-jobs.ts'
import { OutcomeBuffer } from './pump/outcome-buffer.ts'
import { Pauses } from './pauses.ts'
import { Pump } from './pump/pump.ts'
import { settleBatch } from './pump/settle.ts'
import { QueuePolls } from './pump/queue-polls.ts'
import type { RetrySettings } from './retry-settings.ts'
import { WorkerNotifications } from './worker-notifications.ts'
import { WorkerRegistry } from './worker-registry.ts'
import { failedAsLost, type Worker } from './worker.ts'

interface Parts {
  /** The option `worker.enabled`. */
  enabled: boolean
  boss: PgBoss
  database: Database
  retry: RetrySettings
  lease: Pick<ProcessLease, 'id'>
  notifications: NotificationConnection
  telemetry: AttemptTelemetry
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export interface Jobs {
  workers: WorkerRegistry
  work: WorkRunner
  lostJobs: LostJobs
  /**
   * Settles these jobs of a queue, whose process died. Returns whether all are settled: none where this process has
   * no worker for the queue.
   */
  settleLost: (queue: string, jobs: Job[]) => Promise<boolean>
  notifications: WorkerNotifications
  pauses: Pauses
}

export function createJobs(parts: Parts): Jobs {
  const { boss, database, retry, lease, telemetry, log } = parts
  const lostJobs = new LostJobs({
    boss,
    db: database.maintenance,
    ownId: lease.id,
    holds: (queue, jobId) => workers.holds(queue, jobId),
    dead: new DeadProcesses(lease.id, parts.notifications),
    settleLost,
    log,
  })
  const work = new WorkRunner(database, retry, log, (queue, recipient) =>
    workers.recovered(queue, [recipient]),
  )
  const notifications = new WorkerNotifications(parts.notifications)
  const pauses = new Pauses({ db: database.db, notifications: parts.notifications, log })
  const asAtBoot = AsyncLocalStorage.snapshot()
  const polls = new QueuePolls(database.workerPool.prepared)
  const createPump = (worker: Worker): Pump =>
    new Pump({
      worker,
      database,
      polls,
      log,
      owner: lease.id,
      isNotified: () => parts.notifications.session !== undefined,
      recipientsWritten: () => workers.recipientsWritten(worker.queue),
      settled: workers.notifyWatchers,
      fetchFailed: () => lostJobs.databaseFailed(),
      telemetry,
      asAtBoot,
      pauses,
    })
  const { enabled } = parts
  const workers: WorkerRegistry = new WorkerRegistry({ enabled, notifications, work, createPump })
  return { workers, work, lostJobs, settleLost, notifications, pauses }

  async function settleLost(queue: string, lost: Job[]): Promise<boolean> {
    const worker = workers.workerOf(queue)
    if (!worker) return false
    const outcomes = new OutcomeBuffer({
      mayWait: () => false,
      settle: (batch, lockMs, isRecorded) =>
        settleBatch(database.workerPool, isRecorded ? worker : { queue }, batch, lockMs, () => {}),
      settled: () => {},
      forget: () => {},
      log,
    })
    for (const job of lost) outcomes.add({ job, outcome: worker.lost?.(job) ?? failedAsLost(job) })
    await outcomes.close()
    workers.recovered(queue, null)
    return outcomes.size === 0
  }
}
