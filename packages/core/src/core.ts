/** Core while it runs: `fastify.svc`, and what the packages on top of core build with. */
import type { FastifyBaseLogger } from 'fastify'
import { applicationName, warnOfOthers } from './application.ts'
import type { AuditOrigin } from './audit/audit-origin.ts'
import { createServices } from './create-services.ts'
import { retentionTasks } from './retention-tasks.ts'
import { openCore, type OpenCore } from './open-core.ts'
import { LONG_STATEMENT_MS, type Database } from './postgres/pools.ts'
import type { Db, TimeLimit } from './postgres/transaction.ts'
import { Reencryption, type Cipher } from './encryption/key-ring.ts'
import type { Catalogue } from './events/catalogue.ts'
import { Feed } from './events/feed.ts'
import { Publisher } from './events/publish.ts'
import type { Pauses } from './jobs/pauses.ts'
import { createSubscriptionPauses, type SubscriptionPauses } from './subscription-pauses.ts'
import type { DeadLetterOperations } from './events/subscription-dead-letters.ts'
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
import { Queues } from './jobs/queues.ts'
import { HealthCheck } from './health/health.ts'
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
import { coreShift, type HostUnderTest, type TimeShift } from './host-under-test.ts'
import type { WorkerRegistry } from './jobs/worker-registry.ts'

/** What the packages on top of core build with. */
export type Core = Omit<RunningCore, 'health' | 'subscriptions' | 'startedAt' | 'ready' | 'close'>

