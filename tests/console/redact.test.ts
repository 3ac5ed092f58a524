/** The option `redact`: what it takes out of payloads is in no answer. */
import t from 'tap'
import type { PayloadOf } from '@svc/console'
import { untilCount } from '../support/until.ts'
import { startHost } from './support/host.ts'
import { openReceiver } from '../support/receiver.ts'

const CARD = '4242-4242-4242-4242'
const ANSWER = `{"error":"card ${CARD} of book declined"}`

async function startRedacting(
  t: Parameters<typeof startHost>[0],
  redact: (payload: unknown, of: PayloadOf) => unknown,
  sent: { payload?: object; answer?: string } = {},
) {
  const { payload = { card: CARD, item: 'book' }, answer = ANSWER } = sent
  const host = await startHost(t, {
    console: { redact },
    auth: { excludePaths: ['/hook'] },
    webhooks: {
      inboundLog: { rawBodies: true },
      inbound: { sender: { path: '/hook', publishAs: 'order.created', verify: () => true } },
    },
  })
  const receiver = await openReceiver(t)
  const { id: webhookId } = await host.app.svc.webhooks.register({
    url: receiver.url,
    events: ['*'],
  })
  await host.app.inject({ method: 'POST', url: '/hook', payload })
  const [attempt] = await untilCount(1, () => host.app.svc.webhooks.listDeliveries(webhookId))
  await untilCount(1, () => host.app.svc.webhooks.listInbound())
  const page = await host.signIn()
  const { deliveryId, eventId } = attempt!
  const calls = {
    delivery: () => page.call('deliveries.get', { webhookId, deliveryId }),
    deliveries: () => page.call('deliveries.list'),
    event: () => page.call('events.get', { name: 'order.created', id: eventId }),
    events: (text?: string) => page.call('events.list', { name: 'order.created', text }),
    inbound: () => page.call('inbound.list'),
  }
  const receive = (body: string | null) =>
    host.app.svc.database.query(`update svc."__svc.webhooks.delivery_log" set response_body = $1`, [
      body,
    ])
  // The receiver repeats what it was sent.
  await receive(answer)
  const forget = () => host.app.svc.database.query('delete from svc."__svc.events"')
  return { ...host, calls, receive, forget }
}

t.test('a masked field is masked everywhere, also in an answer that repeats it', async (t) => {
  const asked: PayloadOf[] = []
  const { calls } = await startRedacting(t, (payload, of) => {
    asked.push(of)
    const order = payload as { card: string }
    order.card = order.card.slice(-4).padStart(8, '*')
    return order
  })
  for (const [name, call] of Object.entries(calls)) {
    const answer = await call()
    t.equal(answer.status, 200, name)
    t.notOk(answer.text.includes(CARD), `${name}: ${answer.text}`)
  }
  t.match((await calls.delivery()).body, {
    payload: { card: '****4242', item: 'book' },
    attempts: [{ responseBody: null, responseBodyHidden: true }],
  })
  t.match((await calls.event()).body, { payload: { card: '****4242' } })
  t.match(JSON.parse((await calls.inbound()).body.items[0].body), { card: '****4242' })
  t.match(asked[0], { event: 'order.created', tenant: null })
  t.equal((await calls.events('4242-4242')).body.items.length, 0, 'nor is it found')
  t.equal((await calls.events('BOOK')).body.items.length, 1)
})

t.test('a receiver repeats nothing in writings of its own', async (t) => {
  const payload = { note: 'a/b Zoë', pin: '123', 'key of a/b': true, item: 'book' }
  const answer = 'a\\/b Zo\\u00eb 123 key of a'
  const { calls, receive } = await startRedacting(
    t,
    (whole) => ({ item: (whole as typeof payload).item }),
    { payload, answer },
  )
  for (const call of [calls.delivery, calls.event]) {
    t.match((await call()).body, {
      payload: { item: 'book' },
      attempts: [{ responseBody: null, responseBodyHidden: true }],
    })
  }
  await receive(null)
  const { attempts } = (await calls.delivery()).body
  t.notOk('responseBodyHidden' in attempts[0], 'an answer without a body hides nothing')
})

