import pg from 'pg'
import t from 'tap'
import { handleClientErrors } from '../../../packages/core/src/postgres/client-errors.ts'
import { freshDatabase } from '../../support/fresh-database.ts'

t.test('a client that breaks just as it is handed out ends no process', async (t) => {
  const pool = new pg.Pool({ connectionString: await freshDatabase(t), max: 1 })
  // The database is dropped while the pool's connections close.
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  // A pool that was given has clients already.
  await pool.query('select 1')
  const stopHandling = handleClientErrors(pool)
  for (let use = 0; use < 3; use++) {
    await new Promise<void>((resolve, reject) => {
      pool.connect((error, client, release) => {
        if (error || !client) return reject(error ?? new Error('no client'))
        t.ok(client.emit('error', new Error('terminated')), 'before any other listener is there')
        t.equal(client.listenerCount('error'), 1, 'one listener, however often it is handed out')
        release()
        resolve()
      })
    })
  }
  stopHandling()
  t.equal(pool.listenerCount('acquire') + pool.listenerCount('connect'), 0)
  const client = await pool.connect()
  t.equal(client.listenerCount('error'), 0, 'a pool that was given outlives its hosts')
  client.release()
})
