/** Transactions whose commit this process sees: what was published in one is handed over after it. */
import { InvalidTransaction } from '../errors.ts'
import { HostTransactions, type TransactionOptions } from '../postgres/host-transactions.ts'
import type { StatementPool } from '../postgres/schema-names.ts'
import { transaction, type Db, type TimeLimit } from '../postgres/transaction.ts'
import type { JobHandover } from './job-handover.ts'
import type { Published } from './published.ts'

export interface OpenTransaction {
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

export const mayClaim = ({ published }: OpenTransaction): boolean =>
  published.length < MOST_CLAIMING

/** @throws InvalidTransaction where the function of the transaction has returned */
export function addPublished(open: OpenTransaction, published: Published): void {
  if (open.hasEnded) throw new InvalidTransaction(AWAIT_PUBLISHES)
  open.published.push(published)
}

export class OpenTransactions {
  #pool: StatementPool
  #hostTransactions: HostTransactions
  #handover: Pick<JobHandover, 'committedByCaller'>
  #open = new WeakMap<Db, OpenTransaction>()

  /** `idleSeconds`: see {@link HostTransactions}. */
  constructor(
    pool: StatementPool,
    idleSeconds: number,
    handover: Pick<JobHandover, 'committedByCaller'>,
  ) {
    this.#pool = pool
    this.#hostTransactions = new HostTransactions(pool, idleSeconds)
    this.#handover = handover
  }

  of(db: Db): OpenTransaction | undefined {
    return this.#open.get(db)
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
