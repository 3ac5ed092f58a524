/** Each operation of `svc.auth` and `svc.webhooks` with an example, and a host that has them all. */
import { randomBytes } from 'node:crypto'
import { svcAuth, type AuthOperations } from '@svc/auth'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { uuidv7 } from '@svc/core/internal'
import { receiver as openReceiver } from '@svc/testing'
import { headerToken, svcWebhooks, type SvcWebhooks } from '@svc/webhooks'
import type { Test } from 'tap'
import { freshDatabase } from './fresh-database.ts'
import { until } from './until.ts'
import { newHost } from './new-host.ts'

export const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'
const NO_ID = '0190a1b2-0000-7000-8000-000000000000'
const SPAN = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z' }
const SINCE = '2020-01-01T00:00:00Z'

/** What the operations are asked for. */
export interface Ids {
  /** Empty: the operator's. */
  tenant: string
  userId: string
  keyId: string
  key: string
  webhookId: string
  deliveryId: string
  eventId: string
  recoveryId: string
  requestId: string
  deadLetterId: string
}

/** Nothing has them. */
export const UNKNOWN: Ids = {
  tenant: 'acme',
  userId: NO_ID,
  keyId: NO_ID,
  key: 'no-such-key',
  webhookId: NO_ID,
  deliveryId: NO_ID,
  eventId: NO_ID,
  recoveryId: NO_ID,
  requestId: NO_ID,
  deadLetterId: NO_ID,
}

/** The arguments of the method and of the action, and requests that ask for the same: `METHOD path`, body. */
export type Asked = [args: unknown[], ...requests: [route: string, body?: object][]]

export interface Row {
  /** What is made for it, anew for each call: a user is deleted once. */
  of?: keyof ReturnType<typeof makers>
  asked: (ids: Ids) => Asked
  refused: Asked
}

/** What `asked` asks of one that was made, and, unless told, of one that does not exist. */
const ofOne = (of: NonNullable<Row['of']>, asked: Row['asked'], refused = asked(UNKNOWN)): Row => ({
  of,
  asked,
  refused,
})

/** A request whose body is the argument of the method. */
const sent = (route: string, body: object): Asked => [[body], [route, body]]

const attemptAt = (webhookId: string, deliveryId: string) => ({
  webhookId,
  event: 'order.created',
  payload: 1,
  deliveryId,
  attempt: 1,
})

const span = `from=${SPAN.from}&to=${SPAN.to}`
const url = 'https://receiver.example/'

