import type pg from 'pg'
import { bounded, STATEMENT_TIMEOUT_MS } from './query-timeout.ts'
import { isAway } from './connection-errors.ts'

/** Anything that answers a statement: a pool, a client inside a transaction, an adapter of an ORM. */
export interface Db {
  // oxlint-disable-next-line typescript/no-explicit-any -- a row is what its statement says
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount?: number | null }>
}

/**
 * Runs `run` on one connection between `begin` and `commit`; what it throws rolls back. No
 * statement takes longer than `patienceMs`, neither here nor in the server.
 */
export async function transaction<T>(
  pool: pg.Pool,
  run: (db: Db) => Promise<T>,
  {
    begin = 'begin',
    patienceMs = STATEMENT_TIMEOUT_MS,
  }: { begin?: string; patienceMs?: number } = {},
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  // pg-pool takes its own listener off a client that is out: without this one a connection that
  // drops in the middle would end the process.
  const onError = (error: Error) => {
    broken = error
  }
  client.on('error', onError)
  const db = bounded(client, patienceMs)
  try {
    // One round trip for both.
    await db.query(`${begin}; set local statement_timeout = ${patienceMs}`)
    const result = await run(db)
    await db.query('commit')
    return result
  } catch (error) {
    if (isAway(error)) broken = error as Error
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
