/**
 * The connections that fetch and settle jobs, hold the migration lock, and write the lease and the
 * declarations of the process. A generic plan that is made while the queue's table
 * is empty becomes slow once the table fills. Each statement of the queue has one good plan, a scan
 * of its index: the settings of these connections disable the others. The few statements that every
 * job needs are prepared.
 *
 * Commits on these connections do not wait for the disk. The commit of a publish does. A crash of
 * Postgres can lose the last claims and settlements. After a lost claim the job waits again. After
 * a lost settlement it is attempted again, under the same delivery id.
 */
import pg from 'pg'
import { handleClientErrors } from './client-errors.ts'
import { hasLostStatements, withPreparedStatements } from './prepared-statements.ts'
import { withServerOptions } from './connection-config.ts'
import type { SchemaNames, StatementPool } from './schema-names.ts'
import { poolWithQueryTimeout, STATEMENT_TIMEOUT_MS, withQueryTimeout } from './query-timeout.ts'
import { AT_START, BEGIN, markBegunWith, markPooled } from './session-settings.ts'
import { transaction, type Db, type TimeLimit } from './transaction.ts'
import { isLostConnection } from './connection-errors.ts'
import { pause } from '../time.ts'

const OFF = ['enable_sort', 'enable_bitmapscan', 'enable_seqscan', 'jit', 'synchronous_commit']
const OPTIONS = [
  AT_START,
  ...OFF.map((setting) => `-c ${setting}=off`),
  `-c statement_timeout=${STATEMENT_TIMEOUT_MS}`,
  String.raw`-c default_transaction_isolation=read\ committed`,
].join(' ')
export const BEGIN_WITH_WORKER_PLANS = [
  BEGIN,
  ...OFF.map((setting) => `set local ${setting} = off`),
].join('; ')

export class WorkerPool implements Db {
  readonly pool: pg.Pool & StatementPool
  /**
   * The pooler in between refuses or ignores settings of a session: each transaction makes them
   * instead.
   */
  readonly pooled: boolean
  /**
   * For statements that every job needs: each connection prepares such a statement and plans it
   * only once.
   */
  readonly prepared: Db = { query: (text, values) => this.#queryPrepared(text, values) }
  #prepares: boolean
  #direct: Db
  #directPrepared: Db

  constructor(pool: pg.Pool, pooled: boolean, names?: SchemaNames) {
    this.pool = Object.assign(pool, { names })
    this.pooled = pooled
    this.#prepares = !pooled
    this.#direct = poolWithQueryTimeout(this.pool)
    this.#directPrepared = withPreparedStatements(this.#direct)
  }

  query(text: string, values?: unknown[]): ReturnType<Db['query']> {
    if (!this.pooled) return this.#direct.query(text, values)
    return this.transaction((db) => db.query(text, values))
  }

  async #queryPrepared(text: string, values?: unknown[]): ReturnType<Db['query']> {
    if (!this.#prepares) return this.query(text, values)
    try {
      return await this.#directPrepared.query(text, values)
    } catch (error) {
      if (!hasLostStatements(error)) throw error
      this.#prepares = false
      return this.query(text, values)
    }
  }

  /**
   * Runs on each connection before it serves statements, and on those that exist. Where it fails, the
   * connection serves all the same.
   */
  async onEachConnection(run: (db: Db) => Promise<unknown>): Promise<void> {
    const runOn = async (client: pg.ClientBase): Promise<void> => {
      await run(withQueryTimeout(client, ANSWER_WITHIN_MS, this.pool.names)).catch(() => {})
    }
    // pg waits for what it returns, which its types do not tell.
    Object.assign(this.pool.options, { onConnect: runOn })
    const connecting = Array.from({ length: this.pool.totalCount }, () => this.pool.connect())
    for (const one of await Promise.allSettled(connecting)) {
      if (one.status === 'rejected') continue
      await runOn(one.value)
      one.value.release()
    }
  }

  transaction<T>(run: (db: Db) => Promise<T>, limit: TimeLimit = {}): Promise<T> {
    const begin = this.pooled ? { begin: BEGIN_WITH_WORKER_PLANS } : {}
    return transaction(this.pool, run, { ...begin, ...limit })
  }
}

/**
 * Finds out, once, whether the server takes the settings at the start of a connection. PgBouncer
 * refuses them with an error, or ignores them, depending on its own settings. An error that has
 * nothing to do with the settings (too many clients, a time-out) decides nothing: the probe is
 * repeated.
 *
 * @throws the error of the last try
 */
export async function openWorkerPool(
  config: pg.PoolConfig,
  logError: (error: Error) => void,
  names?: SchemaNames,
): Promise<WorkerPool> {
  for (let failures = 0; ; failures++) {
    const pauseMs = PAUSES_MS[failures]
    try {
      return await probe(config, logError, pauseMs === undefined, names)
    } catch (error) {
      if (pauseMs === undefined || !isLostConnection(error)) throw error
      await pause(pauseMs)
    }
  }
}

const PAUSES_MS = [250, 500, 1000, 2000]
const ANSWER_WITHIN_MS = 5000
const IDLE_MS = 60_000

async function probe(
  config: pg.PoolConfig,
  logError: (error: Error) => void,
  isLast: boolean,
  names: SchemaNames | undefined,
): Promise<WorkerPool> {
  const direct = watched(withServerOptions(config, OPTIONS), logError)
  try {
    const { rows } = await poolWithQueryTimeout(direct, ANSWER_WITHIN_MS).query(
      `select current_setting('enable_seqscan') = 'off' as taken`,
    )
    if (rows[0].taken) {
      markBegunWith(direct)
      return new WorkerPool(direct, false, names)
    }
  } catch (error) {
    if (!mayBeRefusal(error, isLast)) {
      void direct.end()
      throw error
    }
  }
  void direct.end()
  const plain = watched(config, logError)
  markPooled(plain)
  try {
    await poolWithQueryTimeout(plain, ANSWER_WITHIN_MS).query('select 1')
  } catch (error) {
    void plain.end()
    throw error
  }
  return new WorkerPool(plain, true, names)
}

/**
 * Poolers answer a setting that they do not take with codes of their own choice; PgBouncer with
 * 08P01. Some only cut the connection. A cut counts as a refusal only at the last try, and only if
 * a connection without the settings is answered.
 */
function mayBeRefusal(error: unknown, isLast: boolean): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  if (code === '08P01' || !isLostConnection(error)) return true
  return isLast && (error as Error).message.startsWith('Connection terminated')
}

/**
 * One connection stays open, and a second one is closed after a minute without use: a process at rest
 * renews its lease about as often as pg closes idle connections, and to make one again, with the plans
 * of its statements, costs more than ten renewals.
 */
function watched(config: pg.PoolConfig, logError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    min: 1,
    idleTimeoutMillis: config.idleTimeoutMillis ?? IDLE_MS,
  })
  pool.on('error', logError)
  handleClientErrors(pool)
  return pool
}
