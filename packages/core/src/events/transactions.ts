/**
 * The transactions of publishes, and what follows their commits: the jobs that a publish has claimed start,
 * and workers are woken for the others. Of `svc.transaction` and of transactions of ours this process sees
 * the commit. Of others it asks Postgres whether they have committed.
 */
import { InvalidTransaction } from '../errors.ts'
import type { Job } from '../jobs/job.ts'
import type { JobOffer, WorkerRegistry } from '../jobs/worker-registry.ts'
import { HostTransactions, type TransactionOptions } from '../postgres/host-transactions.ts'
import type { Database } from '../postgres/pools.ts'
import { hasLostStatements, withPreparedStatements } from '../postgres/prepared-statements.ts'
import type { StatementPool } from '../postgres/schema-names.ts'
import { transaction, type Db, type TimeLimit } from '../postgres/transaction.ts'
import { Timer } from '../time.ts'
import type { UndecidedFilters } from './filter/undecided-filters.ts'
import {
  publish,
  type NewEvent,
  type Published,
  type PublishTerms,
  type ToPublish,
  type WaitingJobs,
} from './publish-sql.ts'

type Workers = Pick<WorkerRegistry, 'offer' | 'claiming' | 'beginIfCommitted' | 'wake'>

/** Hands the jobs of publishes to the workers. */
class Handover {
  #workers: Workers
  #undecided: UndecidedFilters

  constructor(workers: Workers, undecided: UndecidedFilters) {
    this.#workers = workers
    this.#undecided = undecided
  }

  /** Of a transaction that may be open for long: it claims nothing that needs a lock. */
  offerInTransaction(): JobOffer | undefined {
    const offer = this.#workers.offer()
    return offer && { ...offer, endedJobs: null }
  }

  /** `write` commits at once. */
  async committing(
    claims: boolean,
    write: (offer?: JobOffer) => Promise<Published>,
  ): Promise<Published> {
    const published = claims ? await this.#workers.claiming(write) : await write()
    this.#undecided.found(published.unreadable)
    this.wake(published.waiting)
    return published
  }

  /** The caller may have rolled back to a savepoint: of the claimed jobs those begin that exist. */
  committedByCaller(published: Published[]): void {
    const claimed = new Map<string, Job[]>()
    for (const one of published) {
      this.#undecided.found(one.unreadable)
      for (const [queue, jobs] of one.claimed) {
        claimed.set(queue, [...(claimed.get(queue) ?? []), ...jobs.map(withUnknownVersion)])
      }
    }
    for (const [queue, jobs] of claimed) this.#workers.beginIfCommitted(queue, jobs)
    this.wake(together(published.map(({ waiting }) => waiting)))
  }

  /** Nobody sees the commit yet. */
  uncommitted({ unreadable }: Published): void {
    this.#undecided.found(unreadable)
  }

  /** These jobs wait, and their transaction is committed. */
  wake({ queues, restricted }: WaitingJobs): void {
    for (const queue of queues) this.#workers.wake(queue)
    for (const [queue, recipients] of restricted) this.#workers.wake(queue, recipients)
  }
}

/** What was true when the statement ran may have changed before the commit: a webhook was paused. */
const withUnknownVersion = ({ recipientVersion: _, ...job }: Job): Job => job

function together(parts: readonly WaitingJobs[]): WaitingJobs {
  const queues = [...new Set(parts.flatMap((part) => part.queues))]
  const restricted = new Map<string, string[]>()
  for (const part of parts) {
    for (const [queue, recipients] of part.restricted) {
      restricted.set(queue, [...new Set([...(restricted.get(queue) ?? []), ...recipients])])
    }
  }
  return { queues, restricted }
}

interface OpenTransaction {
  /** What its publishes have written, for the handover after its commit. */
  published: Published[]
  /** Publishes in it that are not done. */
  publishing: number
  /** What else is to be run after its commit. */
  tasks: (() => void)[]
  /** The function that was given to `svc.transaction` has returned. */
  hasEnded: boolean
}

const AWAIT_PUBLISHES =
  'svc.transaction: a publish was still under way when the function ended: await every publish in it'

/**
 * How many publishes of one transaction may claim jobs: the jobs of further ones are fetched in
 * batches.
 */
const MOST_CLAIMING = 8

/** Jobs of larger batches are fetched in batches too: that is as quick, and keeps groups fair. */
const LARGEST_CLAIMED_BATCH = 8

interface Parts {
  database: Pick<Database, 'pool' | 'db' | 'pooled'>
  workers: Workers
  undecided: UndecidedFilters
  terms: PublishTerms
  /** See {@link HostTransactions}. */
  idleSeconds: number
}

export class Transactions {
  #pool: StatementPool
  #db: Db
  #terms: PublishTerms
  #hostTransactions: HostTransactions
  #handover: Handover
  #commits: CommitPoller
  #open = new WeakMap<Db, OpenTransaction>()
  #prepares: boolean

  constructor({ database, workers, undecided, terms, idleSeconds }: Parts) {
    this.#pool = database.pool
    this.#db = database.db
    this.#terms = terms
    this.#hostTransactions = new HostTransactions(database.pool, idleSeconds)
    this.#handover = new Handover(workers, undecided)
    this.#commits = new CommitPoller(database.db, (waiting) => this.#handover.wake(waiting))
    this.#prepares = !database.pooled
  }

  /** The transaction `db` for our statements, whose schema may have another name. */
  forOurs(db: Db): Db {
    return this.#pool.names?.on(db) ?? db
  }