export const AUTH: Record<Exclude<keyof AuthOperations, 'as'>, Row> = {
  createUser: {
    asked: () => sent('POST /_auth/users', { email: newEmail(), name: 'Ada', tenant: 'acme' }),
    refused: sent('POST /_auth/users', { name: 'Ada' }),
  },
  listUsers: {
    asked: ({ tenant }) => [
      [{ tenant, limit: 2 }],
      [`GET /_auth/users?tenant=${tenant}&limit=2`],
      [`GET /_auth/users?limit=2&tenant=${tenant}`],
    ],
    refused: [[{ limit: 0 }], ['GET /_auth/users?limit=0']],
  },
  getUser: ofOne('user', ({ userId }) => [[userId]]),
  deleteUser: ofOne('user', ({ userId }) => [[userId], [`DELETE /_auth/users/${userId}`]]),
  createApiKey: ofOne(
    'user',
    ({ userId }) => {
      const fields = { label: 'L', scopes: ['read'], limits: [{ limit: 3, perSeconds: 60 }] }
      return [[{ userId, ...fields }], [`POST /_auth/users/${userId}/keys`, fields]]
    },
    [[{ userId: NO_ID, scopes: ['x'] }], [`POST /_auth/users/${NO_ID}/keys`, { scopes: ['x'] }]],
  ),
  getApiKey: ofOne('key', ({ keyId }) => [[keyId], [`GET /_auth/keys/${keyId}`]]),
  listApiKeys: ofOne(
    'key',
    ({ userId }) => [
      [userId, { limit: 5 }],
      [`GET /_auth/users/${userId}/keys?limit=5`],
      [`GET /_auth/keys?userId=${userId}`],
    ],
    [[{ state: 'lost' }], ['GET /_auth/keys?state=lost']],
  ),
  updateApiKey: ofOne(
    'key',
    ({ keyId: id }) => [[{ id, enabled: false }], [`PATCH /_auth/keys/${id}`, { enabled: false }]],
    [[{ id: NO_ID, label: 5 }], [`PATCH /_auth/keys/${NO_ID}`, { label: 5 }]],
  ),
  rotateApiKey: ofOne('key', ({ keyId: id }) => {
    const overlap = { overlapSeconds: 5 }
    return [[{ id, ...overlap }], [`POST /_auth/keys/${id}/rotate`, overlap]]
  }),
  revokeApiKey: ofOne('key', ({ keyId }) => [[keyId], [`DELETE /_auth/keys/${keyId}`]]),
  importApiKeys: ofOne('user', ({ userId }) => {
    const keys = [{ userId, sha256: randomBytes(32).toString('hex'), label: 'L' }]
    return [[keys], ['POST /_auth/keys/import', { keys }]]
  }),
  planChanged: { asked: () => [['acme']], refused: [['not a tenant']] },
  validateApiKey: ofOne('key', ({ key }) => [[key]]),
  verifyApiKey: ofOne(
    'key',
    ({ key }) => sent('POST /_auth/verify', { key, scopes: ['read'] }),
    sent('POST /_auth/verify', { key: 5 }),
  ),
  checkApiKey: ofOne('key', ({ keyId: id }) => [[{ id }]], [[NO_ID]]),
  sealBootstrapKey: { asked: () => [['salt'.repeat(10)]], refused: [['short']] },
  listScopes: { asked: () => [[{ grantable: true }]], refused: [[{ grantable: 'yes' }]] },
  listTenants: {
    asked: () => [[{ limit: 1, search: 'acm' }], ['GET /_auth/tenants?limit=1&search=acm']],
    refused: [[{ limit: 0 }], ['GET /_auth/tenants?limit=0']],
  },
  getUsage: ofOne(
    'key',
    ({ keyId }) => [
      [{ keyId, ...SPAN }],
      [`GET /_auth/keys/${keyId}/usage?${span}`],
      [`GET /_auth/usage?${span}`],
    ],
    [[{ by: 'year' }], ['GET /_auth/usage?by=year']],
  ),
  nearLimits: {
    asked: ({ tenant }) => [
      [{ over: 0, tenant }],
      [`GET /_auth/near-limits?over=0&tenant=${tenant}`],
    ],
    refused: [[{ over: 2 }], ['GET /_auth/near-limits?over=2']],
  },
}

