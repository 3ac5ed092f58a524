/** A host with something on every screen: deliveries of all kinds, dead letters, keys, inbound requests. */
import { createHmac } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { defineEvents } from '@svc/core'
import { hmac } from '@svc/webhooks'
import type { Test } from 'tap'
import { receiver as openReceiver } from '@svc/testing'
import { untilCount } from '../../../support/until.ts'
import type { HostOptions } from '../../support/host.ts'
import type { Visit } from './visit.ts'

export const INBOUND_SECRET = 'the-secret-of-inbound-requests'

export const events = defineEvents({
  'order.created': {
    payload: Type.Object({
      id: Type.Integer(),
      total: Type.Number(),
      note: Type.Optional(Type.String()),
    }),
    description: 'An order was placed and paid.',
    example: { id: 42, total: 129.5 },
  },
  'order.shipped': { payload: Type.Any(), description: 'It left the warehouse.', deprecated: true },
})

export const lively = (options: HostOptions = {}): HostOptions => ({
  ...options,
  core: {
    events,
    secrets: (name) =>
      ({ BOOTSTRAP_KEY: 'the-bootstrap-key-of-tests', INBOUND: INBOUND_SECRET })[name] ?? null,
    worker: { maxAttempts: 2, retryDelaySeconds: 1, retryBackoff: false },
    ...options.core,
  },
  webhooks: {
    allowedEvents: ['order.created', 'order.shipped'],
    allowedNetworks: ['127.0.0.0/8'],
    inboundTests: true,
    inboundLog: { keepDays: 7, rawBodies: true },
    inbound: {
      shop: {
        path: '/hooks/shop',
        publishAs: 'shop.order',
        verify: hmac({ signatureHeader: 'x-signature', secretName: 'INBOUND' }),
        deduplicationKey: ({ headers }) => String(headers['x-delivery'] ?? '') || null,
      },
      partner: { path: '/hooks/partner', publishAs: 'partner.event', verify: () => false },
    },
    ...options.webhooks,
  },
  auth: {
    bootstrapKeySecret: 'BOOTSTRAP_KEY',
    excludePaths: ['/hooks/shop', '/hooks/partner'],
    scopes: ['orders:read'],
    plans: { starter: { maxKeys: 1000 } },
    planOf: (tenant) => (tenant === 'acme' ? 'starter' : null),
    ...options.auth,
  },
})

export interface Life {
  /** Answers 200. */
  healthy: string
  /** Answers 503, until it is told to recover. */
  failing: string
  recover: () => void
  userId: string
  keyId: string
}

export async function bringToLife(t: Test, { app, url }: Visit): Promise<Life> {
  let status = 503
  const good = await openReceiver()
  t.teardown(() => good.close())
  const bad = await openReceiver({
    answer: () => ({
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ error: 'upstream unavailable' }),
    }),
  })
  t.teardown(() => bad.close())
  const { webhooks, auth } = app.svc
  const healthy = await webhooks.register({
    url: good.url,
    events: ['order.created'],
    label: 'Billing',
    filter: { 'payload.total': { $gte: 10 } },
  })
  const failing = await webhooks.register({
    url: bad.url,
    events: ['*'],
    label: 'Warehouse',
    tenant: 'acme',
  })
  for (const total of [5, 50, 500]) {
    await app.svc.events.publish('order.created', { id: total, total }, { tenant: 'acme' })
  }
  await untilCount(3, () => webhooks.listDeadLetters(failing.id))
  await untilCount(2, () => webhooks.listDeliveries(healthy.id))

  const user = await auth.createUser({
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    tenant: 'acme',
  })
  const key = await auth.createApiKey({ userId: user.id, label: 'Reporting', scopes: ['read'] })
  const nightly = await auth.createApiKey({
    userId: user.id,
    label: 'Nightly',
    quota: { limit: 5, period: 'total' },
  })
  for (let n = 0; n < 4; n++) await auth.verifyApiKey({ key: nightly.key })
  await sendsInbound(url, 7, 'd-1')
  await sendsInbound(url, 7, 'd-1')
  await sendsInbound(url, 7, 'd-2', 'another secret')
  await untilCount(3, () => webhooks.listInbound())
  return {
    healthy: healthy.id,
    failing: failing.id,
    recover: () => {
      status = 200
    },
    userId: user.id,
    keyId: key.id,
  }
}

/** A request of the shop, signed with its secret unless another one is given. */
export async function sendsInbound(
  url: string,
  order: number,
  delivery = `d-${order}`,
  secret = INBOUND_SECRET,
): Promise<void> {
  const body = JSON.stringify({ order })
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-signature': signature,
    'x-delivery': delivery,
  }
  await fetch(`${url}/hooks/shop`, { method: 'POST', headers, body })
}
