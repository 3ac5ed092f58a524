/** The operations as methods of `app.svc.webhooks`. */
import t, { type Test } from 'tap'
import type { Db } from '@svc/core'
import { useCore } from '@svc/core/internal'
import { receiver as openReceiver } from '@svc/core/testing'
import { startHost, type Host } from '../support/host.ts'
import { until } from '../../support/until.ts'

const URL = 'https://receiver.example/'

/** Runs `run` in a transaction that the host began itself, and commits it or rolls it back. */
async function inTransaction(
  { app }: Host,
  run: (db: Db) => Promise<unknown>,
  end: 'commit' | 'rollback',
): Promise<void> {
  const client = await app.svc.database.connect()
  try {
    await client.query('begin')
    await run(client)
    await client.query(end)
  } finally {
    client.release()
  }
}

/** A webhook, and a delivery of it that is dead. */
async function startWithDeadLetter(t: Test) {
  const host = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const receiver = await openReceiver({ answer: 500 })
  t.teardown(() => receiver.close())
  const { id } = await host.register(receiver.url)
  await host.app.svc.events.publish('order.created', { n: 1 })
  const [dead] = await until(
    () => host.app.svc.webhooks.listDeadLetters(id),
    (letters) => letters.length === 1,
  )
  receiver.answer(200)
  return { host, receiver, id, deliveryId: dead!.deliveryId }
}

t.test('there is a method for each named action, and it does the same', async (t) => {
  const { app } = await startHost(t)
  const { webhooks, actions } = app.svc
  const { as: _, ...methods } = webhooks
  const names = Object.keys(methods).map((name) => `__svc.webhooks.${name}`)
  t.same(
    names.toSorted(),
    actions
      .names()
      .filter((name) => name.startsWith('__svc.webhooks.'))
      .toSorted(),
  )
  // The methods are closures: they can be taken out of the object.
  const { register, get, list, update, rotateSecret, delete: remove } = webhooks
  const made = await register({ url: URL, events: ['*'], label: 'mine' })
  t.same(await get(made.id), made)
  t.same(await actions.call('__svc.webhooks.get', made.id), made)
  t.match(await update({ id: made.id, active: false }), { id: made.id, active: false })
  t.not((await rotateSecret({ id: made.id })).secret, made.secret)
  t.same(await list({ limit: 1 }), await actions.call('__svc.webhooks.list'))
  t.equal(await remove(made.id), undefined)
  t.same(await list(), [])
})

t.test('lists are read in pages', async (t) => {
  const { app } = await startHost(t)
  const { webhooks } = app.svc
  const made = []
  for (let n = 0; n < 3; n++) made.push((await webhooks.register({ url: URL, events: ['*'] })).id)
  const [newest] = await webhooks.list({ limit: 1 })
  t.equal(newest!.id, made[2])
  const rest = await webhooks.list({ after: newest!.id })
  t.same(
    rest.map(({ id }) => id),
    [made[1], made[0]],
  )
})

t.test('a webhook that is registered in a transaction is there after its commit', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver()
  t.teardown(() => receiver.close())
  const { webhooks, events } = host.app.svc
  const register = (db: Db) =>
    webhooks.register({ url: receiver.url, events: ['order.created'] }, { db })

  await inTransaction(host, register, 'rollback')
  t.same(await webhooks.list(), [])
  await inTransaction(
    host,
    async (db) => {
      await register(db)
      t.same(await webhooks.list(), [], 'nothing is visible before the commit')
      await events.publish('order.created', { n: 1 }, { db })
    },
    'commit',
  )
  t.equal((await webhooks.list()).length, 1)
  const [request] = await receiver.waitFor(1)
  t.same(request!.body.payload, { n: 1 })
})

t.test('a pause, a secret and a deletion are rolled back with the transaction', async (t) => {
  const host = await startHost(t)
  const { webhooks } = host.app.svc
  const { id, secret } = await webhooks.register({ url: URL, events: ['*'] })
  const changes: [string, (db: Db) => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'update',
      (db) => webhooks.update({ id, active: false }, { db }),
      async () => (await webhooks.get(id)).active === false,
    ],
    [
      'rotateSecret',
      (db) => webhooks.rotateSecret({ id }, { db }),
      async () => (await webhooks.get(id)).secret !== secret,
    ],
    [
      'delete',
      (db) => webhooks.delete(id, { db }),
      async () => (await webhooks.list()).length === 0,
    ],
  ]
  for (const [name, change, isDone] of changes) {
    await inTransaction(host, change, 'rollback')
    t.equal(await isDone(), false, `${name} was rolled back`)
    await inTransaction(host, change, 'commit')
    t.equal(await isDone(), true, `${name} was committed`)
  }
})

