import t from 'tap'
import { countOf, startShop } from '../support/shop.ts'

t.test('a transaction with wrong arguments is refused by name before it begins', async (t) => {
  const { app } = await startShop(t)
  const { transaction } = app.svc
  const code = 'SVC_CORE_INVALID_OPTION'
  const wrong: [unknown, unknown, RegExp][] = [
    [undefined, undefined, /svc\.transaction takes a function, got undefined/],
    ['begin', undefined, /svc\.transaction takes a function, got a string/],
    [
      () => {},
      { isolation: 'snapshot' },
      /"isolation" must be "read committed", "repeatable read"/,
    ],
    [() => {}, { isolation: 'serializable; drop table orders' }, /"isolation" must be/],
    [() => {}, { isolationLevel: 'serializable' }, /no option "isolationLevel".*isolation/],
    [() => {}, null, /must be an object, got null/],
  ]
  for (const [run, options, message] of wrong) {
    await t.rejects(transaction(run as never, options as never), { code, message })
  }
})

t.test('a transaction with a failed statement rejects, even if it was caught', async (t) => {
  const host = await startShop(t)
  await t.rejects(
    host.app.svc.transaction(async (db) => {
      await db.query('insert into orders values (1)')
      await db.query('insert into orders values (1)').catch(() => {})
      return 'all is well'
    }),
    { code: 'SVC_CORE_TRANSACTION_ROLLED_BACK', message: /a statement in it failed/ },
  )
  t.equal(await countOf(host, 'orders'), 0)
  await host.app.svc.transaction(async (db) => {
    await db.query('insert into orders values (1)')
    await db.query('savepoint again')
    await db.query('insert into orders values (1)').catch(() => {})
    await db.query('rollback to savepoint again')
  })
  t.equal(await countOf(host, 'orders'), 1, 'a savepoint keeps the rest')
})

t.test('a transaction that its function has ended itself is an error', async (t) => {
  const { app } = await startShop(t)
  for (const end of ['commit', 'rollback']) {
    await t.rejects(
      app.svc.transaction(async (db) => void (await db.query(end))),
      { code: 'SVC_CORE_INVALID_TRANSACTION', message: /run ended it with a statement of its own/ },
    )
  }
  const { rows } = await app.svc.database.query('select 1 as one')
  t.strictSame(rows, [{ one: 1 }])
})

t.test('the db of a transaction is refused after its end', async (t) => {
  const host = await startShop(t)
  const { transaction, events } = host.app.svc
  const kept = await transaction((db) => ({ db }))
  const code = 'SVC_CORE_INVALID_TRANSACTION'
  const message = /has ended/
  await t.rejects(kept.db.query('insert into orders values (1)'), { code, message })
  await t.rejects(events.publish('a', 1, kept), { code, message })
  t.equal(await countOf(host, 'orders'), 0)
})

t.test('a publish that was not awaited in a transaction is an error, and rolls back', async (t) => {
  const host = await startShop(t)
  const { transaction, events } = host.app.svc
  let published: Promise<unknown> = Promise.resolve()
  await t.rejects(
    transaction((db) => {
      published = events.publish('a', 1, { db })
      published.catch(() => {})
    }),
    { code: 'SVC_CORE_INVALID_TRANSACTION', message: /await every publish/ },
  )
  await t.rejects(published)
  t.equal(await countOf(host, 'svc."__svc.events"'), 0)
})

t.test('a transaction within a transaction is refused', async (t) => {
  const host = await startShop(t)
  const { transaction } = host.app.svc
  await t.rejects(
    transaction(async (db) => {
      await db.query('insert into orders values (1)')
      await transaction((inner) => inner.query('insert into orders values (2)'))
    }),
    { code: 'SVC_CORE_INVALID_TRANSACTION', message: /within another.*savepoint/ },
  )
  t.equal(await countOf(host, 'orders'), 0)
  await Promise.all(
    [1, 2].map((id) => transaction((db) => db.query(`insert into orders values (${id})`))),
  )
  t.equal(await countOf(host, 'orders'), 2, 'side by side they do not see each other')
  const other = await startShop(t)
  await transaction(() => other.app.svc.transaction((db) => db.query('select 1')))
})

t.test('code that was started in a transaction can begin another one after its end', async (t) => {
  const { app } = await startShop(t)
  const ended = Promise.withResolvers<void>()
  let later: Promise<unknown> | undefined
  await app.svc.transaction(() => {
    later = ended.promise.then(() => app.svc.transaction((db) => db.query('select 1')))
  })
  ended.resolve()
  t.match(await later, { rows: [Object] })
})
