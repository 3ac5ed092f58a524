import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createActions } from '../../../packages/core/src/actions/actions.ts'
import { connectWithin } from '../../../packages/core/src/postgres/connect-within.ts'
import {
  isConnectionError,
  isOutage,
} from '../../../packages/core/src/postgres/connection-errors.ts'
import {
  withQueryTimeout,
  poolWithQueryTimeout,
} from '../../../packages/core/src/postgres/query-timeout.ts'
import { markPooled } from '../../../packages/core/src/postgres/session-settings.ts'
import { transaction, type Db } from '../../../packages/core/src/postgres/transaction.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'

async function poolOf(t: Test): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: await freshDatabase(t), max: 1 })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  return pool
}

t.test('a statement that gets no answer ends, and gives its place in the pool back', async (t) => {
  const pool = await poolOf(t)
  const error = await poolWithQueryTimeout(pool, 50)
    .query('select pg_sleep(60)')
    .catch((reason: unknown) => reason)
  t.ok(isConnectionError(error), 'as if the server were away')
  t.same((await poolWithQueryTimeout(pool).query('select $1::int as n', [7])).rows, [{ n: 7 }])
})

t.test(
  'a slow statement in a transaction is ended by the server, which is no outage',
  async (t) => {
    const pool = await poolOf(t)
    const run = () => {
      const late = transaction(pool, (db) => db.query('select pg_sleep(60)'), { timeoutMs: 50 })
      return late.catch((reason: unknown) => reason)
    }
    // A busy machine may not hear of the end in time: then once more.
    const error = await until(run, (reason) => !isConnectionError(reason))
    t.match(error, { code: '57014' })
    const { rows } = await transaction(pool, (db) => db.query('select 1 as n'))
    t.same(rows, [{ n: 1 }])
  },
)

t.test('behind a pooler a statement that a lock held up leaves no transaction open', async (t) => {
  const pool = await poolOf(t)
  await pool.query(
    `create function public.held() returns int language plpgsql as
       $$ begin raise lock_not_available; end $$`,
  )
  markPooled(pool)
  const db = poolWithQueryTimeout(pool)
  await t.rejects(db.query('select public.held() where $1', [true]), { code: '55P03' })
  t.same((await db.query('select $1::int as n', [7])).rows, [{ n: 7 }])
})

t.test('a statement of a shared pool that timed out is cancelled in the server', async (t) => {
  const pool = await poolOf(t)
  const other = await poolOf(t)
  // Connected, so that the time is that of the statement, and that of its cancellation.
  await pool.query('select 1')
  await other.query('select 1')
  const cancelled: number[] = []
  const db = poolWithQueryTimeout(pool, 50, async (processId) => {
    cancelled.push(processId)
    return await other.query('select pg_cancel_backend($1)', [processId])
  })
  let asked = 0
  const ask = () => {
    asked++
    return db.query('select pg_sleep(60)').catch((reason: unknown) => reason)
  }
  // A busy machine may not hear the server's answer in time: then once more.
  const late = await until(ask, (reason) => !isOutage(reason))
  t.ok(isConnectionError(late), 'a 503')
  t.equal(cancelled.length, asked)
  await until(async () => {
    const { rows } = await other.query('select from pg_stat_activity where pid = any($1::int[])', [
      cancelled,
    ])
    return rows.length === 0
  })
  // With the usual time: it takes a new connection, and this machine may be busy.
  t.same((await poolWithQueryTimeout(pool).query('select 1 as n')).rows, [{ n: 1 }])
})

t.test('a statement that a silent server does not even cancel is an outage', async (t) => {
  const pool = await poolOf(t)
  await pool.query('select 1')
  for (const cancel of [async () => undefined, async () => Promise.reject(new Error('away'))]) {
    const db = poolWithQueryTimeout(pool, 50, cancel)
    t.ok(isOutage(await db.query('select pg_sleep(60)').catch((reason: unknown) => reason)))
  }
})

