// promise: An event published in a transaction exists if and only if the transaction commits
import pg from 'pg'
import t from 'tap'
import type { TransactionOptions } from '@svc/core'
import { startHost } from '../support/host.ts'
import { WorkerRegistry } from '../../../packages/core/src/jobs/worker-registry.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { countOf, startShop } from '../support/shop.ts'
import { until } from '../../support/until.ts'

t.test('a transaction commits what its function does, and returns what it returns', async (t) => {
  const host = await startShop(t)
  const result = await host.app.svc.transaction(async (db) => {
    const { rows } = await db.query('insert into orders values ($1) returning id', [7])
    const published = await host.app.svc.events.publish('a', rows[0], { db })
    return { ...rows[0], ...published }
  })
  t.match(result, { id: String, duplicate: false })
  t.equal(await countOf(host, 'orders'), 1)
  await until(() => host.received.length === 1)
  t.strictSame(host.received, [{ id: 7 }])
  t.equal(await host.app.svc.transaction(() => 5), 5, 'a run that is no async function')
})

t.test('a transaction whose function throws rolls back, and throws the same', async (t) => {
  const host = await startShop(t)
  const { transaction, events } = host.app.svc
  const mine = new Error('changed my mind')
  const run = transaction(async (db) => {
    await db.query('insert into orders values (1)')
    await events.publish('a', 'never', { db })
    throw mine
  })
  await t.rejects(run, mine)
  t.equal(await run.catch((error: unknown) => error), mine, 'the very error')
  await t.rejects(
    transaction(() => {
      throw mine
    }),
    mine,
  )
  t.equal(await countOf(host, 'orders'), 0)
  t.equal(await countOf(host, 'svc."__svc.events"'), 0)
  await events.publish('a', 'then')
  await until(() => host.received.length === 1)
  t.strictSame(host.received, ['then'])
})

t.test(
  'events of a transaction are delivered at once after its commit, without polling',
  async (t) => {
    const { app, received } = await startShop(t)
    const statements: { client: pg.Client; text: string }[] = []
    // oxlint-disable-next-line typescript/unbound-method -- put back below
    const { query } = pg.Client.prototype
    t.teardown(() => {
      pg.Client.prototype.query = query
    })
    pg.Client.prototype.query = function record(this: pg.Client, ...args: unknown[]) {
      const [first] = args as [string | { text: string }]
      statements.push({ client: this, text: typeof first === 'string' ? first : first.text })
      return (query as (...given: unknown[]) => unknown).apply(this, args)
    } as typeof query
    // Workers and timers have transactions as well, on other connections, whenever they like.
    const lastOfOwn = () => {
      const own = statements.find(({ text }) => text === 'select 1 as "own"')?.client
      return statements.findLast(
        ({ client, text }) => client === own && /^(begin|commit)/.test(text),
      )?.text
    }
    // A publish claims its jobs where a worker has room, and else wakes the worker.
    const begun: string[] = []
    for (const name of ['beginIfCommitted', 'wake'] as const) {
      const original = WorkerRegistry.prototype[name] as (queue: string, ...jobs: unknown[]) => void
      WorkerRegistry.prototype[name] = function record(queue: string, ...jobs: unknown[]) {
        begun.push(`${queue} after ${lastOfOwn()}`)
        original.call(this, queue, ...jobs)
      }
      t.teardown(() => {
        WorkerRegistry.prototype[name] = original
      })
    }

    await app.svc.transaction(async (db) => {
      await db.query('select 1 as "own"')
      await app.svc.events.publish('a', 1, { db })
      await app.svc.events.publish('a', 2, { db })
      t.strictSame(begun, [], 'not before')
    })

    t.strictSame([...new Set(begun)], ['__svc.sub/a after commit'])
    await until(() => received.length === 2)
    t.notOk(statements.some(({ text }) => text.includes('pg_xact_status')))
  },
)

t.test('a transaction has the isolation level of its options', async (t) => {
  const { app } = await startShop(t)
  const isolationOf = (options?: TransactionOptions) =>
    app.svc.transaction(async (db) => {
      const { rows } = await db.query('show transaction_isolation')
      return rows[0].transaction_isolation
    }, options)
  t.equal(await isolationOf(), 'read committed')
  t.equal(await isolationOf({}), 'read committed')
  for (const isolation of ['read committed', 'repeatable read', 'serializable'] as const) {
    t.equal(await isolationOf({ isolation }), isolation)
  }
})

t.test('statements of a transaction have no time limit of ours', async (t) => {
  const { app } = await startShop(t)
  const limits = await app.svc.transaction(async (db) => {
    const { rows } = await db.query(
      `select setting from pg_settings where name in ('statement_timeout', 'transaction_timeout', 'lock_timeout')`,
    )
    return rows
  })
  t.ok(limits.every(({ setting }) => setting === '0'))
})

