import t from 'tap'
import { receiver as openReceiver } from '@svc/testing'
import { startHost } from '../support/host.ts'

/** For input that would not compile. */
interface Untyped {
  call(name: string, input?: unknown): Promise<unknown>
}

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('there is an action for each operation', async (t) => {
  const { app } = await startHost(t)
  const names = app.svc.actions.names().filter((name) => name.startsWith('__svc.webhooks.'))
  t.same(names.toSorted(), [
    '__svc.webhooks.count',
    '__svc.webhooks.countDeadLetters',
    '__svc.webhooks.delete',
    '__svc.webhooks.deleteHandlerDeadLetter',
    '__svc.webhooks.deliver',
    '__svc.webhooks.event',
    '__svc.webhooks.feed',
    '__svc.webhooks.get',
    '__svc.webhooks.getDelivery',
    '__svc.webhooks.getRecovery',
    '__svc.webhooks.list',
    '__svc.webhooks.listDeadLetters',
    '__svc.webhooks.listDeliveries',
    '__svc.webhooks.listEvents',
    '__svc.webhooks.listHandlerDeadLetters',
    '__svc.webhooks.listInbound',
    '__svc.webhooks.listRecoveries',
    '__svc.webhooks.listTenants',
    '__svc.webhooks.pauseAll',
    '__svc.webhooks.pauseHandler',
    '__svc.webhooks.recover',
    '__svc.webhooks.recoverMany',
    '__svc.webhooks.redeliver',
    '__svc.webhooks.redrive',
    '__svc.webhooks.redriveHandler',
    '__svc.webhooks.register',
    '__svc.webhooks.replayInbound',
    '__svc.webhooks.resumeAll',
    '__svc.webhooks.resumeHandler',
    '__svc.webhooks.rotateSecret',
    '__svc.webhooks.signing',
    '__svc.webhooks.stats',
    '__svc.webhooks.test',
    '__svc.webhooks.tryFilter',
    '__svc.webhooks.update',
    '__svc.webhooks.webhookFeed',
  ])
})

t.test('an action returns what its route answers', async (t) => {
  const { app, ask } = await startHost(t)
  const { actions } = app.svc
  const made = await actions.call('__svc.webhooks.register', {
    url: 'https://receiver.example/',
    events: ['*'],
    label: 'mine',
  })
  t.same((await ask('GET', `/${made.id}`)).body, made)
  t.same(await actions.call('__svc.webhooks.get', made.id), made)
  t.same(await actions.call('__svc.webhooks.list'), (await ask('GET', '')).body)
  const updated = await actions.call('__svc.webhooks.update', { id: made.id, active: false })
  t.same((await ask('GET', '')).body, [updated])
  t.equal(await actions.call('__svc.webhooks.delete', made.id), undefined)
  t.same(await actions.call('__svc.webhooks.list'), [])
})

t.test('an attempt under an id that is no UUID sends nothing', async (t) => {
  const { app, register } = await startHost(t)
  const receiver = await openReceiver()
  t.teardown(() => receiver.close())
  const { id } = await register(receiver.url)
  const attempt = {
    webhookId: id,
    event: 'order.created',
    payload: 1,
    deliveryId: UNKNOWN,
    attempt: 1,
  }
  const deliver = (changes: object) =>
    app.svc.actions.call('__svc.webhooks.deliver', { ...attempt, ...changes })
  const urn = `urn:uuid:${UNKNOWN}`
  await t.rejects(deliver({ deliveryId: urn }), {
    code: 'SVC_INVALID_INPUT',
    message: 'input/deliveryId must match format "uuid"',
  })
  await t.rejects(deliver({ webhookId: urn }), { code: 'SVC_WEBHOOKS_NOT_FOUND' })
  await t.rejects(
    app.svc.actions.call('__svc.webhooks.listDeliveries', { webhookId: id, after: urn }),
    { code: 'SVC_INVALID_INPUT', message: 'input/after must match format "uuid"' },
  )
  await deliver({})
  t.equal(receiver.received.length, 1)
})

t.test('an action refuses what its route refuses, with the same errors', async (t) => {
  const { app } = await startHost(t)
  const { actions } = app.svc as unknown as { actions: Untyped }
  const call = (name: string, input?: unknown) => actions.call(name, input)
  const url = 'https://receiver.example/'
  const refused: [string, unknown, { code: string; statusCode?: number }][] = [
    ['register', { url }, { statusCode: 400, code: 'SVC_INVALID_INPUT' }],
    ['register', { url, events: ['*'], active: true }, { code: 'SVC_INVALID_INPUT' }],
    ['register', { url: 'http://[::1]/', events: ['*'] }, { code: 'SVC_WEBHOOKS_URL_REFUSED' }],
    ['register', { url, events: ['no'] }, { code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED' }],
    ['get', 5, { code: 'SVC_INVALID_INPUT' }],
    ['deliver', { webhookId: UNKNOWN }, { code: 'SVC_INVALID_INPUT' }],
    ['listDeliveries', { webhookId: UNKNOWN, status: 'lost' }, { code: 'SVC_INVALID_INPUT' }],
  ]
  for (const [name, input, error] of refused) {
    await t.rejects(call(`__svc.webhooks.${name}`, input), error, name)
  }
  const missing = { statusCode: 404, code: 'SVC_WEBHOOKS_NOT_FOUND' }
  for (const id of [UNKNOWN, 'x']) {
    for (const name of ['get', 'delete', 'test', 'listDeliveries', 'listDeadLetters', 'redrive']) {
      await t.rejects(call(`__svc.webhooks.${name}`, id), missing, name)
    }
    await t.rejects(call('__svc.webhooks.update', { id }), missing)
    await t.rejects(call('__svc.webhooks.rotateSecret', { id }), missing)
    await t.rejects(call('__svc.webhooks.redeliver', { webhookId: id, deliveryId: id }), missing)
    const attempt = { webhookId: id, event: 'e', payload: 1, deliveryId: UNKNOWN, attempt: 1 }
    await t.rejects(call('__svc.webhooks.deliver', attempt), missing)
  }
})

t.test('deliver performs one attempt and records it with its payload', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver({ answer: 202 })
  t.teardown(() => receiver.close())
  const { id } = await register(receiver.url)
  const input = {
    webhookId: id,
    event: 'order.imported',
    payload: { n: [1, null] },
    deliveryId: UNKNOWN,
    attempt: 7,
  }

  const delivered = await app.svc.actions.call('__svc.webhooks.deliver', input)
  t.match(receiver.received[0]!.headers, { 'x-svc-attempt': '7', 'x-svc-delivery-id': UNKNOWN })
  t.match(delivered, { ...input, eventId: null, status: 'delivered', statusCode: 202, error: null })
  t.equal(delivered.nextAttemptAt, null)

  receiver.answer(500)
  const failed = await app.svc.actions.call('__svc.webhooks.deliver', { ...input, attempt: 8 })
  t.match(failed, { status: 'failed', statusCode: 500, error: 'http', nextAttemptAt: null })
  t.same((await ask('GET', `/${id}/deliveries`)).body, [failed, delivered])
  t.equal(receiver.received.length, 2)

  await ask('PATCH', `/${id}`, { active: false })
  await t.rejects(app.svc.actions.call('__svc.webhooks.deliver', input), {
    statusCode: 409,
    code: 'SVC_WEBHOOKS_INACTIVE',
  })
})