t.test('nothing is sent for a transaction that is rolled back', async (t) => {
  const { host, receiver, id, deliveryId } = await startWithDeadLetter(t)
  const { webhooks } = host.app.svc
  const sent = async (db: Db) => {
    await webhooks.test(id, { db })
    await webhooks.redeliver({ webhookId: id, deliveryId }, { db })
    t.same(await webhooks.redrive(id, { db }), { redriven: 1 })
  }
  await inTransaction(host, sent, 'rollback')
  t.equal((await webhooks.listDeadLetters(id)).length, 1)
  t.equal(receiver.received.length, 1)

  await inTransaction(host, sent, 'commit')
  t.equal((await receiver.waitFor(4)).length, 4)
  t.same(await webhooks.listDeadLetters(id), [])
})

t.test('workers are woken after the commit of svc.transaction, and not before', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const { queues } = await useCore(app)
  const { webhooks } = app.svc
  const { id } = await webhooks.register({ url: URL, events: ['*'] })
  const woken: string[] = []
  queues.wake = (queue) => void woken.push(`wake ${queue}`)
  queues.groupsChanged = (queue) => void woken.push(`groups ${queue}`)

  const change = async (db: Db) => {
    await webhooks.test(id, { db })
    await webhooks.update({ id, active: false }, { db })
    t.same(woken, [])
  }
  const failure = new Error('no')
  const rolledBack = app.svc.transaction(async (db) => {
    await change(db)
    throw failure
  })
  await t.rejects(rolledBack, failure)
  t.same(woken, [])
  await app.svc.transaction(change)
  t.same(woken, ['wake __svc.webhooks.deliver', 'groups __svc.webhooks.deliver'])
})

t.test('a webhook can be tried out in the transaction that registers it', async (t) => {
  const host = await startHost(t)
  const { webhooks } = host.app.svc
  const receiver = await openReceiver({ answer: 404 })
  t.teardown(() => receiver.close())
  const attempt = {
    event: 'webhook.test',
    payload: {},
    deliveryId: crypto.randomUUID(),
    attempt: 1,
  }
  await inTransaction(
    host,
    async (db) => {
      const { id } = await webhooks.register({ url: receiver.url, events: ['*'] }, { db })
      t.match(await webhooks.deliver({ ...attempt, webhookId: id }, { db }), {
        status: 'failed',
        statusCode: 404,
      })
    },
    'rollback',
  )
  t.equal(receiver.received.length, 1)
  const { rows } = await host.app.svc.database.query(
    'select from svc."__svc.webhooks.delivery_log"',
  )
  t.same(rows, [], 'the row of the attempt is rolled back as well')
})

t.test('a db that is no transaction is refused, by the name of the method', async (t) => {
  const { app } = await startHost(t)
  const { webhooks } = app.svc
  const { register, test } = webhooks as unknown as Record<
    'register' | 'test',
    (input: unknown, options: unknown) => Promise<unknown>
  >
  const input = { url: URL, events: ['*'] }
  const wrong: [unknown, string][] = [
    [app.svc.database, 'a pool'],
    [null, 'null'],
    ['db', 'a string'],
    [{ $queryRawUnsafe() {}, $executeRawUnsafe() {} }, 'a transaction of prisma'],
  ]
  for (const [db, what] of wrong) {
    await t.rejects(register(input, { db }), {
      code: 'SVC_CORE_NO_TRANSACTION',
      message: new RegExp(`^svc\\.webhooks\\.register: the option "db" must be .* got ${what}`),
    })
  }
  const client = await app.svc.database.connect()
  await t.rejects(test('x', { db: client }), { code: 'SVC_CORE_NO_TRANSACTION' })
  client.release()
  await t.rejects(register(input, { database: client }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: 'svc.webhooks.register: there is no option "database"; there is: db',
  })
  t.same(await webhooks.list(), [])
})

t.test('a method refuses what its route refuses, with the same errors', async (t) => {
  const { app } = await startHost(t)
  const { webhooks } = app.svc
  const wrong = (input: unknown) => input as never
  await t.rejects(webhooks.register(wrong({ url: URL })), { code: 'SVC_INVALID_INPUT' })
  await t.rejects(webhooks.get(wrong(5)), { code: 'SVC_INVALID_INPUT' })
  await t.rejects(webhooks.list({ limit: 0 }), { code: 'SVC_INVALID_INPUT' })
  for (const unstorable of ['\0', 'half of a pair: \ud800']) {
    const listed = webhooks.listDeliveries({ eventId: unstorable })
    await t.rejects(listed, { code: 'SVC_INVALID_INPUT', statusCode: 400 }, 'eventId')
    const counted = webhooks.stats({ event: unstorable })
    await t.rejects(counted, { code: 'SVC_INVALID_INPUT', statusCode: 400 }, 'event')
  }
  await t.rejects(webhooks.get('x'), { code: 'SVC_WEBHOOKS_NOT_FOUND', statusCode: 404 })
  await t.rejects(webhooks.register({ url: 'http://[::1]/', events: ['*'] }), {
    code: 'SVC_WEBHOOKS_URL_REFUSED',
  })
})
