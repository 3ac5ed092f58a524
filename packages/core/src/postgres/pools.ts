import pg from 'pg'
import { handleClientErrors } from './client-errors.ts'
import { addressOf, configOf, isPool, withServerOptions } from './connection-config.ts'
import { DatabaseNotUtf8, DatabaseTooOld, DatabaseUnreachable } from '../errors.ts'
import { openWorkerPool } from './worker-pool.ts'
import type { DatabaseConfig } from './host-list.ts'
import { Readers } from './readers.ts'
import { poolWithQueryTimeout } from './query-timeout.ts'
import { transaction, type Db, type Terms } from './transaction.ts'
import { whyUnreachable } from './connection-errors.ts'
import type { SchemaNames, StatementPool } from './schema-names.ts'
import { ServerWatch } from './server-watch.ts'
import { AT_START, markPooled } from './session-settings.ts'
import { within } from '../time.ts'

/**
 * The pools of a process. Together they stay within the configured `max` plus two connections, and the
 * option `readers`: `pool` has the configured size, `workerPool` and the listener share the two that are
 * added (a pool that we made gives one of its own to `workerPool`, so that fetching and settling need not
 * queue). `held` has two more, while it is used, and `watch` one for a moment where a statement takes its time,
 * and one to each other host of a list.
 */
export type Database = Awaited<ReturnType<typeof openDatabase>>

export const DEFAULT_READERS = 2
const HELD_CONNECTIONS = 2
const HELD_IDLE_MS = 5000
const OLDEST = 150_000
/** Below the ten seconds that Fastify gives a plugin. */
const ANSWER_WITHIN_MS = 8000
const CLOSED_WITHIN_MS = 5000
/** The time limit of statements that scan whole tables, as sweeps and some of pg-boss's do. */
export const LONG_STATEMENT_MS = 120_000

/**
 * Opens the pools and makes sure that a server answers that is new enough.
 *
 * @throws InvalidOption where the option cannot be read
 * @throws DatabaseUnreachable with the address and the reason, never the password
 * @throws DatabaseTooOld, DatabaseNotUtf8
 */
export async function openDatabase(
  option: string | DatabaseConfig | pg.Pool,
  logError: (error: Error) => void,
  {
    readers = DEFAULT_READERS,
    names,
    logRefusal = logError,
  }: {
    readers?: number
    names?: SchemaNames | undefined
    /** Gets the error of a write that the server refuses at the moment, once a minute. */
    logRefusal?: (error: Error) => void
  } = {},
) {
  const given = isPool(option) ? option : undefined
  const config = configOf(option)
  const max = config.max ?? 10
  const forWorkers = given || max === 1 ? 0 : 1

  const hostPool = given ?? new pg.Pool({ ...config, max: max - forWorkers })
  const watch = new ServerWatch(config, logError, logRefusal)
  // Of two hosts on one pool each has names of its own.
  const pool: StatementPool = {
    connect: () => {
      watch.wake()
      return hostPool.connect()
    },
    options: hostPool.options,
    names,
  }
  hostPool.on('error', logError)
  const stopHandling = handleClientErrors(hostPool)
  const stopWatching = watch.watchPool(hostPool)
  try {
    await assertUsable(hostPool)
    const workerPool = await openWorkerPool({ ...config, max: 1 + forWorkers }, logError, names)
    const reading = new Readers(config, readers, { pooled: workerPool.pooled, logError, names })
    const held = Object.assign(
      new pg.Pool({
        ...config,
        max: HELD_CONNECTIONS,
        min: 0,
        idleTimeoutMillis: HELD_IDLE_MS,
      }),
      { names },
    )
    held.on('error', logError)
    handleClientErrors(held)
    for (const one of [workerPool.pool, reading.pool, held]) watch.watchPool(one)
    if (workerPool.pooled) {
      watch.markPooled()
      for (const one of [pool, held]) markPooled(one)
    }
    const { pooled } = workerPool
    const cancel = pooled ? undefined : (id: number) => workerPool.query(CANCEL, [id])
    const statements = (ms?: number): Db => poolWithQueryTimeout(pool, ms, cancel)
    return {
      /** The pool that the host has given, or the one that is opened by the option `database`. */
      hostPool,
      /** The same for our statements. */
      pool,
      /** `pool` with a time limit on each statement: 15 seconds, or that of `within` or `transaction`. */
      db: {
        ...statements(),
        within: statements,
        transaction: <T>(run: (db: Db) => Promise<T>, terms?: Terms): Promise<T> =>
          transaction(pool, run, terms),
      },
      /** For jobs: fetches, settlements, the lease. See worker-pool.ts. */
      workerPool,
      /** For what only reads, see readers.ts. */
      readers: reading,
      /** For statements that wait for a lock of others: nobody waits for one of these connections. */
      held: poolWithQueryTimeout(held),
      /** Whether there is a pooler in between: it loses what a session sets, prepares or listens to. */
      pooled,
      /** Notices connections of these pools that nobody answers any more, and that of the listener. */
      watch,
      /** The config of the one connection that listens. */
      listener: pooled ? config : withServerOptions(config, FOR_THE_LISTENER),
      async close() {
        watch.close()
        stopWatching()
        await Promise.all([endPool(workerPool.pool), endPool(reading.pool), endPool(held)])
        if (!given) return endPool(hostPool)
        stopHandling()
        hostPool.off('error', logError)
      },
    }
  } catch (error) {
    watch.close()
    if (given) {
      stopWatching()
      stopHandling()
      hostPool.off('error', logError)
    }
    // Not awaited: a connection that is still being made would hold the error up.
    else void hostPool.end()
    if (error instanceof DatabaseTooOld || error instanceof DatabaseNotUtf8) throw error
    throw new DatabaseUnreachable(whyUnreachable(error, addressOf(config)))
  }
}

/** Not a commit that waits for a standby: Postgres would show it at once, and a failover would lose it. */
const CANCEL = `select pg_cancel_backend(pid) from pg_stat_activity
  where pid = $1 and wait_event is distinct from 'SyncRep'`

/** It is idle for as long as nothing is published. */
const FOR_THE_LISTENER = `${AT_START} -c idle_session_timeout=0`

async function assertUsable(pool: pg.Pool): Promise<void> {
  const server = await answerOf(pool)
  if (server.number < OLDEST) throw new DatabaseTooOld(server.text)
  if (server.encoding !== 'UTF8') throw new DatabaseNotUtf8(server.encoding)
}

/** A pool that was given may wait for a connection without end. */
async function answerOf(
  pool: pg.Pool,
): Promise<{ number: number; text: string; encoding: string }> {
  const answer = pool.query(
    `select current_setting('server_version_num')::int as number,
            current_setting('server_version') as text,
            current_setting('server_encoding') as encoding`,
  )
  const { rows } = await within(ANSWER_WITHIN_MS, answer, () => {
    throw new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} seconds`)
  })
  return rows[0]
}

/**
 * pg-pool's own `end` resolves before the sockets are closed, and waits without a limit for clients
 * that are not returned.
 */
async function endPool(pool: pg.Pool): Promise<void> {
  const closed = Promise.withResolvers<void>()
  let open = pool.totalCount
  if (open === 0) closed.resolve()
  pool.on('remove', () => {
    if (--open === 0) closed.resolve()
  })
  void pool.end()
  await within(CLOSED_WITHIN_MS, closed.promise, () => {})
}