const base = '/_webhooks'
export const WEBHOOKS: Record<Exclude<keyof SvcWebhooks, 'as'>, Row> = {
  register: {
    asked: () =>
      sent(`POST ${base}`, { url, events: '*', label: 'L', maxInFlight: 2, tenant: 'acme' }),
    refused: sent(`POST ${base}`, { url, events: ['no'] }),
  },
  list: {
    asked: ({ tenant }) => [
      [{ state: 'active', tenant, limit: 2 }],
      [`GET ${base}?state=active&tenant=${tenant}&limit=2`],
    ],
    refused: [[{ state: 'lost' }], [`GET ${base}?state=lost`]],
  },
  count: { asked: ({ tenant }) => [[{ tenant }]], refused: [[{ state: 'lost' }]] },
  signing: ofOne('webhook', ({ webhookId }) => [[webhookId]]),
  get: ofOne('webhook', ({ webhookId: id }) => [[id], [`GET ${base}/${id}`]], [
    ['x'],
    [`GET ${base}/x`],
  ]),
  update: ofOne(
    'webhook',
    ({ webhookId: id }) => [[{ id, active: false }], [`PATCH ${base}/${id}`, { active: false }]],
    [[{ id: NO_ID, active: 1 }], [`PATCH ${base}/${NO_ID}`, { active: 1 }]],
  ),
  delete: ofOne('webhook', ({ webhookId: id }) => [[id], [`DELETE ${base}/${id}`]]),
  rotateSecret: ofOne('webhook', ({ webhookId: id }) => [
    [{ id }],
    [`POST ${base}/${id}/rotate-secret`],
  ]),
  test: ofOne('webhook', ({ webhookId: id }) => [[id], [`POST ${base}/${id}/test`]], [
    [{ id: NO_ID, event: 'no' }],
    [`POST ${base}/${NO_ID}/test`, { event: 'no' }],
  ]),
  listEvents: { asked: () => [[], [`GET ${base}/events`]], refused: [[]] },
  feed: {
    asked: ({ tenant }) => [
      [{ after: 'start', events: ['order.*'], tenant }],
      [`GET ${base}/feed?after=start&events=order.*&tenant=${tenant}`],
    ],
    refused: [[{ limit: 501 }], [`GET ${base}/feed?limit=501`]],
  },
  webhookFeed: ofOne('webhook', ({ webhookId: id }) => [
    [{ id, after: 'start' }],
    [`GET ${base}/${id}/feed?after=start`],
  ]),
  event: ofOne('event', ({ eventId: id }) => [[id], [`GET ${base}/events/${id}`]], [
    ['x'],
    [`GET ${base}/events/x`],
  ]),
  tryFilter: {
    asked: () => [[{ filter: { event: 'order.created' }, events: '*', tenant: 'acme' }]],
    refused: [[{ filter: { $no: 1 }, events: '*' }]],
  },
  listTenants: { asked: () => [[]], refused: [[{ limit: 0 }]] },
  deliver: ofOne('webhook', ({ webhookId, deliveryId }) => [[attemptAt(webhookId, deliveryId)]]),
  listDeliveries: ofOne(
    'delivered',
    ({ webhookId }) => [
      [webhookId],
      [`GET ${base}/${webhookId}/deliveries`],
      [`GET ${base}/deliveries?webhookId=${webhookId}`],
    ],
    [[{ status: 'lost' }], [`GET ${base}/deliveries?status=lost`]],
  ),
  listDeadLetters: ofOne(
    'webhook',
    ({ webhookId }) => [
      [{ webhookId, limit: 3 }],
      [`GET ${base}/${webhookId}/dead-letters?limit=3`],
      [`GET ${base}/dead-letters?webhookId=${webhookId}`],
    ],
    [[NO_ID], [`GET ${base}/${NO_ID}/dead-letters`]],
  ),
  searchDeliveries: ofOne(
    'delivered',
    ({ webhookId }) => [[{ webhookId, latest: true, limit: 2 }]],
    [[{ status: 'lost' }]],
  ),
  countDeadLetters: ofOne('webhook', ({ webhookId }) => [[{ webhookId }]], [[{ webhookId: 'x' }]]),
  getDelivery: ofOne('delivered', ({ webhookId, deliveryId }) => [
    [{ webhookId, deliveryId, attempt: 1 }],
    [`GET ${base}/${webhookId}/deliveries/${deliveryId}?attempt=1`],
    [`GET ${base}/${webhookId}/deliveries/${deliveryId}`],
  ]),
  redeliver: ofOne('delivered', ({ webhookId, deliveryId }) => [
    [{ webhookId, deliveryId }],
    [`POST ${base}/${webhookId}/deliveries/${deliveryId}/redeliver`],
  ]),
  redrive: ofOne('webhook', ({ webhookId: id }) => [[id], [`POST ${base}/${id}/redrive`]]),
  recover: ofOne('webhook', ({ webhookId: id }) => {
    const asked = { what: 'dead', since: SINCE, dryRun: true }
    return [[{ id, ...asked }], [`POST ${base}/${id}/recover`, asked]]
  }),
  recoverMany: ofOne(
    'webhook',
    ({ webhookId }) =>
      sent(`POST ${base}/recover`, { webhookIds: [webhookId], what: 'dead', since: SINCE }),
    sent(`POST ${base}/recover`, { all: true, tenant: 'acme', what: 'dead', since: SINCE }),
  ),
  listRecoveries: ofOne('recovery', ({ webhookId }) => [
    [webhookId],
    [`GET ${base}/${webhookId}/recoveries`],
  ]),
  getRecovery: ofOne('recovery', ({ webhookId, recoveryId: id }) => [
    [{ webhookId, id }],
    [`GET ${base}/${webhookId}/recoveries/${id}`],
  ]),
  listHandlerDeadLetters: {
    asked: () => [
      [{ subscription: 'ship', limit: 2 }],
      [`GET ${base}/handlers/dead-letters?subscription=ship&limit=2`],
    ],
    refused: [[{ since: 'now' }], [`GET ${base}/handlers/dead-letters?since=now`]],
  },
  pauseAll: {
    asked: () => sent(`POST ${base}/pause-all`, { tenant: 'acme', reason: 'why' }),
    refused: sent(`POST ${base}/pause-all`, { reason: 7 }),
  },
  resumeAll: {
    asked: () => sent(`POST ${base}/resume-all`, { tenant: 'acme' }),
    refused: sent(`POST ${base}/resume-all`, { tenant: '' }),
  },
  pauseHandler: ofHandler('pause'),
  resumeHandler: ofHandler('resume'),
  redriveHandler: ofHandler('redrive'),
  deleteHandlerDeadLetter: ofOne('handlerDeadLetter', ({ deadLetterId: id }) => [
    [id],
    [`DELETE ${base}/handlers/dead-letters/${id}`],
  ]),
  stats: ofOne(
    'webhook',
    ({ webhookId }) => [
      [{ by: 'minute', webhookId }],
      [`GET ${base}/stats?by=minute&webhookId=${webhookId}`],
    ],
    [[{ by: 'year' }], [`GET ${base}/stats?by=year`]],
  ),
  listInbound: {
    asked: ({ tenant }) => [
      [{ limit: 2, tenant }],
      [`GET ${base}/inbound?limit=2&tenant=${tenant}`],
    ],
    refused: [[{ outcome: 'lost' }], [`GET ${base}/inbound?outcome=lost`]],
  },
  listSources: { asked: () => [[], [`GET ${base}/inbound/sources`]], refused: [[]] },
  testInbound: {
    asked: () => [['sender'], [`POST ${base}/inbound/sources/sender/test`]],
    refused: [['nobody'], [`POST ${base}/inbound/sources/nobody/test`]],
  },
  replayInbound: ofOne('request', ({ requestId: id }) => [
    [id],
    [`POST ${base}/inbound/${id}/replay`],
  ]),
}

