/** Core while it runs: `fastify.svc`, and what the packages on top of core build with. */
import type { FastifyBaseLogger } from 'fastify'
import { applicationName, warnOfOthers } from './application.ts'
import type { AuditOrigin } from './audit/audit-origin.ts'
import type { Core, FanOut } from './core-interface.ts'
import { createServices } from './create-services.ts'
import { retentionTasks } from './retention-tasks.ts'
import { openCore, type OpenCore } from './open-core.ts'
import type { Database } from './postgres/pools.ts'
import type { Db, TimeLimit } from './postgres/transaction.ts'
import type { Cipher } from './encryption/key-ring.ts'
import { Reencryption } from './encryption/reencryption.ts'
import type { Catalogue } from './events/catalogue.ts'
import { Feed } from './events/feed.ts'
import { Publisher } from './events/publish.ts'
import type { Pauses } from './jobs/pauses.ts'
import { createSubscriptionPauses } from './subscription-pauses.ts'
import { Subscriptions } from './events/subscriptions.ts'
import { CallGate } from './http/call-gate.ts'
import { createErrorText, type ErrorText } from './http/error-body.ts'
import type { Svc } from './svc.ts'
import { ProcessLease } from './processes/process-lease.ts'
import { loggable } from './postgres/loggable-error.ts'
import { migrate, type MigrationBoot } from './migrations/migrate.ts'
import { sharedOptions, type CoreSettings } from './core-options.ts'
import { longestDays } from './processes/processes-table.ts'
import { retrySettingsOf } from './jobs/retry-settings.ts'
import { createJobs, type Jobs } from './jobs/create-jobs.ts'
import { JobQueues } from './jobs/job-queues.ts'
import { createHealth } from './health/create-health.ts'
import type { HealthCheck } from './health/health.ts'
import { createLiveness, type Liveness } from './health/liveness.ts'
import { explainingRights } from './migrations/missing-rights.ts'
import { NotificationConnection } from './postgres/notifications.ts'
import { setRetentionDays, setRecipient } from './events/subscriptions-table.ts'
import { LOCK_SECONDS } from './processes/process-lock.ts'
import { describeDue, isBusy } from './jobs/pg-boss/due-jobs.ts'
import { DEATH_WATCH_SECONDS, RECOVERY_SECONDS } from './jobs/pg-boss/recover-lost-jobs.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { PeriodicTasks, type PeriodicTask } from './jobs/periodic-tasks.ts'
import { TenantErasure, type ErasedRows, type TenantPart } from './tenant-erasure.ts'
import type { Worker } from './jobs/worker.ts'
import type { HostUnderTest } from './host-under-test.ts'
import { coreShift, type TimeShift } from './time-shifts.ts'
import type { WorkerRegistry } from './jobs/worker-registry.ts'

export class RunningCore implements Core {
  readonly svc: Svc
  readonly db: Db
  readonly requestDb: Db
  readonly readDb: Db
  readonly calls = new CallGate()
  readonly settings: CoreSettings
  readonly log: FastifyBaseLogger
  readonly notifications: NotificationConnection
  readonly queues: JobQueues
  readonly lease: ProcessLease
  readonly telemetry: Telemetry
  readonly health: HealthCheck
  readonly catalogue: Catalogue
  readonly cipher: Cipher
  readonly reencryption: Reencryption
  readonly subscriptions: Subscriptions
  readonly bus: Publisher
  readonly feed: Feed
  readonly handlers: Core['handlers']
  readonly pauses: Pauses
  readonly errorText: ErrorText | null
  readonly underTest: HostUnderTest
  readonly startedAt: Date
  #boot: MigrationBoot
  #database: Database
  #liveness: Liveness
  #periodicTasks: PeriodicTasks
  #jobs: Jobs
  #workers: WorkerRegistry
  #fannedOut = new Set<string>()
  #packages = new Set(['@svc/core'])
  #erasure: TenantErasure
  #drained: (() => Promise<void>)[] = []
  #timeShifts = [coreShift]

  static async start(
    settings: CoreSettings,
    log: FastifyBaseLogger,
    signal: AbortSignal,
  ): Promise<RunningCore> {
    return new RunningCore(settings, await openCore(settings, log, signal))
  }

