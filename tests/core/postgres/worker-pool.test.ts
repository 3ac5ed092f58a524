import { once } from 'node:events'
import pg from 'pg'
import t from 'tap'
import { WorkerPool, openWorkerPool } from '../../../packages/core/src/postgres/worker-pool.ts'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'

const show = 'show synchronous_commit'

t.test('claims and settles do not wait for the disk, with and without a pooler', async (t) => {
  const connectionString = await emptyDatabase(t)
  const direct = await openWorkerPool({ connectionString, max: 1 }, () => {})
  const pooled = new WorkerPool(new pg.Pool({ connectionString, max: 1 }), true)
  pooled.pool.on('error', () => {})
  t.teardown(() => Promise.all([direct.pool.end(), pooled.pool.end()]))

  for (const workerPool of [direct, pooled]) {
    t.same((await workerPool.query(show)).rows, [{ synchronous_commit: 'off' }])
    t.same((await workerPool.transaction((db) => db.query(show))).rows, [
      { synchronous_commit: 'off' },
    ])
  }
  t.equal(direct.pooled, false)
  t.same(
    (await pooled.pool.query(show)).rows,
    [{ synchronous_commit: 'on' }],
    'what the pooler gives to others afterwards does',
  )
})

t.test('a server that is full for a moment is not taken for a pooler', async (t) => {
  const { url } = await proxyPostgres(t, await emptyDatabase(t), { fullFor: 2 })
  const workerPool = await openWorkerPool({ connectionString: url, max: 1 }, () => {})
  t.teardown(() => workerPool.pool.end())
  t.equal(workerPool.pooled, false)
  t.same((await workerPool.query(show)).rows, [{ synchronous_commit: 'off' }])
})

t.test('a server that stays full is an error', async (t) => {
  const { url } = await proxyPostgres(t, await emptyDatabase(t), { fullFor: 1000 })
  await t.rejects(
    openWorkerPool({ connectionString: url, max: 1 }, () => {}),
    { code: '53300' },
  )
})

t.test('a pooler that closes connections with session settings is recognised', async (t) => {
  const { url } = await proxyPostgres(t, await emptyDatabase(t), { cutsOptions: true })
  const workerPool = await openWorkerPool({ connectionString: url, max: 1 }, () => {})
  t.teardown(() => workerPool.pool.end())
  t.equal(workerPool.pooled, true)
})

t.test('one connection stays open at rest', async (t) => {
  const config = { connectionString: await emptyDatabase(t), max: 2, idleTimeoutMillis: 20 }
  const { pool } = await openWorkerPool(config, () => {})
  t.teardown(() => pool.end())
  const clients = await Promise.all([pool.connect(), pool.connect()])
  const removed = once(pool, 'remove')
  for (const client of clients) client.release()
  await removed
  t.equal(pool.totalCount, 1)
})

t.test('others are closed after a minute without use', async (t) => {
  const config = { connectionString: await emptyDatabase(t), max: 2 }
  const { pool } = await openWorkerPool(config, () => {})
  t.teardown(() => pool.end())
  t.equal(pool.options.idleTimeoutMillis, 60_000)
})
