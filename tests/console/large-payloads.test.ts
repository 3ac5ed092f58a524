/** What lists of the console do not show is not read. */
import t from 'tap'
import { untilCount } from '../support/until.ts'
import { startHost } from './support/host.ts'
import { openReceiver } from '../support/receiver.ts'

t.test('the payloads of attempts in lists are not read', async (t) => {
  const receiver = await openReceiver(t, { answer: () => 500 })
  const { app, signIn } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const { id: webhookId } = await app.svc.webhooks.register({ url: receiver.url, events: ['*'] })
  await app.svc.events.publish('order.created', { item: 'book' }, { id: 'order-1' })
  const [attempt] = await untilCount(1, () => app.svc.webhooks.listDeadLetters(webhookId))
  t.strictSame(attempt?.payload, { item: 'book' })
  t.match(await app.svc.webhooks.listDeliveries({ payloads: false }), [
    { payload: null, eventId: 'order-1' },
  ])
  const page = await signIn()
  const { deliveryId } = attempt!
  t.match((await page.call('deliveries.get', { webhookId, deliveryId })).body, {
    payload: { item: 'book' },
    attempts: [{ status: 'dead', eventId: 'order-1' }],
  })
  // A list that read it would fail.
  await app.svc.database.query(`update svc."__svc.events" set payload = 'no JSON'`)
  for (const list of ['deliveries.list', 'deadLetters.list']) {
    const { status, body } = await page.call(list)
    t.equal(status, 200)
    t.match(body.items, [{ deliveryId, eventId: 'order-1' }])
  }
})

t.test('a page of inbound requests is bounded by the bytes of its bodies', async (t) => {
  const { app, signIn } = await startHost(t, {
    auth: { excludePaths: ['/hook'] },
    webhooks: {
      bodyLimitBytes: 4_000_000,
      inboundLog: { rawBodies: true },
      inbound: { sender: { path: '/hook', publishAs: 'order.created', verify: () => true } },
    },
  })
  for (const letter of ['a', 'b', 'c']) {
    const payload = JSON.stringify(letter.repeat(3_000_000))
    const headers = { 'content-type': 'application/json' }
    await app.inject({ method: 'POST', url: '/hook', headers, payload })
  }
  await untilCount(3, () => app.svc.webhooks.listInbound({ bodyBytes: 0 }))
  const page = await signIn()
  const lettersOf = (items: { body: string }[]) => items.map(({ body }) => body[1])
  const { body: first } = await page.call('inbound.list')
  t.strictSame(lettersOf(first.items), ['c', 'b'])
  const { body: second } = await page.call('inbound.list', { after: first.next })
  t.strictSame(lettersOf(second.items), ['a'])
  t.equal(second.next, null)
})
