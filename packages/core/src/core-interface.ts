/** What the packages on top of core build with. */
import type { Cipher } from './encryption/key-ring.ts'
import type { Reencryption } from './encryption/reencryption.ts'
import type { Catalogue } from './events/catalogue.ts'
import type { FastifyBaseLogger } from 'fastify'
import type { Recipient } from './events/subscriptions-table.ts'
import type { Feed } from './events/feed.ts'
import type { Pauses } from './jobs/pauses.ts'
import type { SubscriptionPauses } from './subscription-pauses.ts'
import type { DeadLetterOperations } from './events/subscription-dead-letters.ts'
import type { Publisher } from './events/publish.ts'
import type { CallGate } from './http/call-gate.ts'
import type { ErrorText } from './http/error-body.ts'
import type { PeriodicTask } from './jobs/periodic-tasks.ts'
import type { Queues } from './jobs/queues.ts'
import type { Worker } from './jobs/worker.ts'
import type { CoreSettings } from './core-options.ts'
import type { Notifications } from './postgres/notifications.ts'
import type { Db, TimeLimit } from './postgres/transaction.ts'
import type { ProcessLease } from './processes/process-lease.ts'
import type { Svc } from './svc.ts'
import type { AuditOrigin } from './audit/audit-origin.ts'
import type { ErasedRows, TenantPart } from './tenant-erasure.ts'
import type { HostUnderTest } from './host-under-test.ts'
import type { TimeShift } from './time-shifts.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** A subscription with many recipients: each gets a job of its own for each event that it wants. */
export interface FanOut {
  /**
   * Which events of the application fan out. An event that no living process declares for the
   * subscription ends when this host is up.
   */
  declare(subscription: string, queue: string, events: string[]): Promise<void>
  /** Which of them one recipient wants, from the commit on. */
  setRecipient(db: Db, subscription: string, recipient: Recipient): Promise<void>
}

export interface Core {
  svc: Svc
  /** `svc.database` with a time limit of 15 seconds on each statement. */
  db: Db
  /**
   * `svc.database` for what a request waits for: a statement rejects with Unavailable when Postgres has
   * answered nothing for two seconds.
   */
  requestDb: Db
  /**
   * For reads that a request waits for, on connections of their own: as `requestDb`, with five seconds for a
   * statement, and each tenant in its turn.
   */
  readDb: Db
  /** How many management calls of one tenant are under way. */
  calls: Pick<CallGate, 'run'>
  /** The transaction `db` of a caller for our statements, whose schema may have another name. */
  forOurs: (db: Db) => Db
  /** `svc.database` with another time limit on each statement, in milliseconds. */
  dbWithin(ms: number): Db
  settings: CoreSettings
  log: FastifyBaseLogger
  /** What this process measures of itself. */
  telemetry: Telemetry
  /** This process among those on the database. */
  lease: ProcessLease
  /** Runs what is left of a package's migrations; may wait long: see `bootOnCore`. */
  migrate(owner: string, folder: URL): Promise<void>
  /** What is published in it is delivered at once after its commit. */
  transaction<T>(run: (db: Db) => Promise<T>, limit?: TimeLimit): Promise<T>
  /**
   * Runs `run` in the caller's transaction where `db` is one, else in a transaction of its own,
   * which waits for Postgres as long as `requestDb`. If that one is ended in a deadlock, `run` runs
   * again in another one.
   */
  within<T>(db: Db | undefined, run: (db: Db) => Promise<T>, limit?: TimeLimit): Promise<T>
  /**
   * Runs `task` after the commit of a transaction of `transaction` or `within`. Where the caller
   * began the transaction itself this process does not see its commit, and `task` does not run.
   * Returns whether it will.
   */
  afterCommit(db: Db, task: () => void): boolean
  notifications: Notifications
  queues: Queues
  fanOut: FanOut
  /** Runs a worker's pump from ready to close, unless `worker.enabled` is `false`. */
  work<Data, Prepared, Detail>(worker: Worker<Data, Prepared, Detail>): void
  /** Seals what is stored, where the host has the option `encryption`. */
  cipher: Cipher
  /** What `svc.reencrypt` runs. */
  reencryption: Pick<Reencryption, 'add'>
  /** Writes the bodies of our error answers, where the host has the option `errorBody`. */
  errorText: ErrorText | null
  /** The events that the host has defined. */
  catalogue: Catalogue
  /** Publishes events of ours, and payloads that are JSON text already. */
  bus: Pick<Publisher, 'publish'>
  /** The dead letters of the host's own handlers, and their pauses. */
  handlers: Pick<DeadLetterOperations, 'list' | 'redrive' | 'delete' | 'isSubscription'> &
    SubscriptionPauses
  /** Which queues are stopped. */
  pauses: Pick<Pauses, 'has' | 'holds' | 'list' | 'changed'>
  /** The events in the order of their commits. */
  feed: Pick<Feed, 'end' | 'follow' | 'find' | 'names' | 'path'>
  /** What a package keeps of tenants is deleted with them. */
  onEraseTenant(part: TenantPart): void
  /** Does the same as `svc.eraseTenant`, on behalf of `by`. */
  eraseTenant(tenant: string, by: AuditOrigin): Promise<ErasedRows>
  /** Keeps events for at least `days`, because rows refer to them for that long. */
  retainEventsAtLeast(days: number): void
  /** Runs when all workers have stopped, before the database is closed. */
  onDrained(task: () => Promise<void>): void
  /** What `advance` of the testing kit does to what a package keeps. */
  onAdvance(shift: TimeShift): void
  underTest: HostUnderTest
  /**
   * Background work from ready to close; errors are logged, and show in `svc.health`. The task may resolve
   * with the milliseconds until its next run, and works in portions until `stopping` aborts.
   */
  every(
    seconds: number,
    name: string,
    task: PeriodicTask['run'],
    options?: {
      /** Also in a process with `worker.enabled: false`. @default false */
      everywhere?: boolean
    },
  ): void
}
