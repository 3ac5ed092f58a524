/** The inner side of core: `fastify.svc`, and what the packages on top of it build with. */
import type { FastifyBaseLogger } from 'fastify'
import { makeActions, type Actions } from './actions.ts'
import { openDatabase, type Database, type Db } from './database.ts'
import { sweepDeadLettersOf } from './dead-letters.ts'
import { EventBus } from './event-bus.ts'
import { sweepEvents } from './event-log.ts'
import type { Events, PublishOptions, PublishResult } from './events.ts'
import { InvalidOption } from './errors.ts'
import { makeKeyValueStore, sweepExpired, type Claim, type KeyValueStore } from './kv.ts'
import { inTurn, migrate } from './migrate.ts'
import type { CoreSettings } from './options.ts'
import { JobMover } from './job-mover.ts'
import { Pump } from './pump.ts'
import { retrySettingsOf, startBoss, type PgBoss } from './queue.ts'
import { BoundQueues, GROUPS_CHANNEL, WAKE_CHANNEL, type Queues } from './queues.ts'
import { makeSecrets, type Secrets } from './secrets.ts'
import { SignalLine, type Signals } from './signals.ts'
import { sweepRetired } from './job-table.ts'
import { SUBSCRIPTION_QUEUES } from './subscriber.ts'
import { addSubscription, dropOtherEvents, setKeepDays, setTarget } from './subscriptions.ts'
import { Supervisor, SUPERVISE_SECONDS } from './supervisor.ts'
import { Sweeps } from './sweeps.ts'
import type { Worker } from './worker.ts'

/** What `fastify.svc` offers. */
export interface Svc {
  actions: Actions
  events: Events
  kv: KeyValueStore
  secrets: Secrets
  /** The pool of the host, or the one that was made for it. */
  database: Database['pool']
  /** The started pg-boss, in the schema `svc_jobs`. */
  jobs: PgBoss
}

/** A subscription with many targets: each gets a job of its own for each event that it wants. */
export interface FanOut {
  /**
   * Which events of the application fan out. What the subscription declared before and does not now
   * is dropped when this host is up.
   */
  declare(subscription: string, queue: string, events: string[]): Promise<void>
  /** Which of them one target wants: `*` for all, none for none. */
  setTarget(db: Db, subscription: string, target: string, events: string[]): Promise<void>
}

export interface Core {
  svc: Svc
  /** `svc.database`, with statements that end: a silent server is a rejection after 15 seconds. */
  db: Db
  settings: CoreSettings
  log: FastifyBaseLogger
  migrate(owner: string, folder: URL): Promise<void>
  /** What is published in it is delivered at once after its commit. */
  transaction<T>(run: (db: Db) => Promise<T>): Promise<T>
  signals: Signals
  queues: Queues
  fanOut: FanOut
  /** Runs a worker's pump from ready to close, where `worker.enabled` says so. */
  work<Prepared, Note>(worker: Worker<Prepared, Note>): void
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
const SUBSCRIPTION_DEAD_LETTER_DAYS = 90

export class RunningCore implements Core {
  readonly svc: Svc
  readonly db: Db
  readonly settings: CoreSettings
  readonly log: FastifyBaseLogger
  readonly signals: SignalLine
  readonly queues: BoundQueues
  #database: Database
  #bus: EventBus
  #sweeps: Sweeps
  #mover: JobMover
  #supervisor: Supervisor
  #pumps = new Map<string, Pump>()
  #eventDays: number
  /** The events of each subscription that fans out. */
  #fannedOut = new Map<string, string[]>()
  #drained: (() => Promise<void>)[] = []
  #ready = false
  #hears = false

  static async start(settings: CoreSettings, log: FastifyBaseLogger): Promise<RunningCore> {
    const secrets = makeSecrets(settings.secrets)
    const logError = (error: Error) => log.warn({ err: error }, 'a connection to Postgres was lost')
    const database = await openDatabase(await whichDatabase(settings, secrets), logError)
    try {
      await migrate(database.pool, '@svc/core', MIGRATIONS)
      // Its own lock comes too late for the schema: two that make it at once, and one fails.
      const boss = await inTurn(database.hot, () =>
        startBoss(database.maintenance, {
          error: (error) => log.warn({ err: error }, 'pg-boss reports an error'),
          warn: (warning) => log.warn({ warning }, 'pg-boss warns'),
        }),
      )
      return new RunningCore(settings, log, database, boss, secrets)
    } catch (error) {
      await database.close()
      throw error
    }
  }

