/**
 * The connections that fetch and settle jobs. Generic plans that were made while the queue's table
 * was empty collapse once it is not. The queue's statements have one right plan, a walk along its
 * index, so every other is taken away. The few that every job needs are prepared.
 *
 * Their commits do not wait for the disk, which a publish always does. What a crash of Postgres may
 * forget of the last moment is a claim, then the job waits as before, or a settle, then the job is
 * attempted again under the same delivery id: nothing is lost.
 */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { handleClientErrors } from './client-errors.ts'
import { hasLostStatements, withPreparedStatements } from './prepared-statements.ts'
import { withServerOptions } from './connection-config.ts'
import { withQueryTimeout, STATEMENT_TIMEOUT_MS } from './query-timeout.ts'
import { transaction, type Db } from './transaction.ts'
import { isConnectionError } from './connection-errors.ts'

const OFF = ['enable_sort', 'enable_bitmapscan', 'enable_seqscan', 'jit', 'synchronous_commit']
const AT_START = [
  ...OFF.map((setting) => `-c ${setting}=off`),
  `-c statement_timeout=${STATEMENT_TIMEOUT_MS}`,
].join(' ')
export const BEGIN_WITH_WORKER_PLANS = [
  'begin',
  ...OFF.map((setting) => `set local ${setting} = off`),
].join('; ')

export class WorkerPool implements Db {
  readonly pool: pg.Pool
  /** A pooler refuses, or forgets, settings of a session: they are made within each transaction. */
  readonly pooled: boolean
  /** The same, with statements that each connection plans once: for those that every job needs. */
  readonly prepared: Db = { query: (text, values) => this.#queryPrepared(text, values) }
  #prepares: boolean

  constructor(pool: pg.Pool, pooled: boolean) {
    this.pool = pool
    this.pooled = pooled
    this.#prepares = !pooled
  }

  query(text: string, values?: unknown[]): ReturnType<Db['query']> {
    if (!this.pooled) return withQueryTimeout(this.pool).query(text, values)
    return this.transaction((db) => db.query(text, values))
  }

  async #queryPrepared(text: string, values?: unknown[]): ReturnType<Db['query']> {
    if (!this.#prepares) return this.query(text, values)
    try {
      return await withPreparedStatements(withQueryTimeout(this.pool)).query(text, values)
    } catch (error) {
      if (!hasLostStatements(error)) throw error
      this.#prepares = false
      return this.query(text, values)
    }
  }

  transaction<T>(run: (db: Db) => Promise<T>, limit: { timeoutMs?: number } = {}): Promise<T> {
    const begin = this.pooled ? { begin: BEGIN_WITH_WORKER_PLANS } : {}
    return transaction(this.pool, run, { ...begin, ...limit })
  }
}

/**
 * Finds out, once, whether the server takes the settings at the start of a connection: PgBouncer
 * refuses them with an error, or is told by its own settings to swallow them. An error that says
 * nothing of that (too many clients, a time-out) is no answer: the question is put again.
 *
 * @throws the error of the last try
 */
export async function openWorkerPool(
  config: pg.PoolConfig,
  logError: (error: Error) => void,
): Promise<WorkerPool> {
  for (let failures = 0; ; failures++) {
    const pauseMs = PAUSES_MS[failures]
    try {
      return await probe(config, logError, pauseMs === undefined)
    } catch (error) {
      if (pauseMs === undefined || !isConnectionError(error)) throw error
      await wait(pauseMs)
    }
  }
}

const PAUSES_MS = [250, 500, 1000, 2000]
const ANSWER_WITHIN_MS = 5000

async function probe(
  config: pg.PoolConfig,
  logError: (error: Error) => void,
  isLast: boolean,
): Promise<WorkerPool> {
  const direct = watched(withServerOptions(config, AT_START), logError)
  try {
    const { rows } = await withQueryTimeout(direct, ANSWER_WITHIN_MS).query(
      `select current_setting('enable_seqscan') = 'off' as taken`,
    )
    if (rows[0].taken) return new WorkerPool(direct, false)
  } catch (error) {
    if (!mayBeRefusal(error, isLast)) {
      void direct.end()
      throw error
    }
  }
  void direct.end()
  const plain = watched(config, logError)
  try {
    await withQueryTimeout(plain, ANSWER_WITHIN_MS).query('select 1')
  } catch (error) {
    void plain.end()
    throw error
  }
  return new WorkerPool(plain, true)
}

/**
 * Poolers answer a setting that they do not take with codes of their own choice; PgBouncer with
 * 08P01. Some only cut the connection: that counts where it is so at each try, and a connection
 * without the settings is answered.
 */
function mayBeRefusal(error: unknown, isLast: boolean): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  if (code === '08P01' || !isConnectionError(error)) return true
  return isLast && (error as Error).message.startsWith('Connection terminated')
}

function watched(config: pg.PoolConfig, logError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool(config)
  pool.on('error', logError)
  handleClientErrors(pool)
  return pool
}
