// promise: A delivery is shown in full: what was sent, what each attempt took, and what came back of a failed one
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { untilCount } from '../../support/until.ts'
import { listening } from '../../support/listening.ts'

const SECRET_OF_HEADER = 'Bearer 0123456789abcdef'

/** The logged attempts of the one delivery of a webhook. */
const attemptsOf = async (
  { app }: Awaited<ReturnType<typeof startHost>>,
  webhookId: string,
  count: number,
) => untilCount(count, () => app.svc.webhooks.listDeliveries(webhookId))

t.test('the request of each attempt is made again as it was sent', async (t) => {
  const host = await startHost(t, { standardWebhooks: true, defaultTransform: null })
  const { app, ask } = host
  const receiver = await openReceiver(t, { answer: [500, 200] })
  const { id, secret } = await app.svc.webhooks.register({
    url: receiver.url,
    events: '*',
    headers: { Authorization: SECRET_OF_HEADER },
  })
  await app.svc.events.publish('order.created', { n: 1, name: 'ż' }, { tenant: 'acme' })
  const sent = await receiver.waitFor(2)
  const { deliveryId } = (await attemptsOf(host, id, 2))[0]!

  for (const [index, { headers, raw }] of sent.entries()) {
    const { status, body } = await ask(
      'GET',
      `/${id}/deliveries/${deliveryId}?attempt=${index + 1}`,
    )
    t.equal(status, 200)
    const { request, attempts } = body
    t.equal(request.body, raw)
    t.equal(request.url, receiver.url)
    t.match(request, { attempt: index + 1, lacks: null, changedAt: null })
    const { connection: _, host: _host, 'content-length': _length, ...own } = headers
    const shown = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    t.same(shown, { ...own, authorization: '***' })
    t.equal(attempts.length, 2)
    t.match(body, { webhookId: id, deliveryId, event: 'order.created', status: 'delivered' })
  }
  const { request } = await app.svc.webhooks.getDelivery({ webhookId: id, deliveryId })
  t.equal(request?.attempt, 2)
  const timestamp = request?.headers['X-Svc-Timestamp']
  const digest = createHmac('sha256', secret).update(`${timestamp}.${request?.body}`).digest('hex')
  t.equal(request?.headers['X-Svc-Signature'], `sha256=${digest}`, 'it can be verified')

  await app.svc.webhooks.update({ id, label: 'changed' })
  const later = await app.svc.webhooks.getDelivery({ webhookId: id, deliveryId })
  t.ok(later.request?.changedAt, 'it says that the settings have changed since')
  t.equal((await ask('GET', `/${id}/deliveries/${id}`)).status, 404)
  t.equal((await ask('GET', `/${id}/deliveries/x`)).status, 404)
  t.equal((await ask('GET', `/${id}/deliveries/${deliveryId}?attempt=0`)).status, 400)
  t.equal((await ask('GET', `/${id}/deliveries/${deliveryId}?attempt=9`)).body.request, null)
})

t.test('a body that cannot be made again is said to be missing', async (t) => {
  const own = () => ({ body: 'made' })
  const host = await startHost(t, { transforms: { own } })
  const { app } = host
  const receiver = await openReceiver(t)
  const registered = { url: receiver.url, events: ['order.created'] }
  const { id: byHost } = await app.svc.webhooks.register({ ...registered, transform: 'own' })
  const { id: builtIn } = await app.svc.webhooks.register({
    ...registered,
    transform: 'cloudevents',
  })
  const { id: thin } = await app.svc.webhooks.register({ ...registered, fields: ['id'] })
  await app.svc.events.publish('order.created', { id: 1, more: 2 })
  await receiver.waitFor(3)
  const detailOf = async (webhookId: string) => {
    const { deliveryId } = (await attemptsOf(host, webhookId, 1))[0]!
    return app.svc.webhooks.getDelivery({ webhookId, deliveryId })
  }
  const made = await detailOf(byHost)
  t.match(made.request, { body: null, lacks: 'transform' })
  t.notOk(Object.keys(made.request!.headers).some((name) => /signature/i.test(name)))
  const cloudevent = await detailOf(builtIn)
  const raws = receiver.received.map(({ raw }) => raw)
  t.ok(raws.includes(cloudevent.request!.body!), cloudevent.request?.body ?? '')
  t.match(cloudevent.request?.headers, { 'Content-Type': /cloudevents/ })
  t.match(JSON.parse((await detailOf(thin)).request!.body!), { payload: { id: 1 } })
  t.notMatch((await detailOf(thin)).request!.body!, 'more')

  await app.svc.database.query('delete from svc."__svc.events"')
  t.match((await detailOf(thin)).request, { body: null, lacks: 'payload' })
})

async function failingServer(t: Test) {
  const server = createServer((request, response) => {
    response.writeHead(503, {
      'retry-after': '1',
      'set-cookie': ['session=abc', 'b=c'],
      'x-api-key': 'theirs',
      'x-echo': request.headers['authorization'] ?? '',
      'x-long': 'l'.repeat(2000),
    })
    response.end('no')
  })
  return `http://127.0.0.1:${await listening(t, server)}/`
}

t.test(
  'a failed attempt keeps its phases, its address, and headers that are no secrets',
  async (t) => {
    const host = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
    const { app } = host
    const { id } = await app.svc.webhooks.register({
      url: await failingServer(t),
      events: '*',
      headers: { Authorization: SECRET_OF_HEADER },
    })
    await app.svc.events.publish('order.created', {})
    const dead = await untilCount(1, () => app.svc.webhooks.listDeadLetters(id))
    const [attempt] = await attemptsOf(host, id, 1)
    for (const one of [attempt!, dead[0]!]) {
      t.equal(one.address, '127.0.0.1')
      t.equal(one.phases?.length, 5)
      const [dns, connect, tls, first, rest] = one.phases!
      t.same([dns, tls], [null, null])
      t.ok([connect, first, rest].every((ms) => Number.isInteger(ms)))
      t.match(one.responseHeaders, /^retry-after: 1\nx-echo: \*\*\*\nx-long: l+/)
      t.notMatch(one.responseHeaders, /cookie|theirs|0123456789/)
      t.ok(one.responseHeaders!.length <= 1024)
    }
    const { request, status, nextAttemptAt } = await app.svc.webhooks.getDelivery({
      webhookId: id,
      deliveryId: attempt!.deliveryId,
    })
    t.match({ status, nextAttemptAt }, { status: 'dead', nextAttemptAt: null })
    t.equal(request?.attempt, 1)
  },
)