function ofHandler(verb: string): Row {
  const asked = (subscription: string) => sent(`POST ${base}/handlers/${verb}`, { subscription })
  return { asked: () => asked('ship'), refused: asked('no') }
}

/** Routes that no method has. */
export const WITHOUT_METHOD: Record<string, (ids: Ids) => [route: string, body?: object]> = {
  'GET /_auth/audit': ({ keyId }) => [`GET /_auth/audit?target=${keyId}`],
  'GET /_auth/forward-auth': () => ['GET /_auth/forward-auth'],
  'GET /_auth/forward-auth/:scopes': () => ['GET /_auth/forward-auth/read'],
  'GET /_auth/me': () => ['GET /_auth/me'],
  'GET /_webhooks/asyncapi.json': () => ['GET /_webhooks/asyncapi.json'],
  'GET /_webhooks/egress': () => ['GET /_webhooks/egress'],
  'GET /_webhooks/jwks.json': ({ webhookId }) => [
    `GET /_webhooks/jwks.json?webhookId=${webhookId}`,
  ],
  'GET /_webhooks/public-keys': ({ webhookId }) => [
    `GET /_webhooks/public-keys?webhookId=${webhookId}`,
  ],
  'POST /_auth/leaks/github': ({ key }) => [
    'POST /_auth/leaks/github',
    [{ token: key, type: 'svc_api_key', url: 'https://github.com/acme' }],
  ],
  'POST /_auth/me/rotate': () => ['POST /_auth/me/rotate'],
}