  run<T>(run: (db: Db) => Promise<T>, limit: TimeLimit = {}): Promise<T> {
    return this.#handingOver((open) =>
      transaction(
        this.#pool,
        (db) => {
          this.#pool.names?.own(db)
          this.#open.set(db, open)
          return run(db)
        },
        limit,
      ),
    )
  }

  runOfHost<T>(run: (db: Db) => T | Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#handingOver((open) =>
      this.#hostTransactions.run(run, options, {
        begun: (db) => void this.#open.set(this.forOurs(db), open),
        // The event of a publish that is not done would be committed without its jobs.
        ending: async () => {
          open.hasEnded = true
          if (open.publishing > 0) throw new InvalidTransaction(AWAIT_PUBLISHES)
        },
      }),
    )
  }

  /**
   * Publishes in the transaction `db`. What follows is handed over after its commit.
   *
   * @throws InvalidTransaction where the function of the transaction has returned
   */
  async publish(db: Db, toPublish: ToPublish): Promise<Published> {
    const open = this.#open.get(db)
    if (!open) {
      const published = await publish(db, toPublish, this.#terms)
      this.#handover.uncommitted(published)
      this.#commits.expect(published.transactionId, published.waiting)
      return published
    }
    open.publishing++
    try {
      const offer =
        open.published.length < MOST_CLAIMING ? this.#handover.offerInTransaction() : undefined
      const published = await publish(db, { ...toPublish, offer }, this.#terms)
      if (open.hasEnded) throw new InvalidTransaction(AWAIT_PUBLISHES)
      open.published.push(published)
      return published
    } finally {
      open.publishing--
    }
  }

  /** Publishes a batch in a transaction of its own, and hands over what follows. */
  publishBatch = (events: NewEvent[]): Promise<Published> => this.publishAtOnce({ events })

  /** The same with a row of all events, with a limit for the wait for others, or on another connection. */
  async publishAtOnce(toPublish: ToPublish, db = this.#db): Promise<Published> {
    const prepares = this.#prepares
    const on = prepares ? withPreparedStatements(db) : db
    try {
      return await this.#handover.committing(
        toPublish.events.length <= LARGEST_CLAIMED_BATCH,
        (offer) => publish(on, { ...toPublish, offer, commitsAtOnce: true }, this.#terms),
      )
    } catch (error) {
      if (!prepares || !hasLostStatements(error)) throw error
      this.#prepares = false
      return this.publishAtOnce(toPublish, db)
    }
  }

  /** Runs `task` after the commit. The commit of a transaction of the caller's own is not seen: `false`. */
  afterCommit(db: Db, task: () => void): boolean {
    return this.#open.get(db)?.tasks.push(task) !== undefined
  }

  close(): void {
    this.#commits.close()
  }

  async #handingOver<T>(transact: (open: OpenTransaction) => Promise<T>): Promise<T> {
    const open: OpenTransaction = {
      published: [],
      publishing: 0,
      tasks: [],
      hasEnded: false,
    }
    const result = await transact(open)
    this.#handover.committedByCaller(open.published)
    for (const task of open.tasks) task()
    return result
  }
}

interface Expected {
  waiting: WaitingJobs
  giveUpAt: number
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 1000
const GIVE_UP_MS = 60_000
/** Beyond this many the polls of the workers are quick enough, and memory stays bounded. */
const MOST_EXPECTED = 1000

/**
 * Polls `pg_xact_status` after a publish in a transaction that this process did not begin, from 5 ms on,
 * doubling, up to once a second for a minute, to wake the workers right after the commit. A later commit is
 * found by the workers' own polls.
 */
class CommitPoller {
  #db: Db
  #committed: (waiting: WaitingJobs) => void
  /** The expected commits by the id of the transaction. */
  #expected = new Map<string, Expected>()
  #pauseMs = FIRST_PAUSE_MS
  #timer = new Timer(() => this.#poll())
  #isPolling = false
  #closed = false

  constructor(db: Db, committed: (waiting: WaitingJobs) => void) {
    this.#db = db
    this.#committed = committed
  }

  expect(transactionId: string, waiting: WaitingJobs): void {
    if (this.#closed || waiting.queues.length + waiting.restricted.size === 0) return
    const known = this.#expected.get(transactionId)
    if (!known && this.#expected.size >= MOST_EXPECTED) return
    this.#expected.set(transactionId, {
      waiting: known ? together([known.waiting, waiting]) : waiting,
      giveUpAt: performance.now() + GIVE_UP_MS,
    })
    this.#pauseMs = FIRST_PAUSE_MS
    this.#pollLater()
  }

  close(): void {
    this.#closed = true
    this.#timer.clear()
    this.#expected.clear()
  }

  #pollLater(): void {
    if (!this.#isPolling) this.#timer.set(this.#pauseMs)
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    const ended = await findEnded(this.#db, [...this.#expected.keys()]).catch(() => [])
    this.#isPolling = false
    const found: WaitingJobs[] = []
    for (const { transactionId, committed } of ended) {
      const expected = this.#expected.get(transactionId)
      if (committed && expected) found.push(expected.waiting)
      this.#expected.delete(transactionId)
    }
    if (found.length > 0) this.#committed(together(found))
    for (const [transactionId, { giveUpAt }] of this.#expected) {
      if (performance.now() > giveUpAt) this.#expected.delete(transactionId)
    }
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2)
    if (this.#expected.size > 0 && !this.#closed) this.#pollLater()
  }
}

async function findEnded(
  db: Db,
  transactionIds: string[],
): Promise<{ transactionId: string; committed: boolean }[]> {
  const { rows } = await db.query(
    `select id as "transactionId", status = 'committed' as committed
       from (select id, pg_xact_status(id::xid8) as status from unnest($1::text[]) as id) as looked
      where status <> 'in progress'`,
    [transactionIds],
  )
  return rows
}