  private constructor(
    settings: CoreSettings,
    log: FastifyBaseLogger,
    database: Database,
    boss: PgBoss,
    secrets: Secrets,
  ) {
    this.settings = settings
    this.log = log
    this.#database = database
    this.db = database.db
    this.#eventDays = settings.eventRetentionDays
    this.signals = new SignalLine(database.listener, !database.pooled, (error) =>
      log.debug({ err: error }, 'the signal line was lost, polling goes on'),
    )
    const retry = retrySettingsOf(settings.worker)
    this.#supervisor = new Supervisor(boss)
    this.#mover = new JobMover(database, retry, log)
    this.queues = new BoundQueues(boss, database, retry, this.signals, this.#mover)
    this.#bus = new EventBus({
      boss,
      database,
      queues: this.queues,
      retry,
      log,
      work: (worker) => this.work(worker),
      rest: (queue) => this.#rest(queue),
    })
    this.svc = {
      actions: makeActions(),
      events: this.#bus,
      kv: makeKeyValueStore(database.db),
      secrets,
      database: database.pool,
      jobs: boss,
    }
    this.#sweeps = new Sweeps(log)
    const patient = database.maintenance
    this.every(60, 'expired entries', () => sweepExpired(patient))
    this.every(3600, 'old events', () => sweepEvents(patient, this.#eventDays))
    this.every(3600, 'jobs of retired subscriptions', async () => {
      while (await sweepRetired(patient, SUBSCRIPTION_QUEUES));
    })
    this.every(3600, 'old dead letters of subscriptions', () =>
      sweepDeadLettersOf(patient, SUBSCRIPTION_QUEUES, SUBSCRIPTION_DEAD_LETTER_DAYS),
    )
    this.every(30, 'moves of jobs', () => this.#mover.work())
    this.every(SUPERVISE_SECONDS, 'jobs of processes that died', () => this.#supervisor.run())
  }

  migrate(owner: string, folder: URL): Promise<void> {
    return migrate(this.#database.pool, owner, folder)
  }

  transaction<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return this.#bus.transaction(run)
  }

  fanOut: FanOut = {
    declare: async (subscription, queue, events) => {
      this.#fannedOut.set(subscription, events)
      const wanted = { subscription, queue, events, idempotent: true, targeted: true }
      await addSubscription(this.#database.db, wanted)
      if (this.#ready) await dropOtherEvents(this.#database.db, wanted)
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
    this.#eventDays = Math.max(this.#eventDays, days)
  }

  onDrained(task: () => Promise<void>): void {
    this.#drained.push(task)
  }

  every(seconds: number, name: string, task: () => Promise<void>): void {
    if (this.settings.worker.enabled) this.#sweeps.add({ seconds, name, task })
  }

  work<Prepared, Note>(worker: Worker<Prepared, Note>): void {
    this.#mover.know(worker)
    if (!this.settings.worker.enabled) return
    const pump = new Pump({
      worker,
      boss: this.svc.jobs,
      database: this.#database,
      log: this.log,
      groupsChanged: () => this.queues.groupsChanged(worker.queue),
      failed: () => this.#supervisor.failed(),
    })
    this.#pumps.set(worker.queue, pump)
    if (this.#ready) this.#startPump(pump)
  }

  async ready(): Promise<void> {
    await this.#bus.ready()
    // Not before this host is up: one that fails to boot must not take from those that run.
    for (const [subscription, events] of this.#fannedOut) {
      await dropOtherEvents(this.#database.db, { subscription, events })
    }
    await setKeepDays(this.#database.db, [...this.#fannedOut.keys()], this.#eventDays)
    this.#ready = true
    for (const pump of this.#pumps.values()) this.#startPump(pump)
    this.#sweeps.start()
  }

  /** What works ends first, then what it works with; a step that fails keeps no other from its turn. */
  async close(): Promise<void> {
    const steps = [
      () => this.#sweeps.stop(),
      () => Promise.all([...this.#pumps.values()].map((pump) => pump.stop())),
      ...this.#drained,
      () => this.#mover.close(),
      () => this.#bus.close(),
      () => this.queues.close(),
      () => this.svc.jobs.stop({ graceful: true, timeout: 10_000 }),
      () => this.signals.close(),
      () => this.#database.close(),
    ]
    for (const step of steps) {
      try {
        await step()
      } catch (error) {
        this.log.error({ err: error }, 'something could not be closed')
      }
    }
  }

  #startPump(pump: Pump): void {
    if (!this.#hears) {
      this.signals.listen(WAKE_CHANNEL, (queue, fromHere) => {
        if (!fromHere) this.queues.wakeHere(queue)
      })
      this.signals.listen(GROUPS_CHANNEL, (queue, fromHere) => {
        if (!fromHere) this.queues.groupsChangedHere(queue)
      })
    }
    this.#hears = true
    this.queues.attach(pump)
    pump.start()
  }

  async #rest(queue: string): Promise<void> {
    const pump = this.#pumps.get(queue)
    this.#pumps.delete(queue)
    if (!pump) return
    this.queues.detach(pump)
    await pump.stop()
  }
}

async function whichDatabase(settings: CoreSettings, secrets: Secrets) {
  const database = settings.database ?? (await secrets.get('DATABASE_URL'))
  if (database) return database
  throw new InvalidOption(
    'svcCore: there is no database: give the option "database", or set the secret DATABASE_URL',
  )
}
