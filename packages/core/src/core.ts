/** The inner side of core: `fastify.svc`, and what the packages on top of it build with. */
import type { FastifyBaseLogger } from 'fastify'
import { makeActions } from './actions/actions.ts'
import { retentionTasks } from './retention-tasks.ts'
import { openDatabase, type Database, type Db } from './postgres/pools.ts'
import { EventBus } from './events/event-bus.ts'
import type { CoreServices, Svc } from './svc.ts'
import type { PublishOptions, PublishResult } from './events/event-api.ts'
import { InvalidOption } from './errors.ts'
import { ProcessLease } from './processes/process-lease.ts'
import { loggable } from './postgres/loggable-error.ts'
import { makeKeyValueStore, type Claim } from './kv/key-value-store.ts'
import { migrate, type MigrationBoot } from './migrations/migrate.ts'
import type { CoreSettings } from './options/core-options.ts'
import { JobMover } from './jobs/groups/job-mover.ts'
import { Pump } from './jobs/pump/pump.ts'
import { longestDays } from './processes/processes-table.ts'
import { isBossInstalled, retrySettingsOf, startBoss, type PgBoss } from './jobs/pg-boss/boss.ts'
import { JobQueues, type Queues } from './jobs/job-queues.ts'
import { explainingRights } from './migrations/missing-rights.ts'
import { makeSecrets, type Secrets } from './secrets.ts'
import { SignalLine, type Signals } from './postgres/notifications.ts'
import { setKeepDays, setTarget } from './events/subscriptions-table.ts'
import { Supervisor, SUPERVISE_SECONDS } from './jobs/pg-boss/supervisor.ts'
import { PeriodicTasks } from './jobs/periodic-tasks.ts'
import { inTurn } from './migrations/migration-lock.ts'
import type { Worker } from './jobs/worker.ts'
import { WorkerNotifications } from './jobs/worker-notifications.ts'
import { WorkerRegistry } from './jobs/worker-registry.ts'

/** A subscription with many targets: each gets a job of its own for each event that it wants. */
export interface FanOut {
  /**
   * Which events of the application fan out. An event that no living process declares for the
   * subscription ends when this host is up.
   */
  declare(subscription: string, queue: string, events: string[]): Promise<void>
  /** Which of them one target wants: `*` for all, none for none. */
  setTarget(db: Db, subscription: string, target: string, events: string[]): Promise<void>
}

export interface Core {
  svc: Svc
  /** `svc.database`, with statements that end: a silent server is a rejection after 15 seconds. */
  db: Db
  /** The same, with statements that end after so many milliseconds. */
  dbWithin(ms: number): Db
  settings: CoreSettings
  log: FastifyBaseLogger
  /** This process among those on the database. */
  lease: ProcessLease
  /** Runs what is left of a package's migrations; may wait long: see `bootOnCore`. */
  migrate(owner: string, folder: URL): Promise<void>
  /** What is published in it is delivered at once after its commit. */
  transaction<T>(run: (db: Db) => Promise<T>): Promise<T>
  /** Runs `run` in the caller's transaction where `db` is one, else in a transaction of its own. */
  within<T>(db: Db | undefined, run: (db: Db) => Promise<T>): Promise<T>
  /**
   * Runs `task` after the commit of a transaction of `transaction` or `within`. Where the caller began
   * the transaction itself this process does not learn of its commit, and `task` does not run.
   */
  afterCommit(db: Db, task: () => void): void
  signals: Signals
  queues: Queues
  fanOut: FanOut
  /** Runs a worker's pump from ready to close, where `worker.enabled` says so. */
  work<Data, Prepared, Detail>(worker: Worker<Data, Prepared, Detail>): void
  /** As `svc.events.publish`, with the payload as JSON text, kept byte for byte. */
  publishText(name: string, json: string, options?: PublishOptions): Promise<PublishResult>
  /** The same, once for each key: `null` where it is taken. The claim and the event stand or fall together. */
  publishOnce(name: string, json: string, claim: Claim): Promise<PublishResult | null>
  /** Something refers to events for so many days: they are kept as long. */
  keepEventsAtLeast(days: number): void
  /** Runs when all workers have come to rest, before the database is closed. */
  onDrained(task: () => Promise<void>): void
  /** Background work from ready to close; errors are logged. */
  every(seconds: number, name: string, task: () => Promise<void>): void
}

const MIGRATIONS = new URL('../sql/', import.meta.url)

export class RunningCore implements Core {
  readonly svc: Svc
  readonly db: Db
  readonly settings: CoreSettings
  readonly log: FastifyBaseLogger
  readonly signals: SignalLine
  readonly queues: JobQueues
  readonly lease: ProcessLease
  #boot: MigrationBoot
  #database: Database
  #bus: EventBus
  #periodicTasks: PeriodicTasks
  #mover: JobMover
  #supervisor: Supervisor
  #notifications: WorkerNotifications
  #workers: WorkerRegistry
  #fannedOut = new Set<string>()
  #drained: (() => Promise<void>)[] = []

  static async start(
    settings: CoreSettings,
    log: FastifyBaseLogger,
    signal: AbortSignal,
  ): Promise<RunningCore> {
    const secrets = makeSecrets(settings.secrets)
    const logError = (error: Error) =>
      log.warn({ err: loggable(error) }, 'a connection to Postgres was lost')
    const database = await openDatabase(await whichDatabase(settings, secrets), logError)
    try {
      const boot = { pool: database.pool, hot: database.hot, log, signal }
      return await explainingRights(database.db, async () => {
        await migrate(boot, '@svc/core', MIGRATIONS)
        const start = () =>
          startBoss(database.maintenance, {
            error: (error) => log.warn({ err: loggable(error) }, 'pg-boss reports an error'),
            warn: (warning) => log.warn({ warning }, 'pg-boss warns'),
          })
        // Its own lock comes too late for the schema: two that make it at once, and one fails.
        const installed = await isBossInstalled(database.db)
        const boss = installed ? await start() : await inTurn(boot, start)
        return new RunningCore(settings, boot, database, boss, secrets)
      })
    } catch (error) {
      await database.close()
      throw error
    }
  }