export class RunningCore {
  readonly svc: Svc
  /** `svc.database` with a time limit on each statement: 15 seconds, or that of `within`. */
  readonly db: Db & Pick<Database['db'], 'within'>
  /**
   * `svc.database` for what a request waits for: a statement rejects with Unavailable when Postgres has
   * answered nothing for two seconds.
   */
  readonly requestDb: Db
  /**
   * For reads that a request waits for, on connections of their own: as `requestDb`, with five seconds for a
   * statement, and each tenant in its turn.
   */
  readonly readDb: Db
  /**
   * For long statements that run about once a second, on the connections of workers: each connection plans one
   * once, and its commit does not wait for the disk.
   */
  readonly preparedDb: Db
  readonly calls = new CallGate()
  readonly settings: CoreSettings
  readonly log: FastifyBaseLogger
  readonly notifications: NotificationConnection
  readonly queues: Queues
  readonly lease: ProcessLease
  readonly telemetry: Telemetry
  readonly health: HealthCheck
  readonly catalogue: Catalogue
  /** Seals what is stored, where the host has the option `encryption`. */
  readonly cipher: Cipher
  readonly reencryption: Reencryption
  readonly subscriptions: Subscriptions
  /** Publishes events of ours, and payloads that are JSON text already. */
  readonly bus: Publisher
  readonly feed: Feed
  /** The dead letters of the host's own handlers, and their pauses. */
  readonly handlers: DeadLetterOperations & SubscriptionPauses
  /** Which queues are stopped. */
  readonly pauses: Pauses
  /** Writes the bodies of our error answers, where the host has the option `errorBody`. */
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
    const { boot, log, database, catalogue, cipher, telemetry } = open
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
      { names: database.pool.names, watch: database.watch },
    )
    this.#liveness = createLiveness(database, this.notifications)
    this.requestDb = this.#liveness.bounded(database.db)
    this.readDb = this.#liveness.bounded(database.readers)
    this.preparedDb = database.workerPool.prepared
    this.lease = new ProcessLease(database.workerPool, this.notifications, log)
    if (settings.worker.enabled) this.lease.works()
    this.lease.declareOptions('svcCore', sharedOptions(settings))
    this.lease.declareDays('eventRetentionDays', settings.eventRetentionDays)
    this.lease.declareDays('auditRetentionDays', settings.auditRetentionDays)
    const { lease, notifications, requestDb, readDb } = this
    const retry = retrySettingsOf(settings.worker)
    const common = { ...open, retry, lease, notifications, requestDb, readDb }
    this.#jobs = createJobs(common, settings.worker.enabled)
    const { workers, lostJobs, settleLost, work, pauses } = this.#jobs
    this.pauses = pauses
    this.#workers = workers
    this.queues = new Queues({ ...common, workers })
    this.subscriptions = new Subscriptions({ ...common, workers })
    const { subscriptions } = this
    this.handlers = { ...subscriptions.deadLetters, ...createSubscriptionPauses(this) }
    const { transactionIdleSeconds } = settings
    this.bus = new Publisher({ ...common, workers, subscriptions, transactionIdleSeconds })
    this.feed = new Feed(common)
    this.#periodicTasks = new PeriodicTasks(log)
    this.lease.failingTasks = () => this.#periodicTasks.health().failing
    const { meter } = telemetry
    const tasks = this.#periodicTasks
    const { citus } = boot
    this.health = new HealthCheck({ database, notifications, workers, tasks, meter, pauses, citus })
    const longDb = database.db.within(LONG_STATEMENT_MS)
    this.#erasure = new TenantErasure(this.#liveness.bounded(longDb), this.#packages, log)
    this.svc = createServices(this, open)
    this.underTest = {
      isBusy: () => isBusy(database.db),
      describeDue: () => describeDue(database.db, settings.worker.enabled),
      timeShifts: this.#timeShifts,
      advancedSeconds: 0,
      published: () => this.bus.idle(),
      wakeAll: () => workers.queues().forEach((queue) => workers.wakeHere(queue, null)),
      runTasks: () => this.#periodicTasks.runAll(),
      settleLost,
      transaction: (run) => this.transaction(run),
    }
    for (const { seconds, name, run } of retentionTasks(longDb, settings)) {
      this.every(seconds, name, run)
    }
    this.every(30, 'work on many jobs', () => work.run())
    this.every(RECOVERY_SECONDS, 'jobs that no process works on', () => lostJobs.recover())
    if (!database.pooled) {
      this.every(LOCK_SECONDS, 'the lock of this process', () => lease.keepLock())
      this.every(DEATH_WATCH_SECONDS, 'jobs of processes that died', () =>
        lostJobs.recoverFromDead(),
      )
    }
  }

  /** The transaction `db` of a caller for our statements, whose schema may have another name. */
  forOurs = (db: Db): Db => this.bus.transactions.forOurs(db)

  /** Runs what is left of a package's migrations; may wait long: see `bootOnCore`. */
  migrate(owner: string, folder: URL): Promise<void> {
    this.#packages.add(owner)
    return migrate(this.#boot, owner, folder)
  }

  /** What is published in it is delivered at once after its commit. */
  async transaction<T>(run: (db: Db) => Promise<T>, limit?: TimeLimit): Promise<T> {
    const result = await this.bus.transactions.run(run, limit)
    this.#workers.notifyWatchers()
    return result
  }

  /**
   * Runs `run` in the caller's transaction where `db` is one, else in a transaction of its own,
   * which waits for Postgres as long as `requestDb`. If that one is ended in a deadlock, `run` runs
   * again in another one.
   */
  within<T>(db: Db | undefined, run: (db: Db) => Promise<T>, limit?: TimeLimit): Promise<T> {
    return db ? run(db) : this.#liveness.transaction((work) => this.transaction(work, limit), run)
  }

  /**
   * Runs `task` after the commit of a transaction of `transaction` or `within`. Where the caller
   * began the transaction itself this process does not see its commit, and `task` does not run.
   * Returns whether it will.
   */
  afterCommit(db: Db, task: () => void): boolean {
    return this.bus.transactions.afterCommit(db, task)
  }

  /** A subscription with many recipients: each gets a job of its own for each event that it wants. */
  fanOut = {
    /**
     * Which events of the application fan out. An event that no living process declares for the
     * subscription ends when this host is up.
     */
    declare: async (subscription: string, queue: string, events: string[]): Promise<void> => {
      this.#fannedOut.add(subscription)
      const fannedOut = { subscription, queue, events, idempotent: true, fansOut: true }
      await this.lease.declareEvents(fannedOut)
    },
    /** Which of them one recipient wants, from the commit on. */
    setRecipient,
  }

  /** What a package keeps of tenants is deleted with them. */
  onEraseTenant(part: TenantPart): void {
    this.#erasure.add(part)
  }

  /** Does the same as `svc.eraseTenant`, on behalf of `by`. */
  eraseTenant(tenant: string, by: AuditOrigin): Promise<ErasedRows> {
    return this.#erasure.run(tenant, by)
  }

  /** Keeps events for at least `days`, because rows refer to them for that long. */
  retainEventsAtLeast(days: number): void {
    this.lease.declareDays('eventRetentionDays', days)
  }

  /** Runs when all workers have stopped, before the database is closed. */
  onDrained(task: () => Promise<void>): void {
    this.#drained.push(task)
  }

  /** What `advance` of the testing kit does to what a package keeps. */
  onAdvance(shift: TimeShift): void {
    this.#timeShifts.push(shift)
  }

  /**
   * Background work from ready to close; errors are logged, and show in `svc.health`. The task may resolve
   * with the milliseconds until its next run, and works in portions until `stopping` aborts. `everywhere`: also
   * in a process with `worker.enabled: false`.
   */
  every(
    seconds: number,
    name: string,
    task: PeriodicTask['run'],
    { everywhere = false } = {},
  ): void {
    if (everywhere || this.settings.worker.enabled)
      this.#periodicTasks.add({ seconds, name, run: task })
  }

  /** Runs a worker's pump from ready to close, unless `worker.enabled` is `false`. */
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
      await this.pauses.start((queue) => this.#workers.wakeHere(queue, null))
    }
    this.#workers.start()
    this.#periodicTasks.start()
    // A process that ended may have left some.
    if (this.settings.worker.enabled) void this.#jobs.work.run()
  }

  /** Workers stop before what they use. */
  async close(): Promise<void> {
    // They may have hours to go, and are told to end at their next statement. Attempts end meanwhile.
    const sweeps = [this.#jobs.work.close(), this.#periodicTasks.stop()]
    const steps: ShutdownStep[] = [
      ['health', () => this.health.stop()],
      // Workers stop only when they have the jobs that publishes have claimed for them.
      ['claims at publish', () => this.#workers.stopClaiming()],
      ['publishes under way', () => this.bus.idle()],
      ['workers', () => this.#workers.stop()],
      ['sweeps', () => Promise.all(sweeps)],
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