t.test(
  'a transaction whose connection breaks rejects with Unavailable, and the pool stays usable',
  async (t) => {
    const database = await freshDatabase(t)
    const proxy = await proxyPostgres(t, database)
    const core = { worker: { enabled: false } }
    const host = await startHost(t, { database: proxy.url, core })
    await host.app.svc.database.query('create table orders (id int primary key)')
    for (const isUnnoticed of [false, true]) {
      await t.rejects(
        host.app.svc.transaction(async (db) => {
          await db.query('insert into orders values (1)')
          proxy.cut()
          if (isUnnoticed) await until(() => proxy.connections() === 0)
          else await db.query('insert into orders values (2)')
        }),
        {
          code: 'SVC_UNAVAILABLE',
          cause: { message: /terminated|not queryable|closed|ECONNRESET/ },
        },
      )
      proxy.mend()
      const { rows } = await until(() =>
        host.app.svc.database.query('select count(*)::int as n from orders').catch(() => undefined),
      ).then((answer) => answer as pg.QueryResult)
      t.strictSame(rows, [{ n: 0 }])
    }
    t.equal(host.app.svc.database.idleCount, host.app.svc.database.totalCount, 'none is kept out')
  },
)

t.test('a transaction whose client the server ends rejects with Unavailable', async (t) => {
  const { app } = await startShop(t)
  await t.rejects(
    app.svc.transaction(async (db) => {
      const { rows } = await db.query('select pg_backend_pid() as pid')
      await app.svc.database.query('select pg_terminate_backend($1)', [rows[0].pid])
      await db.query('select 1')
    }),
    { code: 'SVC_UNAVAILABLE', cause: { message: /terminat|not queryable/ } },
  )
  t.equal(await app.svc.transaction(() => 'the next one works'), 'the next one works')
})

t.test(
  'a transaction without a free connection in the pool rejects with Unavailable',
  async (t) => {
    const { app } = await startHost(t, { core: { worker: { enabled: false } } })
    const { options } = app.svc.database
    const clients = await Promise.all(
      Array.from({ length: options.max ?? 0 }, () => app.svc.database.connect()),
    )
    // Only now: a new connection may take longer.
    options.connectionTimeoutMillis = 300
    await t.rejects(
      app.svc.transaction(() => t.fail('has no connection to run on')),
      {
        code: 'SVC_UNAVAILABLE',
        cause: { message: /timeout exceeded when trying to connect/ },
      },
    )
    for (const client of clients) client.release()
    options.connectionTimeoutMillis = 5000
    t.equal(await app.svc.transaction(() => 1), 1)
  },
)

t.test('many concurrent transactions share the pool', async (t) => {
  const host = await startShop(t)
  const ids = Array.from({ length: 40 }, (_, id) => id)
  await Promise.all(
    ids.map((id) =>
      host.app.svc.transaction(async (db) => {
        await db.query('insert into orders values ($1)', [id])
        await host.app.svc.events.publish('a', id, { db })
      }),
    ),
  )
  t.equal(await countOf(host, 'orders'), ids.length)
  await until(() => host.received.length === ids.length)
})

t.test('a transaction of ours can have more time for its statements than others', async (t) => {
  const { core } = await startHost(t, { core: { worker: { enabled: false } } })
  const limitOf = (limit?: { timeoutMs: number }) =>
    core.within(
      undefined,
      async (db) => (await db.query('show statement_timeout')).rows[0].statement_timeout,
      limit,
    )
  t.equal(await limitOf(), '15s')
  t.equal(await limitOf({ timeoutMs: 120_000 }), '2min')
})

t.test('a transaction that sends no statement for long is ended, and says so', async (t) => {
  const { app } = await startHost(t, {
    core: { transactionIdleSeconds: 1, worker: { enabled: false } },
  })
  const { transaction, database, events } = app.svc
  const idle = async () => {
    const { rows } = await database.query(
      `select from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'`,
    )
    return rows.length > 0
  }
  const said = {
    code: 'SVC_CORE_INVALID_TRANSACTION',
    statusCode: 500,
    message: /no statement came for 1 s,.*transactionIdleSeconds/,
  }
  let usedLater: Promise<unknown> | undefined
  const late = transaction(async (db) => {
    await events.publish('a', 1, { id: 'o-1', db })
    await until(idle)
    await until(async () => !(await idle()))
    usedLater = db.query('select 1')
    await usedLater.catch(() => {})
  })
  await t.rejects(late, said)
  await t.rejects(usedLater!, said)
  t.match(await events.publish('a', 1, { id: 'o-1' }), { duplicate: false })

  const mine = new Error('the other server is away')
  const thrown = transaction(async () => {
    await until(idle)
    await until(async () => !(await idle()))
    throw mine
  })
  t.equal(await thrown.catch((error: unknown) => error), mine)

  // As long as the host likes, while a statement runs.
  await transaction((db) => db.query('select pg_sleep(1.5)'))
  // A shorter limit of the session stays.
  const limits = await Promise.all(
    ['500ms', '2min', '0'].map((own) =>
      database.connect().then(async (client) => {
        await client.query(`set idle_in_transaction_session_timeout = '${own}'`)
        client.release()
        return transaction(async (db) => {
          const { rows } = await db.query(
            `select current_setting('idle_in_transaction_session_timeout') as own`,
          )
          return rows[0].own as string
        })
      }),
    ),
  )
  t.ok(limits.every((own) => own === '500ms' || own === '1s'))
})

t.test('an error that the function of a transaction throws is passed on unchanged', async (t) => {
  const { app } = await startHost(t)
  const ofAnotherServer = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const thrown = app.svc.transaction(() => {
    throw ofAnotherServer
  })
  t.equal(await thrown.catch((error: unknown) => error), ofAnotherServer)
})