t.test('the answer to a payload that is shown whole is shown', async (t) => {
  const { calls, forget } = await startRedacting(t, (payload) => payload)
  for (const call of [calls.delivery, calls.event]) {
    const [attempt] = (await call()).body.attempts
    t.match(attempt.responseBody, CARD)
    t.notOk('responseBodyHidden' in attempt)
  }
  await forget()
  const kept = await calls.delivery()
  t.match(kept.body.attempts, [{ responseBody: null }], 'not where the event is no longer kept')
})

t.test('a function that throws, or that is asynchronous, hides the whole payload', async (t) => {
  for (const redact of [
    () => {
      throw new Error('broken')
    },
    async (payload: unknown) => payload,
  ]) {
    const { calls } = await startRedacting(t, redact)
    t.match((await calls.delivery()).body, { payload: '***' })
    t.match((await calls.event()).body, { payload: '***' })
    for (const call of Object.values(calls)) t.notOk((await call()).text.includes('book'))
  }
})

t.test('redact is told the tenant of the event, whoever has the webhook', async (t) => {
  const asked: PayloadOf[] = []
  const { app, signIn } = await startHost(t, {
    console: {
      redact: (payload, of) => {
        asked.push(of)
        return of.tenant === 'acme' ? '***' : payload
      },
    },
  })
  const receiver = await openReceiver(t)
  const { id: webhookId } = await app.svc.webhooks.register({ url: receiver.url, events: ['*'] })
  const ids = { name: 'order.created', id: 'order-7' }
  for (const tenant of ['acme', 'globex']) {
    await app.svc.events.publish(ids.name, { tenant }, { id: ids.id, tenant })
  }
  const attempts = await untilCount(2, () => app.svc.webhooks.listDeliveries(webhookId))
  const page = await signIn()
  for (const { deliveryId, eventTenant } of attempts) {
    const { body } = await page.call('deliveries.get', { webhookId, deliveryId })
    t.strictSame(body.payload, eventTenant === 'acme' ? '***' : { tenant: 'globex' })
    t.match(asked.at(-1), { event: ids.name, tenant: eventTenant })
    const event = await page.call('events.get', { ...ids, tenant: eventTenant })
    t.strictSame(
      event.body.attempts.map((one: { deliveryId: string }) => one.deliveryId),
      [deliveryId],
      'the event of another tenant with this id is another event',
    )
  }
  const { deliveryId } = await app.svc.webhooks.test(webhookId)
  await untilCount(1, () => app.svc.webhooks.listDeliveries({ webhookId, deliveryId }))
  await page.call('deliveries.get', { webhookId, deliveryId })
  t.match(asked.at(-1), { event: 'webhook.test', tenant: null })
})

t.test('nobody probes what is masked who cannot have it sent', async (t) => {
  let can: string[] = ['events:read', 'webhooks:read']
  const { app, visitor } = await startHost(t, {
    console: { redact: () => '***', access: () => ({ tenant: null, can }) },
  })
  await app.svc.events.publish('order.created', { card: CARD })
  const probes = {
    'webhooks.tryFilter': {
      filter: { 'payload.card': { $gte: '4' } },
      events: ['order.created'],
    },
    'events.list': { text: CARD.slice(0, 4), limit: 1 },
  }
  for (const [name, input] of Object.entries(probes)) {
    const answer = await visitor().call(name, input)
    t.match(answer, { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } }, name)
    t.match(answer.body.message, /"webhooks:write"/)
  }
  t.equal((await visitor().call('events.list')).body.items.length, 1, 'the list itself is open')
  t.match((await visitor().session()).body, { searchesPayloads: false })
  can = [...can, 'webhooks:write']
  for (const [name, input] of Object.entries(probes)) {
    t.equal((await visitor().call(name, input)).status, 200, name)
  }
  t.match((await visitor().session()).body, { searchesPayloads: true })
})