  private constructor(settings: CoreSettings, open: OpenCore) {
    const { boot, log, database, boss, secrets, catalogue, cipher, telemetry } = open
    this.telemetry = telemetry
    this.catalogue = catalogue
    this.cipher = cipher
    this.reencryption = new Reencryption(cipher)
    this.settings = settings
    this.log = log
    this.errorText = settings.errorBody && createErrorText(settings.errorBody, log)
    this.#boot = boot
    this.startedAt = open.startedAt
    this.#database = database
    this.db = database.db
    this.notifications = new NotificationConnection(
      database.listener,
      !database.pooled,
      (error) =>
        log.debug({ err: loggable(error) }, 'LISTEN connection lost, falling back to polling'),
      database,
    )
    this.#liveness = createLiveness(database, this.notifications)
    this.requestDb = this.#liveness.bounded(database.db)
    this.readDb = this.#liveness.bounded(database.readers)
    this.lease = new ProcessLease(database.workerPool, this.notifications, log)
    if (settings.worker.enabled) this.lease.works()
    this.lease.declareOptions('svcCore', sharedOptions(settings))
    this.lease.declareDays('eventRetentionDays', settings.eventRetentionDays)
    this.lease.declareDays('auditRetentionDays', settings.auditRetentionDays)
    const retry = retrySettingsOf(settings.worker)
    const { lease, notifications } = this
    this.#jobs = createJobs({
      enabled: settings.worker.enabled,
      boss,
      database,
      retry,
      lease,
      notifications,
      telemetry: telemetry.attempts,
      log,
    })
    const { workers, lostJobs, settleLost, work, pauses } = this.#jobs
    this.pauses = pauses
    this.#workers = workers
    this.queues = new JobQueues(boss, database, retry, workers, boot.isCheck === true)
    const { requestDb, readDb } = this
    this.subscriptions = new Subscriptions({
      boss,
      database,
      workers,
      retry,
      lease,
      isCheck: boot.isCheck === true,
      requestDb,
      readDb,
      log,
    })
    const { subscriptions } = this
    const { deadLetters } = subscriptions
    const isSubscription = (name: string) => deadLetters.isSubscription(name)
    const pausing = createSubscriptionPauses({
      within: (db, run) => this.within(db, run),
      afterCommit: (db, task) => this.afterCommit(db, task),
      pauses,
      isSubscription,
    })
    this.handlers = { ...deadLetters, ...pausing }
    const { transactionIdleSeconds } = settings
    this.bus = new Publisher({
      database,
      workers,
      retry,
      transactionIdleSeconds,
      lease,
      catalogue,
      telemetry,
      subscriptions,
      log,
    })
    const { pooled } = database
    this.feed = new Feed({ db: readDb, requestDb, notifications, lease, pooled, log })
    this.#periodicTasks = new PeriodicTasks(log)
    this.lease.failingTasks = () => this.#periodicTasks.health().failing
    this.health = createHealth(
      database,
      notifications,
      workers,
      this.#periodicTasks,
      telemetry,
      pauses,
      boot.citus,
    )
    const maintenance = this.#liveness.bounded(database.maintenance)
    this.#erasure = new TenantErasure(maintenance, this.#packages, log)
    this.svc = createServices(this, { database, secrets, boss, erasure: this.#erasure })
    this.underTest = {
      isBusy: () => isBusy(database.db),
      describeDue: () => describeDue(database.db, settings.worker.enabled),
      timeShifts: this.#timeShifts,
      advancedSeconds: 0,
      published: () => this.bus.idle(),
      wakeAll: () => workers.wakeAll(),
      runTasks: () => this.#periodicTasks.runAll(),
      settleLost,
      transaction: (run) => this.transaction(run),
    }
    const tasks = retentionTasks(database.maintenance, settings)
    for (const { seconds, name, run } of tasks) this.every(seconds, name, run)
    this.every(30, 'work on many jobs', () => work.run())
    this.every(RECOVERY_SECONDS, 'jobs that no process works on', () => lostJobs.recover())
    if (!database.pooled) {
      this.every(LOCK_SECONDS, 'the lock of this process', () => lease.keepLock())
      this.every(DEATH_WATCH_SECONDS, 'jobs of processes that died', () =>
        lostJobs.recoverFromDead(),
      )
    }
  }

  forOurs = (db: Db): Db => this.bus.transactions.forOurs(db)

  dbWithin(ms: number): Db {
    return this.#database.dbWithin(ms)
  }

  migrate(owner: string, folder: URL): Promise<void> {
    this.#packages.add(owner)
    return migrate(this.#boot, owner, folder)
  }

  async transaction<T>(run: (db: Db) => Promise<T>, limit?: TimeLimit): Promise<T> {
    const result = await this.bus.transactions.run(run, limit)
    this.#workers.notifyWatchers()
    return result
  }

  within<T>(db: Db | undefined, run: (db: Db) => Promise<T>, limit?: TimeLimit): Promise<T> {
    return db ? run(db) : this.#liveness.transaction((work) => this.transaction(work, limit), run)
  }

  afterCommit(db: Db, task: () => void): boolean {
    return this.bus.transactions.afterCommit(db, task)
  }

  fanOut: FanOut = {
    declare: async (subscription, queue, events) => {
      this.#fannedOut.add(subscription)
      const fannedOut = { subscription, queue, events, idempotent: true, fansOut: true }
      await this.lease.declareEvents(fannedOut)
    },
    setRecipient,
  }

  onEraseTenant(part: TenantPart): void {
    this.#erasure.add(part)
  }

  eraseTenant(tenant: string, by: AuditOrigin): Promise<ErasedRows> {
    return this.#erasure.run(tenant, by)
  }

  retainEventsAtLeast(days: number): void {
    this.lease.declareDays('eventRetentionDays', days)
  }

  onDrained(task: () => Promise<void>): void {
    this.#drained.push(task)
  }

  onAdvance(shift: TimeShift): void {
    this.#timeShifts.push(shift)
  }

  every(
    seconds: number,
    name: string,
    task: PeriodicTask['run'],
    { everywhere = false } = {},
  ): void {
    if (everywhere || this.settings.worker.enabled)
      this.#periodicTasks.add({ seconds, name, run: task })
  }

  work<Data, Prepared, Detail>(worker: Worker<Data, Prepared, Detail>): void {
    this.#workers.add(worker)
  }

  async ready(): Promise<void> {
    await explainingRights(this.db, async () => {
      await this.subscriptions.ready()
      // Only now: a host that fails to boot must change nothing for those that run.
      await this.lease.ready({ holdsLock: this.settings.worker.enabled && !this.#database.pooled })
      const keepDays = await longestDays(this.db, 'eventRetentionDays')
      await setRetentionDays(this.db, [...this.#fannedOut], keepDays)
      const { application = await applicationName() } = this.settings
      if (application) await warnOfOthers(this.db, application, this.log)
    })
    // Without workers no attempt begins here, and nothing has to be listened to.
    if (this.settings.worker.enabled) {
      await this.pauses.start((queue) => this.#workers.resumed(queue))
    }
    this.#workers.start()
    this.#periodicTasks.start()
    // A process that ended may have left some.
    if (this.settings.worker.enabled) void this.#jobs.work.run()
  }

  /** Workers stop before what they use. */
  async close(): Promise<void> {
    const steps: ShutdownStep[] = [
      ['health', () => this.health.stop()],
      // A periodic task waits for them, and they may have hours to go.
      ['work on many jobs', () => this.#jobs.work.close()],
      ['periodic tasks', () => this.#periodicTasks.stop()],
      // Workers stop only when they have the jobs that publishes have claimed for them.
      ['claims at publish', () => this.#workers.stopClaiming()],
      ['publishes under way', () => this.bus.idle()],
      ['workers', () => this.#workers.stop()],
      ...this.#drained.map((task): ShutdownStep => ['tasks after the workers', task]),
      ['publishes', () => this.bus.close()],
      ['last notifications', () => this.#jobs.notifications.close()],
      ['lease', () => this.lease.close()],
      ['pg-boss', () => this.svc.jobs.stop({ graceful: true, timeout: 10_000 })],
      ['notifications', () => this.notifications.close()],
      ['pools', () => this.#database.close()],
    ]
    await shutDown(steps, this.log)
  }
}

type ShutdownStep = [name: string, run: () => unknown]

/** A step that fails is logged, and the next ones still run. */
async function shutDown(
  steps: readonly ShutdownStep[],
  log: { error(details: object, message: string): void },
): Promise<void> {
  for (const [step, run] of steps) {
    try {
      await run()
    } catch (error) {
      log.error({ err: loggable(error), step }, 'shutdown step failed')
    }
  }
}
