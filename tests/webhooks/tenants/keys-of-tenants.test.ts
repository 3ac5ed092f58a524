/** What a key with a tenant may do with webhooks. */
import type { ReceivedRequest } from '@svc/testing'
import { openReceiver } from '../../support/receiver.ts'
import t from 'tap'
import { untilCount } from '../../support/until.ts'
import { startGuarded } from '../support/guarded-host.ts'

t.test('only an operator with admin sends a delivery to another address', async (t) => {
  const { app, keyOf, ask } = await startGuarded(t)
  const receiver = await openReceiver(t)
  const { id } = await app.svc.webhooks.register({
    url: receiver.url,
    events: ['*'],
    tenant: 'acme',
  })
  await app.svc.events.publish('order.created', {}, { tenant: 'acme' })
  const [attempt] = await untilCount(1, () => app.svc.webhooks.listDeliveries(id))
  const other = await openReceiver(t)
  const path = `/${id}/deliveries/${attempt?.deliveryId}/redeliver`
  for (const [tenant, scope] of [
    ['acme', 'webhooks:manage'],
    ['acme', 'admin'],
    [null, 'webhooks:manage'],
  ] as const) {
    const answer = await ask(await keyOf(tenant, [scope]), 'POST', path, { url: other.url })
    const refused = { status: 403, body: /SVC_WEBHOOKS_ADDRESS_NOT_ALLOWED/ }
    t.match(answer, refused, `${tenant} with ${scope}`)
  }
  const foreign = await keyOf('globex', ['admin'])
  t.equal((await ask(foreign, 'POST', path, { url: other.url })).status, 404)
  t.equal(other.received.length, 0)
  const admin = await keyOf(null, ['admin'])
  t.equal((await ask(admin, 'POST', path, { url: other.url })).status, 202)
  await other.waitFor(1)
})

t.test('a key with a tenant manages the webhooks of its tenant', async (t) => {
  const { app, keyOf, ask } = await startGuarded(t)
  const receiver = await openReceiver(t)
  const key = await keyOf('acme', ['webhooks:manage'])
  const made = await ask(key, 'POST', '', { url: receiver.url, events: ['order.created'] })
  t.equal(made.status, 201)
  const { id, tenant } = JSON.parse(made.body)
  t.equal(tenant, 'acme')
  const ofOperator = await openReceiver(t)
  await app.svc.webhooks.register({ url: ofOperator.url, events: ['*'] })

  const list = async (who: string, query = '') =>
    (JSON.parse((await ask(who, 'GET', query)).body) as { id: string }[]).map((one) => one.id)
  t.strictSame(await list(key), [id])
  const operator = await keyOf(null, ['webhooks:manage'])
  t.equal((await list(operator)).length, 2)
  t.strictSame(await list(operator, '?tenant=acme'), [id])
  t.equal((await list(operator, '?tenant=')).length, 1)
  t.strictSame(await list(operator, '?tenant=globex'), [])

  await app.svc.events.publish('order.created', 1, { tenant: 'acme' })
  await app.svc.events.publish('order.created', 2, { tenant: 'globex' })
  await app.svc.events.publish('order.created', 3)
  const payloadsOf = (requests: ReceivedRequest[]) =>
    requests.map(({ body }) => body.payload as number).toSorted()
  t.strictSame(payloadsOf(await ofOperator.waitFor(3)), [1, 2, 3])
  t.strictSame(payloadsOf(await receiver.waitFor(1)), [1])

  const inside = 'http://169.254.169.254/latest/meta-data'
  const refused = { status: 400, body: /SVC_WEBHOOKS_URL_REFUSED/ }
  t.match(await ask(key, 'PATCH', `/${id}`, { url: inside }), refused)
  t.match(await ask(key, 'POST', '', { url: inside, events: ['*'] }), refused)
  const transform = await ask(key, 'PATCH', `/${id}`, { transform: 'slack' })
  t.match(transform, { status: 403, body: /SVC_WEBHOOKS_TRANSFORM_NOT_ALLOWED/ })
  t.equal((await ask(key, 'DELETE', `/${id}`)).status, 204)
})
