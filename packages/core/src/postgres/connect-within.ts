/**
 * A connection of a pool, or an error in time. A pool that the host made may wait without end: for
 * a free connection, or for a server that accepts a connection and then does not answer.
 */
import type pg from 'pg'
import { within } from '../time.ts'

const CONNECT_MS = 15_000

/** @throws an error as pg-pool's own where none was to be had within `ms` */
export async function connectWithin(
  pool: Pick<pg.Pool, 'connect' | 'options'>,
  ms = CONNECT_MS,
): Promise<pg.PoolClient> {
  // Such a pool has a limit of its own.
  if (pool.options?.connectionTimeoutMillis) return pool.connect()
  const connecting = pool.connect()
  return within(ms, connecting, () => {
    // A connection that comes later is returned to the pool.
    connecting.then(
      (client) => client.release(),
      () => {},
    )
    throw new Error('timeout exceeded when trying to connect')
  })
}