t.test('an error leads to who made the statement', async (t) => {
  const pool = await poolOf(t)
  const client = await pool.connect()
  t.teardown(() => client.release())
  const ask = async (db: Db) => await db.query('select wrong')
  const error = await ask(withQueryTimeout(client)).catch((reason: unknown) => reason)
  t.match(error, { code: '42703', stack: /column "wrong" does not exist[^]+query-timeout\.test/ })
})

t.test('a client whose query the host has wrapped works', async (t) => {
  // oxlint-disable-next-line typescript/no-explicit-any -- as pg's many overloads
  type Query = (...given: any[]) => any
  const wrappers: ((query: Query) => Query)[] = [
    (query) => (statement) => query(statement),
    (query) => async (statement) => await query(statement),
    (query) =>
      async (...given) =>
        await query(...given),
    // This wrapper reads the answer.
    (query) =>
      async (...given) => {
        const answer = await query(...given)
        t.type(answer.rows, Array)
        return answer
      },
  ]
  for (const wrapped of wrappers) {
    const pool = await poolOf(t)
    const client = await pool.connect()
    const query = wrapped(client.query.bind(client))
    const proxy = new Proxy(client, {
      get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)),
    })
    const own = Object.assign(Object.create(client), { query }) as pg.PoolClient
    for (const db of [withQueryTimeout(proxy), withQueryTimeout(own)]) {
      t.same((await db.query('select $1::int as n', [7])).rows, [{ n: 7 }])
      await t.rejects(db.query('select wrong'), { code: '42703' })
    }
    client.release()
  }
})

t.test('a query_timeout of the host does not end statements of ours', async (t) => {
  const connectionString = await freshDatabase(t)
  const pool = new pg.Pool({ connectionString, max: 1, query_timeout: 50 })
  t.teardown(() => pool.end())
  const slow = 'select pg_sleep(0.2)'
  await t.rejects(pool.query(slow), { message: 'Query read timeout' })
  await t.resolves(poolWithQueryTimeout(pool).query(slow))
  await t.resolves(transaction(pool, (db) => db.query(slow)))
  const error = await poolWithQueryTimeout(pool, 50).query('select pg_sleep(60)').catch(String)
  t.match(error, /Query read timeout/)
})

t.test('a client that throws leaves no timer', async (t) => {
  class Throwing {
    query(): never {
      throw new Error('thrown')
    }
  }
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  await t.rejects(withQueryTimeout(new Throwing()).query('select 1'), { message: 'thrown' })
  t.equal(timers(), before)
})

t.test('what a statement has returned is not kept', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'major' | 'minor' }) => void
  const pool = await poolOf(t)
  const db = poolWithQueryTimeout(pool)
  const ask = async (times: number) => {
    for (let n = 0; n < times; n++) await db.query("select repeat('x', 10000), $1::int", [n])
  }
  let grownBy = 0
  for (let round = 0; round < 4; round++) {
    collect({ type: 'major' })
    const before = process.memoryUsage().heapUsed
    await ask(2000)
    collect({ type: 'minor' })
    grownBy += process.memoryUsage().heapUsed - before
  }
  t.ok(grownBy < 60_000_000, `80 MB were returned, the heap grew by ${grownBy}`)
})

t.test('an action rejects with the error of its route while Postgres is unavailable', async (t) => {
  const actions = createActions() as unknown as {
    register(name: string, handler: () => Promise<never>): void
    call(name: string): Promise<never>
  }
  const away = Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
  actions.register('test.away', async () => Promise.reject(away))
  actions.register('test.wrong', async () => Promise.reject(new Error('x')))
  await t.rejects(actions.call('test.away'), {
    code: 'SVC_UNAVAILABLE',
    statusCode: 503,
    cause: away,
  })
  await t.rejects(actions.call('test.wrong'), { message: 'x' })
})

t.test('the wait for a connection of a pool without a limit of its own ends', async (t) => {
  const pool = await poolOf(t)
  const only = await pool.connect()
  const error = await connectWithin(pool, 50).catch((reason: unknown) => reason)
  t.ok(isConnectionError(error), 'as if the server were away')
  only.release()
  await until(() => pool.idleCount === 1)
  t.equal(pool.waitingCount, 0, 'what came too late has been given back')
  const next = await connectWithin(pool)
  next.release()
})
