import type pg from 'pg'
import { TransactionRolledBack } from '../errors.ts'
import { connectWithin } from './connect-within.ts'
import { limitsOf, withQueryTimeout, STATEMENT_TIMEOUT_MS } from './query-timeout.ts'
import { BEGIN, needsSettings, SET_LOCAL } from './session-settings.ts'
import { isLostConnection } from './connection-errors.ts'
import type { Db } from './db.ts'
import type { StatementPool } from './schema-names.ts'

export type { Db } from './db.ts'

export interface TimeLimit {
  /** Longest duration of a statement, here and in the server. @default STATEMENT_TIMEOUT_MS */
  timeoutMs?: number
  /** Longest wait for one lock: then the statement fails with 55P03. @default as the server has it */
  lockMs?: number | undefined
}

export interface Terms extends TimeLimit {
  /** @default BEGIN */
  begin?: string
}

/**
 * Runs `run` on one connection between `begin` and `commit`; what it throws rolls back. No
 * statement takes longer than `timeoutMs`, neither here nor in the server.
 */
export function transaction<T>(
  pool: StatementPool,
  run: (db: Db) => Promise<T>,
  { begin = BEGIN, timeoutMs = STATEMENT_TIMEOUT_MS, lockMs }: Terms = {},
): Promise<T> {
  // One round trip for all of them.
  const limits = [limitsOf(timeoutMs)]
  if (lockMs !== undefined) limits.push(`set local lock_timeout = ${lockMs}`)
  return onConnection(pool, timeoutMs, async (client, db) => {
    if (await needsSettings(pool, client, db)) limits.push(SET_LOCAL)
    await db.query([begin, ...limits].join('; '))
    const result = await run(db)
    await commit(db)
    return result
  })
}

/**
 * Runs a transaction of the host, whose statements may take as long as they need: only `begin` and
 * `rollback` are bounded. `commit` is not, since deferred constraints run in it.
 */
export function unlimitedTransaction<T>(
  pool: StatementPool,
  run: (client: pg.PoolClient) => Promise<T>,
  begin: string,
): Promise<T> {
  return onConnection(pool, STATEMENT_TIMEOUT_MS, async (client, db) => {
    await db.query(begin)
    const result = await run(client)
    await commit(client)
    return result
  })
}

/** Postgres answers the `commit` of a failed transaction with a rollback, and no error. */
async function commit(db: Db): Promise<void> {
  const { command } = (await db.query('commit')) as { command?: string }
  if (command === 'ROLLBACK') throw new TransactionRolledBack()
}

async function onConnection<T>(
  pool: StatementPool,
  timeoutMs: number,
  work: (client: pg.PoolClient, db: Db) => Promise<T>,
): Promise<T> {
  const client = await connectWithin(pool)
  let broken: Error | undefined
  // pg-pool takes its own listener off a client that is out: without this one a connection that
  // drops in the middle would end the process.
  const onError = (error: Error) => {
    broken = error
  }
  client.on('error', onError)
  const db = withQueryTimeout(client, timeoutMs, pool.names)
  try {
    return await work(client, db)
  } catch (error) {
    if (isLostConnection(error)) broken = error as Error
    else {
      await db.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError
      })
    }
    throw error
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}
