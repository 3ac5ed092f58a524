/** `svc.transaction`: transactions whose statements are the host's. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { InvalidOption, InvalidTransaction } from '../errors.ts'
import { isFunction, kindOf, resolveOptions, type OptionRules } from '../options/check-options.ts'
import type { StatementPool } from './schema-names.ts'
import { noteStatement } from './session-settings.ts'
import { unlimitedTransaction, type Db } from './transaction.ts'
import { asUnavailable } from './unavailable.ts'

/** Options of `svc.transaction`. */
export interface TransactionOptions {
  /**
   * The isolation level. With `repeatable read` and `serializable` Postgres may refuse the
   * transaction with SQLSTATE 40001: the host runs it again.
   * @default that of the database, `read committed` unless it was configured otherwise
   * @see https://www.postgresql.org/docs/current/transaction-iso.html
   */
  isolation?: Isolation | undefined
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
  /** Postgres has ended it, since no statement came. */
  wasIdle: boolean
}

/** SQLSTATE: Postgres has ended the session of a transaction that sent no statement. */
const IDLE_IN_TRANSACTION = '25P03'

export class HostTransactions {
  #pool: StatementPool
  #idleSeconds: number
  /** The transaction in which a call is made. */
  #current = new AsyncLocalStorage<OpenTransaction>()

  /** `idleSeconds`: the longest time without a statement. */
  constructor(pool: StatementPool, idleSeconds: number) {
    this.#pool = pool
    this.#idleSeconds = idleSeconds
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
    const open: OpenTransaction = { hasEnded: false, wasIdle: false }
    let thrown: unknown
    try {
      return await unlimitedTransaction(
        this.#pool,
        async (client) => {
          const db = this.#untilItsEnd(client, open)
          const onError = (error: unknown) => {
            open.wasIdle ||= isIdleTimeout(error)
          }
          client.on('error', onError)
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
            client.off('error', onError)
          }
        },
        `${begin}; ${this.#limitIdleTime()}`,
      )
    } catch (error) {
      // What `run` throws need not be about this transaction: it may come from another server.
      throw error === thrown ? error : this.#errorOf(error, open)
    }
  }

  /**
   * The client's `query` until the transaction ends: the connection goes back to the pool then, and a
   * late statement would run in the transaction of another caller.
   */
  #untilItsEnd(client: pg.PoolClient, open: OpenTransaction): Db {
    const query = async (...statement: [string]) => {
      if (open.hasEnded) throw new InvalidTransaction(HAS_ENDED)
      noteStatement(client, statement[0])
      try {
        return await client.query(...statement)
      } catch (error) {
        throw this.#errorOf(error, open)
      }
    }
    return { query }
  }

  /**
   * A process that is frozen, or that waits for another server, keeps its locks, and others wait for
   * them. A shorter limit of the session stays.
   */
  #limitIdleTime(): string {
    return `select set_config(name, least(set_ms, ${this.#idleSeconds * 1000})::int::text, true)
      from (select name, nullif(extract(epoch from current_setting(name)::interval) * 1000, 0) as set_ms
              from (values ('idle_in_transaction_session_timeout')) as setting (name)) as setting`
  }

  #errorOf(error: unknown, { wasIdle }: OpenTransaction): unknown {
    if (!wasIdle && !isIdleTimeout(error)) return asUnavailable(error)
    return new InvalidTransaction(
      `svc.transaction: no statement came for ${this.#idleSeconds} s, so that Postgres ended the transaction, and nothing of it is committed: do what takes longer before or after it, or raise the option transactionIdleSeconds of svcCore`,
    )
  }
}

const isIdleTimeout = (error: unknown): boolean =>
  ((error ?? {}) as { code?: unknown }).code === IDLE_IN_TRANSACTION

const HAS_ENDED =
  'this transaction of svc.transaction has ended: await each statement and publish within the function given to svc.transaction'

function assertOpen(client: pg.PoolClient): void {
  const { getTransactionStatus } = client as { getTransactionStatus?: () => string | null }
  if (getTransactionStatus?.call(client) !== 'I') return
  throw new InvalidTransaction(
    'svc.transaction: run ended it with a statement of its own: leave commit and rollback to svc.transaction, which rolls back on a throw',
  )
}
