/** The option `redact`: what it takes out of payloads is in no answer. */
import t from 'tap'
import type { PayloadOf } from '@svc/console'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support/receiver.ts'
import { startHost } from './support/host.ts'

const CARD = '4242-4242-4242-4242'

async function startRedacting(
  t: Parameters<typeof startHost>[0],
  redact: (payload: unknown, of: PayloadOf) => unknown,
) {
  const host = await startHost(t, {
    console: { redact },
    auth: { excludePaths: ['/hook'] },
    webhooks: {
      inboundLog: { rawBodies: true },
      inbound: { sender: { path: '/hook', publishAs: 'order.created', verify: () => true } },
    },
  })
  const receiver = await startReceiver(t, () => 200)
  const { id: webhookId } = await host.app.svc.webhooks.register({
    url: receiver.url,
    events: ['*'],
  })
  await host.app.inject({ method: 'POST', url: '/hook', payload: { card: CARD, item: 'book' } })
  const [attempt] = await until(
    () => host.app.svc.webhooks.listDeliveries(webhookId),
    (attempts) => attempts.length === 1,
  )
  await until(
    () => host.app.svc.webhooks.listInbound(),
    (requests) => requests.length === 1,
  )
  const page = await host.signIn()
  const { deliveryId, eventId } = attempt!
  const calls = {
    delivery: () => page.call('deliveries.get', { webhookId, deliveryId }),
    deliveries: () => page.call('deliveries.list'),
    event: () => page.call('events.get', { name: 'order.created', id: eventId }),
    events: (text?: string) => page.call('events.list', { name: 'order.created', text }),
    inbound: () => page.call('inbound.list'),
  }
  // The receiver repeats what it was sent.
  await host.app.svc.database.query(
    `update svc."__svc.webhooks.delivery_log" set response_body = $1`,
    [`{"error":"card ${CARD} of book declined"}`],
  )
  return { ...host, calls }
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
    attempts: [{ responseBody: '{"error":"card *** of book declined"}' }],
  })
  t.match((await calls.event()).body, { payload: { card: '****4242' } })
  t.match(JSON.parse((await calls.inbound()).body.items[0].body), { card: '****4242' })
  t.match(asked[0], { event: 'order.created', tenant: null })
  t.equal((await calls.events('4242-4242')).body.items.length, 0, 'it cannot be guessed either')
  t.equal((await calls.events('BOOK')).body.items.length, 1)
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

t.test('trying a filter reveals no masked field to users who cannot have it sent', async (t) => {
  const tried = { filter: { 'payload.card': { $gte: '4' } }, events: ['order.created'] }
  let can: string[] = ['events:read', 'webhooks:read']
  const { visitor } = await startHost(t, {
    console: { redact: () => '***', access: () => ({ tenant: null, can }) },
  })
  const answer = await visitor().call('webhooks.tryFilter', tried)
  t.match(answer, { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } })
  can = [...can, 'webhooks:write']
  t.equal((await visitor().call('webhooks.tryFilter', tried)).status, 200)
})
