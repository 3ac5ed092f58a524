/**
 * Creates the parts of this process that work on jobs: workers with their pumps, work on many jobs, and the
 * recovery of the jobs of dead processes.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { LONG_STATEMENT_MS, type Database } from '../postgres/pools.ts'
import type { NotificationConnection } from '../postgres/notifications.ts'
import { DeadProcesses } from '../processes/dead-processes.ts'
import type { ProcessLease } from '../processes/process-lease.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Job } from './job.ts'
import { WorkRunner } from './recipients/work-runner.ts'
import type { PgBoss } from './pg-boss/boss.ts'
import { LostJobs } from './pg-boss/recover-lost-jobs.ts'
import { OutcomeBuffer } from './pump/outcome-buffer.ts'
import { Pauses } from './pauses.ts'
import { Pump } from './pump/pump.ts'
import { settleFor } from './pump/settle.ts'
import { QueuePolls } from './pump/queue-polls.ts'
import type { RetrySettings } from './retry-settings.ts'
import { WorkerNotifications } from './worker-notifications.ts'
import { WorkerRegistry } from './worker-registry.ts'
import { failedAsLost, type Worker } from './worker.ts'

interface Parts {
  boss: PgBoss
  database: Database
  retry: RetrySettings
  lease: Pick<ProcessLease, 'id'>
  notifications: NotificationConnection
  telemetry: Pick<Telemetry, 'attempts'>
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export type Jobs = ReturnType<typeof createJobs>

/** `enabled`: the option `worker.enabled`. */
export function createJobs(parts: Parts, enabled: boolean) {
  const { boss, database, retry, lease, telemetry, log } = parts
  const lostJobs = new LostJobs({
    boss,
    db: database.db.within(LONG_STATEMENT_MS),
    ownId: lease.id,
    holds: (queue, jobId) => workers.holds(queue, jobId),
    dead: new DeadProcesses(lease.id, parts.notifications),
    settleLost,
    log,
  })
  const work = new WorkRunner(database.db, retry, log, (queue, recipient) => {
    workers.wake(queue, [recipient])
    workers.wake(queue)
  })
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
      recipientsChanged: () => workers.recipientsChanged(worker.queue),
      settled: workers.notifyWatchers,
      fetchFailed: () => lostJobs.databaseFailed(),
      telemetry: telemetry.attempts,
      asAtBoot,
      pauses,
    })
  const workers: WorkerRegistry = new WorkerRegistry({
    owner: lease.id,
    enabled,
    notifications,
    work,
    createPump,
  })
  return { workers, work, lostJobs, settleLost, notifications, pauses }

  /**
   * Settles these jobs of a queue, whose process died. Returns whether all are settled: none where this process has
   * no worker for the queue.
   */
  async function settleLost(queue: string, lost: Job[]): Promise<boolean> {
    const worker = workers.workerOf(queue)
    if (!worker) return false
    const outcomes = new OutcomeBuffer({
      mayWait: () => false,
      settle: settleFor(worker, database.workerPool, () => {}),
      settled: () => {},
      forget: () => {},
      log,
    })
    for (const job of lost) outcomes.add({ job, outcome: worker.lost?.(job) ?? failedAsLost(job) })
    await outcomes.close()
    workers.wake(queue, null)
    return outcomes.size === 0
  }
}
