/**
 * The lease of this process: its row in the table of processes shows that it is alive, and what it
 * declares. Processes of other versions and with other options share the database. A subscription
 * therefore keeps an event, and data keeps its retention, as long as any live process declares it.
 */
import { isConnectionError } from '../postgres/connection-errors.ts'
import type { Notifications } from '../postgres/notifications.ts'
import type { WorkerPool } from '../postgres/worker-pool.ts'
import { uuidv7 } from '../ids.ts'
import { VERSION } from '../package-folder.ts'
import { loggable } from '../postgres/loggable-error.ts'
import {
  closeProcess,
  LEASE_SECONDS,
  putProcess,
  renewProcess,
  type Declared,
  type FailedTask,
  type ProcessFacts,
} from './processes-table.ts'
import {
  addSubscription,
  dropUndeclaredEvents,
  hasUndeclaredEvents,
  isRetired,
  lockDeclarations,
  type Subscription,
} from './declared-subscriptions-table.ts'
import type { Db } from '../postgres/transaction.ts'
import { Timer, within } from '../time.ts'
import { ProcessLock } from './process-lock.ts'

/** The pause between two renewals: two of them may fail before the lease lapses. */
const RENEW_MS = 6000
const RENEWED_WITHIN_MS = 4000
/** After a renewal that failed. */
const AGAIN_MS = 500
/**
 * For how long the declarations of a process still count after its orderly close, in the
 * background. A restart of the only process that declares an event takes less.
 */
const RESTART_SECONDS = 60

interface LeaseLog {
  warn(details: object, message: string): void
}

