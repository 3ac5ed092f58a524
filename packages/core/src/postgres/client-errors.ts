import type pg from 'pg'

/**
 * Gives each client of a pool a listener of its errors for good. pg-pool takes its own off when it
 * hands a client out, and `await pool.connect()` goes on a moment later: an error that comes in
 * between has no listener, and would end the process.
 *
 * @returns the function that does so no more; clients keep the listener that they have
 */
export function handleClientErrors(pool: pg.Pool): () => void {
  const listening = new WeakSet<pg.PoolClient>()
  const listenTo = (client: pg.PoolClient) => {
    if (listening.has(client)) return
    listening.add(client)
    // The caller that uses the client gets the error from its statements.
    client.on('error', () => {})
  }
  pool.on('connect', listenTo)
  // A pool that was given has clients already.
  pool.on('acquire', listenTo)
  return () => {
    pool.off('connect', listenTo)
    pool.off('acquire', listenTo)
  }
}
