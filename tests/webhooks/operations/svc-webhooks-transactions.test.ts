/** `svc.webhooks` in transactions of the host. */
import t, { type Test } from 'tap'
import type { Db } from '@svc/core'
import { useCore } from '@svc/core/internal'
import { openReceiver } from '../../support/receiver.ts'
import { startHost, type Host } from '../support/host.ts'
import { untilCount } from '../../support/until.ts'

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
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await host.register(receiver.url)
  await host.app.svc.events.publish('order.created', { n: 1 })
  const [dead] = await untilCount(1, () => host.app.svc.webhooks.listDeadLetters(id))
  receiver.answer(200)
  return { host, receiver, id, deliveryId: dead!.deliveryId }
}

t.test('a webhook that is registered in a transaction is there after its commit', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
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
  queues.recipientsChanged = (queue) => void woken.push(`groups ${queue}`)

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
  const receiver = await openReceiver(t, { answer: 404 })
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