export class ProcessLease {
  readonly id = uuidv7()
  #workerPool: Pick<WorkerPool, 'query' | 'transaction' | 'onEachConnection'>
  #lock: ProcessLock
  /** Whether this process claims jobs, so that its death has to be seen. */
  #holdsLock = false
  /** Whether the row has the lock as held. */
  #isLocked = false
  #log: LeaseLog
  #nowMs: () => number
  #days: Record<string, number> = {}
  #about: ProcessFacts = {
    version: VERSION,
    node: process.versions.node,
    works: false,
    options: {},
  }
  /** Of the periodic tasks of this process. */
  failingTasks: () => readonly FailedTask[] = () => []
  #subscriptions = new Map<string, Subscription>()
  /** Since when no renewal failed and none came late. */
  #steadySinceMs = 0
  #lastRenewalMs = 0
  #isReady = false
  #timer = new Timer(() => this.renew().finally(() => this.#isClosed || this.#renewLater()))
  #renewing: Promise<void> = Promise.resolve()
  #isFailing = false
  #isClosed = false

  constructor(
    workerPool: Pick<WorkerPool, 'query' | 'transaction' | 'onEachConnection'>,
    notifications: Pick<Notifications, 'query' | 'session' | 'onConnect'>,
    log: LeaseLog,
    /** Monotonic. */
    nowMs: () => number = () => performance.now(),
  ) {
    this.#workerPool = workerPool
    this.#lock = new ProcessLock(this.id, notifications)
    // Taken again at once: without its lock the process is taken for dead within seconds.
    notifications.onConnect(() => this.#holdsLock && void this.keepLock())
    this.#log = log
    this.#nowMs = nowMs
  }

  /** This process runs jobs. */
  works(): void {
    this.#about.works = true
  }

  /** Options of a plugin that all processes should have alike: `npx svc doctor` compares them. */
  declareOptions(plugin: string, options: Record<string, unknown>): void {
    this.#about.options[plugin] = options
  }

  /** Several values for one setting: the longest. Written with the next declaration, or at ready. */
  declareDays(setting: string, days: number): void {
    this.#days[setting] = Math.max(this.#days[setting] ?? 0, days)
  }

  /**
   * Writes the rows of a subscription. The events that it had before stay until the host is ready,
   * and as long as another process declares them.
   */
  async declareEvents(declared: Subscription): Promise<void> {
    this.#subscriptions.set(declared.subscription, declared)
    await this.#whileLocked(async (db) => {
      await putProcess(db, this.id, this.#declared(), this.#isLocked)
      await addSubscription(db, declared)
    })
    if (this.#isReady) await this.#dropIfAny()
  }

  /** The subscription is retired: this process does not bring it back. */
  forget(subscription: string): void {
    this.#subscriptions.delete(subscription)
  }

  /**
   * The host has booted. Events of its subscriptions end that neither it nor another live process
   * declares any more. From now on the lease is renewed.
   */
  async ready({ holdsLock = false } = {}): Promise<void> {
    this.#holdsLock = holdsLock
    // Taken before the row is written: otherwise other processes would take this one for dead.
    if (holdsLock) {
      await this.#lock.holdOn(this.#workerPool)
      await this.keepLock()
    }
    // The boot may have taken longer than the lease that its first declaration began.
    await this.#declareAgain()
    await this.#dropIfAny()
    this.#isReady = true
    this.#steadySinceMs = this.#lastRenewalMs = this.#nowMs()
    if (!this.#isClosed) this.#renewLater()
  }

  /** Takes the lock of this process again where its connection was lost. It never rejects. */
  async keepLock(): Promise<void> {
    try {
      await this.#lock.hold()
    } catch (error) {
      // Where Postgres is not reached, the renewal of the lease logs it.
      if (isConnectionError(error)) return
      this.#log.warn(
        { err: loggable(error) },
        'could not take the advisory lock of this process; it tries again',
      )
    }
  }

  /** One renewal, and what follows from it. The timer calls it; it never rejects. */
  renew(): Promise<void> {
    this.#renewing = this.#renewing.then(() => this.#renew())
    return this.#renewing
  }

  /** Gives the lease back. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer.clear()
    await this.#renewing
    await closeProcess(this.#workerPool, this.id)
  }

  async #renew(): Promise<void> {
    if (this.#isClosed) return
    const beganMs = this.#nowMs()
    const wasLate = beganMs - this.#lastRenewalMs > LEASE_SECONDS * 1000
    try {
      const isLocked = this.#lock.isHeld
      const renewing = renewProcess(this.#workerPool, this.id, {
        isLocked,
        failing: this.failingTasks(),
        subscriptions: [...this.#subscriptions.keys()],
        closedWithinSeconds: RESTART_SECONDS,
      })
      // A connection may hang for longer than the lease has left.
      const isAnyUndeclared = await within(RENEWED_WITHIN_MS, renewing, () => {
        renewing.catch(() => {})
        throw new Error(`no answer within ${RENEWED_WITHIN_MS / 1000} seconds`)
      })
      const hasLapsed = isAnyUndeclared === undefined
      if (hasLapsed) await this.#declareAgain()
      else this.#isLocked = isLocked
      if (hasLapsed || wasLate || this.#isFailing) this.#steadySinceMs = this.#nowMs()
      this.#isFailing = false
      this.#lastRenewalMs = beganMs
      if (isAnyUndeclared && this.#isReady && this.#isSteady()) await this.#drop(RESTART_SECONDS)
    } catch (error) {
      if (!this.#isFailing) {
        this.#log.warn(
          { err: loggable(error) },
          'could not renew the lease of this process; it tries again',
        )
      }
      this.#isFailing = true
    }
  }

  /**
   * After an outage of Postgres the leases of all processes have lapsed. A process drops nothing
   * before the others have had the time of a lease to renew theirs.
   */
  #isSteady(): boolean {
    return this.#nowMs() - this.#steadySinceMs >= LEASE_SECONDS * 1000
  }

  /** The lease may have lapsed, and others may have dropped the events that this process declares. */
  async #declareAgain(): Promise<void> {
    const isLocked = this.#lock.isHeld
    await this.#whileLocked(async (db) => {
      await putProcess(db, this.id, this.#declared(), isLocked)
      for (const subscription of this.#subscriptions.values()) {
        // `unsubscribe` in another process has ended it meanwhile.
        if (!subscription.fansOut && (await isRetired(db, subscription.subscription))) continue
        await addSubscription(db, subscription)
      }
    })
    this.#isLocked = isLocked
  }

  async #drop(closedWithinSeconds: number): Promise<void> {
    const subscriptions = [...this.#subscriptions.keys()]
    await this.#whileLocked((db) => dropUndeclaredEvents(db, subscriptions, closedWithinSeconds))
  }

  /** At a boot, and at a declaration after it. */
  async #dropIfAny(): Promise<void> {
    const subscriptions = [...this.#subscriptions.keys()]
    if (subscriptions.length === 0) return
    if (await hasUndeclaredEvents(this.#workerPool, subscriptions, 0)) await this.#drop(0)
  }

  /** A declaration and a drop that overlap would each miss what the other writes. */
  #whileLocked(run: (db: Db) => Promise<void>): Promise<void> {
    return this.#workerPool.transaction(async (db) => {
      // Commits of these connections do not wait for the disk. What was declared must outlive a crash.
      await db.query('set local synchronous_commit = on')
      await lockDeclarations(db)
      await run(db)
    })
  }

  #declared(): Declared {
    const events = [...this.#subscriptions].map(([name, { events }]) => [name, events] as const)
    return { events: Object.fromEntries(events), days: this.#days, about: this.#about }
  }

  #renewLater(): void {
    this.#timer.set(this.#isFailing ? AGAIN_MS : RENEW_MS * (0.9 + Math.random() * 0.2))
  }
}