  private constructor(
    settings: CoreSettings,
    boot: MigrationBoot & { log: FastifyBaseLogger },
    database: Database,
    boss: PgBoss,
    secrets: Secrets,
  ) {
    const { log } = boot
    this.settings = settings
    this.log = log
    this.#boot = boot
    this.#database = database
    this.db = database.db
    this.lease = new ProcessLease(database.hot, log)
    this.lease.declareDays('eventRetentionDays', settings.eventRetentionDays)
    this.signals = new SignalLine(database.listener, !database.pooled, (error) =>
      log.debug({ err: loggable(error) }, 'the signal line was lost, polling goes on'),
    )
    const retry = retrySettingsOf(settings.worker)
    this.#supervisor = new Supervisor(boss)
    this.#mover = new JobMover(database, retry, log)
    this.#notifications = new WorkerNotifications(this.signals)
    this.#workers = new WorkerRegistry({
      enabled: settings.worker.enabled,
      notifications: this.#notifications,
      mover: this.#mover,
      createPump: (worker) => this.#createPump(worker),
    })
    this.queues = new JobQueues(boss, database, retry, this.#workers)
    this.#bus = new EventBus({
      boss,
      database,
      workers: this.#workers,
      retry,
      lease: this.lease,
      log,
    })
    const services: object = {
      transaction: (run, options) => this.#bus.hostTransaction(run, options),
      actions: makeActions(),
      events: this.#bus,
      kv: makeKeyValueStore(database.db),
      secrets,
      database: database.pool,
      jobs: boss,
    } satisfies CoreServices
    // The plugins that extend the interface add what is theirs when they are mounted.
    this.svc = services as Svc
    this.#periodicTasks = new PeriodicTasks(log)
    const tasks = retentionTasks(database.maintenance, settings.eventRetentionDays)
    for (const { seconds, name, run } of tasks) this.every(seconds, name, run)
    this.every(30, 'moves of jobs', () => this.#mover.run())
    this.every(SUPERVISE_SECONDS, 'jobs of processes that died', () => this.#supervisor.run())
  }

  dbWithin(ms: number): Db {
    return this.#database.dbWithin(ms)
  }

  migrate(owner: string, folder: URL): Promise<void> {
    return migrate(this.#boot, owner, folder)
  }

  transaction<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return this.#bus.transaction(run)
  }

  within<T>(db: Db | undefined, run: (db: Db) => Promise<T>): Promise<T> {
    return db ? run(db) : this.transaction(run)
  }

  afterCommit(db: Db, task: () => void): void {
    this.#bus.afterCommit(db, task)
  }

  fanOut: FanOut = {
    declare: async (subscription, queue, events) => {
      this.#fannedOut.add(subscription)
      const wanted = { subscription, queue, events, idempotent: true, targeted: true }
      await this.lease.declareEvents(wanted)
    },
    setTarget,
  }

  publishText(name: string, json: string, options?: PublishOptions): Promise<PublishResult> {
    return this.#bus.publishText(name, json, options)
  }

  publishOnce(name: string, json: string, claim: Claim): Promise<PublishResult | null> {
    return this.#bus.publishOnce(name, json, claim)
  }

  keepEventsAtLeast(days: number): void {
    this.lease.declareDays('eventRetentionDays', days)
  }

  onDrained(task: () => Promise<void>): void {
    this.#drained.push(task)
  }

  every(seconds: number, name: string, task: () => Promise<void>): void {
    if (this.settings.worker.enabled) this.#periodicTasks.add({ seconds, name, run: task })
  }

  work<Data, Prepared, Detail>(worker: Worker<Data, Prepared, Detail>): void {
    this.#workers.add(worker)
  }

  async ready(): Promise<void> {
    await explainingRights(this.db, async () => {
      await this.#bus.ready()
      // Not before this host is up: one that fails to boot must not take from those that run.
      await this.lease.ready()
      const keepDays = await longestDays(this.db, 'eventRetentionDays')
      await setKeepDays(this.db, [...this.#fannedOut], keepDays)
    })
    this.#workers.start()
    this.#periodicTasks.start()
  }

  /** What works ends first, then what it works with; a step that fails keeps no other from its turn. */
  async close(): Promise<void> {
    const steps = [
      () => this.#periodicTasks.stop(),
      () => this.#workers.stop(),
      ...this.#drained,
      () => this.#mover.close(),
      () => this.#bus.close(),
      () => this.#notifications.close(),
      () => this.lease.close(),
      () => this.svc.jobs.stop({ graceful: true, timeout: 10_000 }),
      () => this.signals.close(),
      () => this.#database.close(),
    ]
    for (const step of steps) {
      try {
        await step()
      } catch (error) {
        this.log.error({ err: loggable(error) }, 'something could not be closed')
      }
    }
  }

  #createPump(worker: Worker): Pump {
    return new Pump({
      worker,
      boss: this.svc.jobs,
      database: this.#database,
      log: this.log,
      groupsChanged: () => this.#workers.groupsChanged(worker.queue),
      fetchFailed: () => this.#supervisor.databaseFailed(),
    })
  }
}

async function whichDatabase({ database }: CoreSettings, secrets: Secrets) {
  const known = database ?? (await secrets.get('DATABASE_URL'))
  if (known) return known
  throw new InvalidOption(
    'svcCore: there is no database: give the option "database", or set the secret DATABASE_URL',
  )
}