/** Its `routes` are those of management: `METHOD /path/:parameter`. */
export async function startHost(t: Test, worker: SvcCoreOptions['worker'] = { enabled: false }) {
  const connectionString = await freshDatabase(t)
  const receiver = await openReceiver()
  const app = newHost(t)
  t.teardown(() => receiver.close())
  const routes: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const isOurs = /^\/_(auth|webhooks)/.test(url) && !/[*/]$/.test(url)
    for (const one of [method].flat()) if (isOurs && one !== 'HEAD') routes.push(`${one} ${url}`)
  })
  await app.register(svcCore, {
    database: { connectionString, max: 4 },
    secrets: () => BOOTSTRAP_KEY,
    worker,
  })
  await app.register(svcAuth, {
    bootstrapKeySecret: 'KEY',
    excludePaths: ['/hook'],
    githubLeaks: {},
  })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created'],
    allowedNetworks: ['127.0.0.0/8'],
    inboundTests: true,
    inboundLog: { rawBodies: true },
    inbound: {
      sender: {
        path: '/hook',
        publishAs: 'order.created',
        verify: headerToken({ header: 'x-token', secretName: 'TOKEN' }),
        tenant: ({ headers }) => String(headers['x-tenant'] ?? '') || null,
      },
    },
  })
  await app.svc.events.subscribe('order.created', () => {}, { subscription: 'ship' })
  await app.ready()
  return { app, routes, receiver }
}
export type Host = Awaited<ReturnType<typeof startHost>>

let count = 0
const newEmail = () => `ada-${process.pid}-${Date.now()}-${count++}@example.com`

/** Each makes something of `tenant` that operations are about, and returns its ids. */
export function makers({ app, receiver }: Host, tenant: string | null) {
  const { auth, webhooks } = app.svc
  const user = async () => {
    const { id: userId } = await auth.createUser({ email: newEmail(), name: 'Ada', tenant })
    return { userId }
  }
  const key = async () => {
    const { userId } = await user()
    const { id: keyId, key } = await auth.createApiKey({ userId, scopes: ['read'] })
    return { userId, keyId, key }
  }
  const webhook = async () => {
    const { id: webhookId } = await webhooks.register({ url: receiver.url, events: '*', tenant })
    return { webhookId }
  }
  const delivered = async () => {
    const { webhookId } = await webhook()
    const { deliveryId } = await webhooks.deliver(attemptAt(webhookId, NO_ID))
    return { webhookId, deliveryId }
  }
  const event = async () => {
    const { id: eventId } = await app.svc.events.publish('order.created', 1, { tenant })
    return { eventId }
  }
  const recovery = async () => {
    const { webhookId } = await webhook()
    const { id } = await webhooks.recover({ id: webhookId, what: 'dead', since: SINCE })
    // It is counted in the background.
    await until(
      async () => (await webhooks.getRecovery({ webhookId, id: id! })).finishedAt !== null,
    )
    return { webhookId, recoveryId: id! }
  }
  const request = async () => {
    const headers = { 'x-token': BOOTSTRAP_KEY, 'x-tenant': tenant ?? '' }
    await app.inject({ method: 'POST', url: '/hook', headers, payload: { n: count++ } })
    return { requestId: (await webhooks.listInbound({ limit: 1 }))[0]!.id }
  }
  const handlerDeadLetter = async () => {
    const deadLetterId = uuidv7()
    await app.svc.database.query(
      `insert into svc_jobs.job (id, name, data)
       values ($1, '__svc.sub/ship.dlq', '{"event":"order.created","eventId":"7"}')`,
      [deadLetterId],
    )
    return { deadLetterId }
  }
  return { user, key, webhook, delivered, event, recovery, request, handlerDeadLetter }
}
