import type pg from 'pg'

/**
 * Gives each client of a pool a listener of its errors. pg-pool takes its own off when it
 * hands a client out, and `await pool.connect()` goes on a moment later: an error that comes in
 * between has no listener, and would end the process.
 *
 * @returns the function that takes the listeners off: a pool that was given outlives its hosts
 */
export function handleClientErrors(pool: pg.Pool): () => void {
  const listening = new Set<pg.PoolClient>()
  // The caller that uses the client gets the error from its statements.
  const onError = () => {}
  const listenTo = (client: pg.PoolClient) => {
    if (listening.has(client)) return
    listening.add(client)
    client.on('error', onError)
  }
  // It keeps the listener: its socket may break while it ends.
  const forget = (client: pg.PoolClient) => void listening.delete(client)
  pool.on('remove', forget)
  pool.on('connect', listenTo)
  // A pool that was given has clients already.
  pool.on('acquire', listenTo)
  return () => {
    pool.off('connect', listenTo)
    pool.off('acquire', listenTo)
    pool.off('remove', forget)
    for (const client of listening) client.off('error', onError)
    listening.clear()
  }
}
