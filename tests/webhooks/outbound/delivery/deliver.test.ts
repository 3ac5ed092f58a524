import t from 'tap'
import { verifyDelivery } from '@svc/webhooks/receiver'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

t.test('a published event reaches the webhook that wants it, signed, and is logged', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t, { answer: { body: 'thanks' } })
  const { id, secret } = await host.register(receiver.url, ['order.created'])

  const event = await host.app.svc.events.publish('order.created', { id: 42 })
  await host.app.svc.events.publish('order.shipped', { id: 42 })

  const [request] = await receiver.waitFor(1)
  const { headers, raw: body } = request!
  const delivery = verifyDelivery({ headers, body, secret })
  t.match(delivery, { event: 'order.created', payload: { id: 42 } })
  t.match(headers, {
    'content-type': 'application/json',
    'user-agent': /^svc-webhooks\/\d+\.\d+\.\d+$/,
    'x-svc-event': 'order.created',
    'x-svc-delivery-id': delivery.deliveryId,
    'x-svc-attempt': '1',
    'x-svc-timestamp': /^\d{10}$/,
  })
  t.notOk(headers['x-svc-signature-previous'])
  t.notOk(headers['webhook-id'])
  t.equal(
    body,
    `{"event":"order.created","payload":{"id":42},"deliveryId":"${delivery.deliveryId}"}`,
  )

  const log = await until(
    () => host.ask('GET', `/${id}/deliveries`),
    ({ body }) => body.length > 0,
  )
  t.equal(log.status, 200)
  t.equal(log.body.length, 1)
  t.match(log.body[0], {
    webhookId: id,
    event: 'order.created',
    eventId: event.id,
    payload: { id: 42 },
    deliveryId: delivery.deliveryId,
    attempt: 1,
    status: 'delivered',
    statusCode: 200,
    error: null,
    responseBody: 'thanks',
    nextAttemptAt: null,
  })
  t.match(log.body[0].attemptedAt, /^\d{4}-\d\d-\d\dT.*Z$/)
  t.type(log.body[0].durationMs, 'number')
})
