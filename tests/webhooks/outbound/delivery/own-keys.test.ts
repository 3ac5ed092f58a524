// promise: Deliveries are signed as Standard Webhooks specifies, also with ed25519, and what is signed so for one webhook is valid at no other
// With the option `ed25519` each webhook has a key of its own: what is signed for one is valid at no other.
import { randomBytes, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { ReceivedRequest } from '@svc/testing'
import { openReceiver } from '../../../support/receiver.ts'
import { verifyDelivery } from '@svc/receiver'
import type { WebhookWithSecret } from '@svc/webhooks'
import { until } from '../../../support/until.ts'
import { startHost, type HostOptions } from '../../support/host.ts'

const SECRETS: Record<string, string> = {
  NEW: `whsk_${randomBytes(32).toString('base64')}`,
  OLD: `whsk_${randomBytes(32).toString('base64')}`,
}
const secrets = (name: string) => SECRETS[name] ?? null

const hostOf = (t: Test, ed25519: HostOptions['ed25519'], database?: string) =>
  startHost(t, {
    ed25519: ed25519 ?? null,
    core: { secrets },
    ...(database === undefined ? {} : { database }),
  })

const opens = ({ headers, raw: body }: ReceivedRequest, publicKey: string | undefined): boolean => {
  try {
    verifyDelivery({ headers, body, publicKey: publicKey ?? '' })
    return true
  } catch (error) {
    if ((error as Error).name === 'InvalidDelivery') return false
    throw error
  }
}

t.test('what is sent for a webhook of one tenant is valid at no other webhook', async (t) => {
  const { app } = await hostOf(t, { secretName: 'NEW' })
  const [mine, elsewhere] = [await openReceiver(t, { answer: [500, 200] }), await openReceiver(t)]
  const register = (tenant: string | null) =>
    app.svc.webhooks.register({ url: mine.url, events: ['order.created'], tenant })
  const own = await register('acme')
  const others = [
    await app.svc.webhooks.register({
      url: 'https://globex.example/',
      events: ['*'],
      tenant: 'globex',
    }),
    await app.svc.webhooks.register({
      url: 'https://acme.example/',
      events: ['*'],
      tenant: 'acme',
    }),
  ].map(({ publicKey }) => publicKey)

  await app.svc.events.publish('order.created', { total: 0 }, { tenant: 'acme' })
  const [, retry] = await mine.waitFor(2)
  const { deliveryId } = retry!.body
  await app.svc.webhooks.redeliver({ webhookId: own.id, deliveryId })
  await mine.waitFor(3)
  await app.svc.webhooks.test(own.id)
  await mine.waitFor(4)
  const attempt = { event: 'order.created', payload: {}, deliveryId: randomUUID(), attempt: 1 }
  await app.svc.webhooks.deliver({ webhookId: own.id, ...attempt })
  await until(
    () => app.svc.webhooks.listDeliveries(own.id),
    (attempts) => attempts.some((one) => one.deliveryId === deliveryId),
  )
  await app.svc.webhooks.redeliver({ webhookId: own.id, deliveryId, url: elsewhere.url })

  const sent = [...(await mine.waitFor(5)), ...(await elsewhere.waitFor(1))]
  for (const request of sent) {
    t.ok(opens(request, own.publicKey))
    for (const other of others) t.notOk(opens(request, other))
  }
})

t.test('every answer about a webhook shows its public key, alike in each host', async (t) => {
  const { app, ask, register, database } = await hostOf(t, { secretName: 'NEW' })
  const { id, publicKey } = await register('https://acme.example/')
  t.match(publicKey, /^whpk_[A-Za-z0-9+/]{43}=$/)
  const other = await register('https://globex.example/')
  t.not(other.publicKey, publicKey)
  const shown = [
    (await ask('POST', '', { url: 'https://x.example/', events: ['*'] })).body.publicKey,
    (await ask('GET', `/${other.id}`)).body.publicKey,
  ]
  t.equal(new Set([publicKey, ...shown]).size, 3)
  for (const webhook of [
    (await ask('GET', '')).body.at(-1),
    (await ask('GET', `/${id}`)).body,
    (await ask('PATCH', `/${id}`, { label: 'l' })).body,
    (await ask('POST', `/${id}/rotate-secret`)).body,
    (await app.svc.webhooks.list()).at(-1),
    await app.svc.webhooks.get(id),
    await app.svc.webhooks.update({ id, label: null }),
  ] as Partial<WebhookWithSecret>[]) {
    t.match(webhook, { id, publicKey })
  }
  const second = await hostOf(t, { secretName: 'NEW' }, database)
  t.equal((await second.app.svc.webhooks.get(id)).publicKey, publicKey)
  const without = await hostOf(t, undefined, database)
  t.notOk('publicKey' in (await without.app.svc.webhooks.get(id)))
  t.notOk('publicKey' in (await without.ask('GET', `/${id}`)).body)
})

t.test('during a rotation of the option both keys of a webhook sign', async (t) => {
  const receiver = await openReceiver(t)
  const before = await hostOf(t, { secretName: 'OLD' })
  const { id, publicKey: old } = await before.register(receiver.url)
  await before.app.close()

  const { app, ask } = await hostOf(t, { secretNames: ['NEW', 'OLD'] }, before.database)
  const { publicKey } = await app.svc.webhooks.get(id)
  t.not(publicKey, old)
  t.same((await ask('GET', `/public-keys?webhookId=${id}`)).body, { keys: [publicKey, old] })
  await app.svc.events.publish('order.created', { id: 1 })
  const [request] = await receiver.waitFor(1)
  t.match(request!.headers['webhook-signature'], /^v1,\S+ v1a,\S+ v1a,\S+$/)
  for (const key of [publicKey, old]) t.ok(opens(request!, key))
})
