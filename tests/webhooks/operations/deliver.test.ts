/** The operation `deliver`, which has no route. */
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('an attempt under an id that is no UUID sends nothing', async (t) => {
  const { app, register } = await startHost(t)
  const receiver = await openReceiver(t)
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

t.test('deliver performs one attempt and records it with its payload', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t, { answer: 202 })
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
