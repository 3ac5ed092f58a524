// A host that came from another system keeps the names of headers that its receivers know.
import t from 'tap'
import { verifyDelivery } from '@svc/receiver'
import { openReceiver } from '../../../support/receiver.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { startHost } from '../../support/host.ts'

const headerPrefix = 'X-Acme-'
const events = ['order.created']

t.test('all headers of ours have the prefix of the host', async (t) => {
  const { app, ask } = await startHost(t, { headerPrefix, standardWebhooks: true })
  const receiver = await openReceiver(t, { headerPrefix })
  const { id } = await app.svc.webhooks.register({ url: receiver.url, events })
  const { secret } = await app.svc.webhooks.rotateSecret({ id })
  receiver.secret = secret
  await app.svc.events.publish('order.created', { id: 7 }, { tenant: 'acme' })
  await receiver.waitFor(1)
  await app.svc.webhooks.test(id)
  const [event, test] = await receiver.waitFor(2)
  const namesOf = ({ headers }: { headers: object }) =>
    Object.keys(headers)
      .filter((name) => /^(?:x|webhook)-/.test(name))
      .toSorted()
  const ours = ['attempt', 'delivery-id', 'event', 'signature', 'signature-previous', 'timestamp']
  const standard = ['webhook-id', 'webhook-signature', 'webhook-timestamp']
  const named = (names: string[]) =>
    [...names.map((name) => `x-acme-${name}`), ...standard].toSorted()
  t.same(namesOf(event!), named([...ours, 'tenant']))
  t.same(namesOf(test!), named([...ours, 'test']))
  t.match(event!.headers, { 'x-acme-event': 'order.created', 'x-acme-tenant': 'acme' })
  t.equal(test!.headers['x-acme-test'], 'true')
  t.ok(event!.verified && test!.verified)
  const { headers, raw: body } = event!
  t.throws(() => verifyDelivery({ headers, body, secret }), { message: /x-svc-timestamp/ })

  const { body: document } = await ask('GET', '/asyncapi.json')
  const { headers: described } = document.channels['order.created'].messages['order.created']
  t.ok(described.required.includes('X-Acme-Signature'))
  t.notMatch(JSON.stringify(document), /X-Svc-/)
})

t.test('a webhook’s own headers use neither the prefix of the host nor X-Svc-', async (t) => {
  const { app, ask } = await startHost(t, { headerPrefix })
  const url = 'https://receiver.example/'
  const { id } = await app.svc.webhooks.register({ url, events, headers: { 'X-Other-Event': 'a' } })
  for (const name of ['X-Acme-Event', 'x-acme-anything', 'X-Svc-Event', 'webhook-id']) {
    const headers = { [name]: 'v' }
    const refused = { status: 400, body: { code: 'SVC_WEBHOOKS_INVALID_HEADER' } }
    const answer = await ask('POST', '', { url, events, headers })
    t.match(answer, refused, name)
    t.ok(answer.body.message.includes(name), 'the message names it')
    t.match(await ask('PATCH', `/${id}`, { headers }), refused)
  }
  t.match((await app.svc.webhooks.get(id)).headers, { 'X-Other-Event': 'a' })
  t.equal((await app.svc.webhooks.list()).length, 1)
})

t.test('the prefix is that of the process that makes the attempt', async (t) => {
  const database = await freshDatabase(t)
  const core = { worker: { enabled: false } }
  const publisher = await startHost(t, { database, core })
  const receiver = await openReceiver(t)
  // Where this webhook is registered, the name is nobody's.
  const headers = { 'X-Acme-Signature': 'own', 'X-Own': 'own' }
  const { webhooks } = publisher.app.svc
  await webhooks.register({ url: receiver.url, events, headers })
  const { secret } = await webhooks.register({
    url: `${receiver.url}slack`,
    events,
    headers,
    transform: 'slack',
  })
  await publisher.app.svc.events.publish('order.created', {})
  await startHost(t, { database, headerPrefix })
  for (const request of await receiver.waitFor(2)) {
    t.equal(request.headers['x-own'], 'own')
    t.match(request.headers['x-acme-signature'], /^sha256=[0-9a-f]{64}$/, 'once, and ours')
    if (request.url !== '/slack') continue
    t.match(verifyDelivery({ ...request, body: request.raw, secret, headerPrefix }), {
      text: 'order.created',
    })
  }
})
