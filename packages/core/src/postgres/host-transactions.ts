/** `svc.transaction`: transactions whose statements are the host's. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { InvalidOption, InvalidTransaction } from '../errors.ts'
import { isFunction, kindOf, resolveOptions, type OptionRules } from '../options/check-options.ts'
import { unlimitedTransaction, type Db } from './transaction.ts'
import { asUnavailable, orUnavailable } from './unavailable.ts'

/** Options of `svc.transaction`. */
export interface TransactionOptions {
  /**
   * The isolation level. With `repeatable read` and `serializable` Postgres may refuse the
   * transaction with SQLSTATE 40001: the host runs it again.
   * @default that of the database, `read committed` unless it was configured otherwise
   * @see https://www.postgresql.org/docs/current/transaction-iso.html
   */
  isolation?: Isolation
}

const ISOLATIONS = ['read committed', 'repeatable read', 'serializable'] as const

export type Isolation = (typeof ISOLATIONS)[number]

const rules: OptionRules = {
  isolation: {
    expects: '"read committed", "repeatable read" or "serializable"',
    is: (value) => ISOLATIONS.includes(value as Isolation),
  },
}

interface Hooks {
  begun?(db: Db): void
  /** Runs before the commit; a throw rolls back. `db` is the transaction. */
  ending?(db: Db): Promise<void>
}

interface OpenTransaction {
  hasEnded: boolean
}

export class HostTransactions {
  #pool: pg.Pool
  /** The transaction in which a call is made. */
  #current = new AsyncLocalStorage<OpenTransaction>()

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** @throws InvalidOption, InvalidTransaction, TransactionRolledBack, Unavailable, and what `run` throws */
  async run<T>(
    run: (db: Db) => T | Promise<T>,
    options: TransactionOptions = {},
    hooks: Hooks = {},
  ): Promise<T> {
    if (!isFunction(run)) {
      throw new InvalidOption(`svc.transaction takes a function, got ${kindOf(run)}`)
    }
    const { isolation } = resolveOptions<TransactionOptions>('svc.transaction', rules, options)
    const outer = this.#current.getStore()
    if (outer && !outer.hasEnded) {
      throw new InvalidTransaction(
        'svc.transaction was called within another one, and would commit apart from it: use the db of the outer one, with a savepoint where a part may fail',
      )
    }
    const begin = isolation ? `begin isolation level ${isolation}` : 'begin'
    let thrown: unknown
    try {
      return await unlimitedTransaction(
        this.#pool,
        async (client) => {
          const open: OpenTransaction = { hasEnded: false }
          const db = untilItsEnd(client, open)
          hooks.begun?.(db)
          try {
            const result = await this.#current.run(open, async () => run(db))
            // Nothing that the host did not await comes between this and the commit.
            open.hasEnded = true
            await hooks.ending?.(client)
            assertOpen(client)
            return result
          } catch (error) {
            thrown = error
            throw error
          } finally {
            open.hasEnded = true
          }
        },
        begin,
      )
    } catch (error) {
      // What `run` throws need not be about this transaction: it may come from another server.
      throw error === thrown ? error : asUnavailable(error)
    }
  }
}

/**
 * The client's `query` until the transaction ends: the connection goes back to the pool then, and a
 * late statement would run in the transaction of another caller.
 */
function untilItsEnd(client: pg.PoolClient, open: OpenTransaction): Db {
  const query = (...statement: [string]) =>
    open.hasEnded
      ? Promise.reject(
          new InvalidTransaction(
            'this transaction of svc.transaction has ended: await each statement and publish within the function given to svc.transaction',
          ),
        )
      : orUnavailable(client.query(...statement))
  return { query }
}

function assertOpen(client: pg.PoolClient): void {
  const { getTransactionStatus } = client as { getTransactionStatus?: () => string | null }
  if (getTransactionStatus?.call(client) !== 'I') return
  throw new InvalidTransaction(
    'svc.transaction: run ended it with a statement of its own: leave commit and rollback to svc.transaction, which rolls back on a throw',
  )
}
