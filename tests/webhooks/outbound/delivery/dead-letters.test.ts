// promise: A failed delivery is tried again by its schedule, and becomes a dead letter after the last attempt
import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until, untilCount } from '../../../support/until.ts'

const twoAttempts = { core: { worker: { maxAttempts: 2 } } }

t.test(
  'a delivery whose attempts are used up is a dead letter, and a redrive goes on with it',
  async (t) => {
    const { app, ask, register } = await startHost(t, twoAttempts)
    let status = 500
    const receiver = await openReceiver(t, {
      answer: ({ headers }) => ({ status, body: `answer ${headers['x-svc-attempt']}` }),
    })
    const { id } = await register(receiver.url)
    const event = await app.svc.events.publish('order.created', { n: 1 })
    const dead = async () => (await ask('GET', `/${id}/dead-letters`)).body
    const log = async () => (await ask('GET', `/${id}/deliveries`)).body

    const [letter] = await until(dead, (letters) => letters.length === 1)
    const [last] = await log()
    const { id: letterId, ...shown } = letter
    t.match(letterId, /^[0-9a-f-]{36}$/)
    const { id: _, ...expected } = last
    t.same(shown, expected, 'it has the shape of a record, that of its last attempt')
    t.match(letter, {
      eventId: event.id,
      payload: { n: 1 },
      attempt: 2,
      status: 'dead',
      statusCode: 500,
      error: 'http',
      responseBody: 'answer 2',
    })
    const actions = await app.svc.actions.call('__svc.webhooks.listDeadLetters', id)
    t.same(actions, [letter])

    t.match(await ask('POST', `/${id}/redrive`), { status: 202, body: { redriven: 1 } })
    await until(
      log,
      (rows) => rows.filter((row: { status: string }) => row.status === 'dead').length === 2,
    )
    status = 200
    t.same(await app.svc.actions.call('__svc.webhooks.redrive', id), { redriven: 1 })
    const rows = await until(log, (found) => found[0].status === 'delivered')

    const numbers = rows.map((row: { attempt: number }) => row.attempt)
    t.same(
      numbers,
      [5, 4, 3, 2, 1],
      'attempts are counted on, and each redrive gives them all again',
    )
    t.same(
      receiver.received.map(({ headers }) => headers['x-svc-attempt']),
      ['1', '2', '3', '4', '5'],
    )
    t.equal(new Set(rows.map((row: { deliveryId: string }) => row.deliveryId)).size, 1)
    t.same(await dead(), [])
    t.match(await ask('POST', `/${id}/redrive`), { status: 202, body: { redriven: 0 } })
  },
)

t.test('dead letters are those of one webhook, newest first, in pages', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await register(receiver.url, ['order.created'])
  const other = await register(receiver.url, ['order.shipped'])
  const dead = async (query = '') => await ask('GET', `/${id}/dead-letters${query}`)
  for (let n = 0; n < 3; n++) {
    await app.svc.events.publish('order.created', { n })
    await until(dead, ({ body }) => body.length === n + 1)
  }
  await app.svc.events.publish('order.shipped', {})

  const { body: all } = await dead()
  t.same(
    all.map((letter: { payload: { n: number } }) => letter.payload.n),
    [2, 1, 0],
  )
  const first = await dead('?limit=2')
  t.same(first.body, all.slice(0, 2))
  const [, query = ''] = /\?([^>]+)>/.exec(String(first.headers['link'])) ?? []
  t.same((await dead(`?${query}`)).body, all.slice(2))

  await until(
    () => ask('GET', `/${other.id}/dead-letters`),
    ({ body }) => body.length === 1,
  )
  t.same(await app.svc.webhooks.redrive(other.id), { redriven: 1 })
  t.equal((await dead()).body.length, 3)
})

t.test('a redelivery is a delivery of its own', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', { n: 1 })
  const [first] = await untilCount(1, async () => (await ask('GET', `/${id}/deliveries`)).body)

  const { status, body } = await ask('POST', `/${id}/deliveries/${first.deliveryId}/redeliver`)
  t.equal(status, 202)
  t.not(body.deliveryId, first.deliveryId)
  const [, second] = await receiver.waitFor(2)
  t.match(second!.headers, { 'x-svc-delivery-id': body.deliveryId, 'x-svc-attempt': '1' })
  t.same(second!.body, { event: 'order.created', payload: { n: 1 }, ...body })

  const of = { webhookId: id, deliveryId: body.deliveryId }
  const third = await app.svc.actions.call('__svc.webhooks.redeliver', of).catch(async () => {
    await until(
      () => ask('GET', `/${id}/deliveries?deliveryId=${body.deliveryId}`),
      (answer) => answer.body.length === 1,
    )
    return app.svc.actions.call('__svc.webhooks.redeliver', of)
  })
  t.equal((await receiver.waitFor(3))[2]!.headers['x-svc-delivery-id'], third.deliveryId)
})

t.test('a test event reaches one webhook alone, and can be redelivered', async (t) => {
  const { ask, register, app } = await startHost(t)
  const receiver = await openReceiver(t)
  const other = await openReceiver(t)
  const { id } = await register(receiver.url, ['order.created'])
  await register(other.url)

  const { status, body } = await ask('POST', `/${id}/test`)
  t.equal(status, 202)
  const [request] = await receiver.waitFor(1)
  t.match(request!.body, { event: 'webhook.test', payload: { webhookId: id }, ...body })
  const [row] = await untilCount(1, async () => (await ask('GET', `/${id}/deliveries`)).body)
  t.match(row, {
    event: 'webhook.test',
    eventId: null,
    payload: { webhookId: id },
    status: 'delivered',
  })

  await app.svc.actions.call('__svc.webhooks.redeliver', {
    webhookId: id,
    deliveryId: row.deliveryId,
  })
  const [, again] = await receiver.waitFor(2)
  t.same(again!.body.payload, row.payload)
  t.equal(other.received.length, 0)
})
