// promise: A method of `svc.auth` or `svc.webhooks`, its named action and its routes return the same, and refuse the same
/** Each operation through all of its doors: its method, its named action and its routes are one function. */
import { randomBytes } from 'node:crypto'
import { svcAuth, type AuthOperations } from '@svc/auth'
import { svcCore } from '@svc/core'
import { uuidv7 } from '@svc/core/internal'
import { receiver as openReceiver } from '@svc/testing'
import { headerToken, svcWebhooks, type SvcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'

const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'
const NO_ID = '0190a1b2-0000-7000-8000-000000000000'
const UNKNOWN = { id: NO_ID, userId: NO_ID, webhookId: NO_ID, deliveryId: NO_ID, key: 'x' }
const SPAN = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z' }
const SINCE = '2020-01-01T00:00:00Z'

/** The arguments of the method and of the action, and requests that ask for the same: `METHOD path`, body. */
type Asked = [args: unknown[], ...requests: [route: string, body?: object][]]

interface Row {
  /** Called anew for each door: a user is deleted once. */
  given: (make: Make) => Asked | Promise<Asked>
  refused: Asked
}

/** What `asked` asks of one that `make` has made, and, unless told, of one that does not exist. */
const ofOne = <Kind extends keyof Make>(
  kind: Kind,
  asked: (made: Awaited<ReturnType<Make[Kind]>>) => Asked,
  refused = asked(UNKNOWN as never),
): Row => ({ given: async (make) => asked((await make[kind]()) as never), refused })

/** A request whose body is the argument of the method. */
const sent = (route: string, body: object): Asked => [[body], [route, body]]

const span = `from=${SPAN.from}&to=${SPAN.to}`
const url = 'https://receiver.example/'

const AUTH: Record<Exclude<keyof AuthOperations, 'as'>, Row> = {
  createUser: {
    given: () => sent('POST /_auth/users', { email: newEmail(), name: 'Ada', tenant: 'acme' }),
    refused: sent('POST /_auth/users', { name: 'Ada' }),
  },
  listUsers: {
    given: () => [
      [{ tenant: 'acme', limit: 2 }],
      ['GET /_auth/users?tenant=acme&limit=2'],
      ['GET /_auth/users?limit=2&tenant=acme'],
    ],
    refused: [[{ limit: 0 }], ['GET /_auth/users?limit=0']],
  },
  getUser: ofOne('user', ({ id }) => [[id]]),
  deleteUser: ofOne('user', ({ id }) => [[id], [`DELETE /_auth/users/${id}`]]),
  createApiKey: ofOne(
    'user',
    ({ id: userId }) => {
      const fields = { label: 'L', scopes: ['read'], limits: [{ limit: 3, perSeconds: 60 }] }
      return [[{ userId, ...fields }], [`POST /_auth/users/${userId}/keys`, fields]]
    },
    [[{ userId: NO_ID, scopes: ['x'] }], [`POST /_auth/users/${NO_ID}/keys`, { scopes: ['x'] }]],
  ),
  getApiKey: ofOne('key', ({ id }) => [[id], [`GET /_auth/keys/${id}`]]),
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
    ({ id }) => [[{ id, enabled: false }], [`PATCH /_auth/keys/${id}`, { enabled: false }]],
    [[{ id: NO_ID, label: 5 }], [`PATCH /_auth/keys/${NO_ID}`, { label: 5 }]],
  ),
  rotateApiKey: ofOne('key', ({ id }) => {
    const overlap = { overlapSeconds: 5 }
    return [[{ id, ...overlap }], [`POST /_auth/keys/${id}/rotate`, overlap]]
  }),
  revokeApiKey: ofOne('key', ({ id }) => [[id], [`DELETE /_auth/keys/${id}`]]),
  importApiKeys: ofOne('user', ({ id: userId }) => {
    const keys = [{ userId, sha256: randomBytes(32).toString('hex'), label: 'L' }]
    return [[keys], ['POST /_auth/keys/import', { keys }]]
  }),
  planChanged: { given: () => [['acme']], refused: [['not a tenant']] },
  validateApiKey: ofOne('key', ({ key }) => [[key]]),
  verifyApiKey: ofOne(
    'key',
    ({ key }) => sent('POST /_auth/verify', { key, scopes: ['read'] }),
    sent('POST /_auth/verify', { key: 5 }),
  ),
  checkApiKey: ofOne('key', ({ id }) => [[{ id }]], [[NO_ID]]),
  sealBootstrapKey: { given: () => [['salt'.repeat(10)]], refused: [['short']] },
  listScopes: { given: () => [[{ grantable: true }]], refused: [[{ grantable: 'yes' }]] },
  listTenants: {
    given: () => [[{ limit: 1, search: 'acm' }], ['GET /_auth/tenants?limit=1&search=acm']],
    refused: [[{ limit: 0 }], ['GET /_auth/tenants?limit=0']],
  },
  getUsage: ofOne(
    'key',
    ({ id }) => [
      [{ keyId: id, ...SPAN }],
      [`GET /_auth/keys/${id}/usage?${span}`],
      [`GET /_auth/usage?${span}`],
    ],
    [[{ by: 'year' }], ['GET /_auth/usage?by=year']],
  ),
  nearLimits: {
    given: () => [[{ over: 0.5 }], ['GET /_auth/near-limits?over=0.5']],
    refused: [[{ over: 2 }], ['GET /_auth/near-limits?over=2']],
  },
}

const base = '/_webhooks'
const WEBHOOKS: Record<Exclude<keyof SvcWebhooks, 'as'>, Row> = {
  register: {
    given: () => sent(`POST ${base}`, { url, events: '*', label: 'L', maxInFlight: 2 }),
    refused: sent(`POST ${base}`, { url, events: ['no'] }),
  },
  list: {
    given: () => [[{ state: 'active', limit: 2 }], [`GET ${base}?state=active&limit=2`]],
    refused: [[{ state: 'lost' }], [`GET ${base}?state=lost`]],
  },
  count: { given: () => [[{ state: 'active' }]], refused: [[{ state: 'lost' }]] },
  signing: ofOne('webhook', ({ id }) => [[id]]),
  get: ofOne('webhook', ({ id }) => [[id], [`GET ${base}/${id}`]], [['x'], [`GET ${base}/x`]]),
  update: ofOne(
    'webhook',
    ({ id }) => [[{ id, active: false }], [`PATCH ${base}/${id}`, { active: false }]],
    [[{ id: NO_ID, active: 1 }], [`PATCH ${base}/${NO_ID}`, { active: 1 }]],
  ),
  delete: ofOne('webhook', ({ id }) => [[id], [`DELETE ${base}/${id}`]]),
  rotateSecret: ofOne('webhook', ({ id }) => [[{ id }], [`POST ${base}/${id}/rotate-secret`]]),
  test: ofOne('webhook', ({ id }) => [[id], [`POST ${base}/${id}/test`]], [
    [{ id: NO_ID, event: 'no' }],
    [`POST ${base}/${NO_ID}/test`, { event: 'no' }],
  ]),
  listEvents: { given: () => [[], [`GET ${base}/events`]], refused: [[]] },
  feed: {
    given: () => [
      [{ after: 'start', events: ['order.*'], tenant: '' }],
      [`GET ${base}/feed?after=start&events=order.*&tenant=`],
    ],
    refused: [[{ limit: 501 }], [`GET ${base}/feed?limit=501`]],
  },
  webhookFeed: ofOne('webhook', ({ id }) => [
    [{ id, after: 'start' }],
    [`GET ${base}/${id}/feed?after=start`],
  ]),
  event: ofOne('event', ({ id }) => [[id], [`GET ${base}/events/${id}`]], [
    ['x'],
    [`GET ${base}/events/x`],
  ]),
  tryFilter: {
    given: () => [[{ filter: { event: 'order.created' }, events: '*' }]],
    refused: [[{ filter: { $no: 1 }, events: '*' }]],
  },
  listTenants: { given: () => [[]], refused: [[{ limit: 0 }]] },
  deliver: ofOne('webhook', ({ id }) => [[attemptAt(id)]]),
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
    ({ id: webhookId }) => [
      [{ webhookId, limit: 3 }],
      [`GET ${base}/${webhookId}/dead-letters?limit=3`],
      [`GET ${base}/dead-letters?webhookId=${webhookId}`],
    ],
    [[NO_ID], [`GET ${base}/${NO_ID}/dead-letters`]],
  ),
  searchDeliveries: {
    given: () => [[{ latest: true, limit: 2 }]],
    refused: [[{ status: 'lost' }]],
  },
  countDeadLetters: { given: () => [[]], refused: [[{ webhookId: 'x' }]] },
  getDelivery: ofOne('delivered', ({ webhookId, deliveryId }) => [
    [{ webhookId, deliveryId, attempt: 1 }],
    [`GET ${base}/${webhookId}/deliveries/${deliveryId}?attempt=1`],
    [`GET ${base}/${webhookId}/deliveries/${deliveryId}`],
  ]),
  redeliver: ofOne('delivered', ({ webhookId, deliveryId }) => [
    [{ webhookId, deliveryId }],
    [`POST ${base}/${webhookId}/deliveries/${deliveryId}/redeliver`],
  ]),
  redrive: ofOne('webhook', ({ id }) => [[id], [`POST ${base}/${id}/redrive`]]),
  recover: ofOne('webhook', ({ id }) => {
    const asked = { what: 'dead', since: SINCE, dryRun: true }
    return [[{ id, ...asked }], [`POST ${base}/${id}/recover`, asked]]
  }),
  recoverMany: ofOne(
    'webhook',
    ({ id }) => sent(`POST ${base}/recover`, { webhookIds: [id], what: 'dead', since: SINCE }),
    sent(`POST ${base}/recover`, { all: true, tenant: 'acme', what: 'dead', since: SINCE }),
  ),
  listRecoveries: ofOne('recovery', ({ webhookId }) => [
    [webhookId],
    [`GET ${base}/${webhookId}/recoveries`],
  ]),
  getRecovery: ofOne('recovery', ({ webhookId, id }) => [
    [{ webhookId, id }],
    [`GET ${base}/${webhookId}/recoveries/${id}`],
  ]),
  listHandlerDeadLetters: {
    given: () => [
      [{ subscription: 'ship', limit: 2 }],
      [`GET ${base}/handlers/dead-letters?subscription=ship&limit=2`],
    ],
    refused: [[{ since: 'now' }], [`GET ${base}/handlers/dead-letters?since=now`]],
  },
  pauseAll: {
    given: () => sent(`POST ${base}/pause-all`, { tenant: 'acme', reason: 'why' }),
    refused: sent(`POST ${base}/pause-all`, { reason: 7 }),
  },
  resumeAll: {
    given: () => sent(`POST ${base}/resume-all`, { tenant: 'acme' }),
    refused: sent(`POST ${base}/resume-all`, { tenant: '' }),
  },
  pauseHandler: {
    given: () => sent(`POST ${base}/handlers/pause`, { subscription: 'ship' }),
    refused: sent(`POST ${base}/handlers/pause`, { subscription: 'no' }),
  },
  resumeHandler: {
    given: () => sent(`POST ${base}/handlers/resume`, { subscription: 'ship' }),
    refused: sent(`POST ${base}/handlers/resume`, { subscription: 'no' }),
  },
  redriveHandler: {
    given: () => sent(`POST ${base}/handlers/redrive`, { subscription: 'ship' }),
    refused: sent(`POST ${base}/handlers/redrive`, { subscription: 'no' }),
  },
  deleteHandlerDeadLetter: ofOne('handlerDeadLetter', ({ id }) => [
    [id],
    [`DELETE ${base}/handlers/dead-letters/${id}`],
  ]),
  stats: {
    given: () => [[SPAN], [`GET ${base}/stats?${span}`]],
    refused: [[{ ...SPAN, by: 'year' }], [`GET ${base}/stats?${span}&by=year`]],
  },
  listInbound: {
    given: () => [[{ limit: 2 }], [`GET ${base}/inbound?limit=2`]],
    refused: [[{ outcome: 'lost' }], [`GET ${base}/inbound?outcome=lost`]],
  },
  listSources: {
    given: () => [[], [`GET ${base}/inbound/sources`]],
    refused: [[]],
  },
  testInbound: {
    given: () => [['sender'], [`POST ${base}/inbound/sources/sender/test`]],
    refused: [['nobody'], [`POST ${base}/inbound/sources/nobody/test`]],
  },
  replayInbound: ofOne('inbound', ({ id }) => [[id], [`POST ${base}/inbound/${id}/replay`]]),
}

/** Routes that no method has. */
const WITHOUT_METHOD = [
  'GET /_auth/audit',
  'GET /_auth/forward-auth',
  'GET /_auth/forward-auth/:scopes',
  'GET /_auth/me',
  'GET /_webhooks/asyncapi.json',
  'GET /_webhooks/egress',
  'GET /_webhooks/jwks.json',
  'GET /_webhooks/public-keys',
  'POST /_auth/me/rotate',
]

function attemptAt(webhookId: string) {
  return { webhookId, event: 'order.created', payload: 1, deliveryId: NO_ID, attempt: 1 }
}

type Make = ReturnType<typeof makers>
type Host = Awaited<ReturnType<typeof startHost>>

async function startHost(t: Test) {
  const connectionString = await freshDatabase(t)
  const receiver = await openReceiver()
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  t.teardown(() => receiver.close())
  const routes: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const isOurs = /^\/_(auth|webhooks)/.test(url) && !url.endsWith('*')
    for (const one of [method].flat()) if (isOurs && one !== 'HEAD') routes.push(`${one} ${url}`)
  })
  await app.register(svcCore, {
    database: { connectionString, max: 4 },
    secrets: () => BOOTSTRAP_KEY,
    worker: { enabled: false },
  })
  await app.register(svcAuth, { bootstrapKeySecret: 'KEY', excludePaths: ['/hook'] })
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
      },
    },
  })
  await app.svc.events.subscribe('order.created', () => {}, { subscription: 'ship' })
  await app.ready()
  return { app, routes, url: receiver.url }
}

let count = 0
const newEmail = () => `ada-${process.pid}-${Date.now()}-${count++}@example.com`

function makers({ app, url }: Host) {
  const { auth, webhooks } = app.svc
  const user = () => auth.createUser({ email: newEmail(), name: 'Ada' })
  const key = async () => auth.createApiKey({ userId: (await user()).id, scopes: ['read'] })
  const webhook = () => webhooks.register({ url, events: '*' })
  const delivered = async () => webhooks.deliver(attemptAt((await webhook()).id))
  const event = () => app.svc.events.publish('order.created', 1)
  const recovery = async () => {
    const { id: webhookId } = await webhook()
    const { id } = await webhooks.recover({ id: webhookId, what: 'dead', since: SINCE })
    const made = { webhookId, id: id! }
    // It is counted in the background.
    await until(async () => (await webhooks.getRecovery(made)).finishedAt !== null)
    return made
  }
  const inbound = async () => {
    const headers = { 'x-token': BOOTSTRAP_KEY }
    await app.inject({ method: 'POST', url: '/hook', headers, payload: { n: count++ } })
    return (await webhooks.listInbound({ limit: 1 }))[0]!
  }
  const handlerDeadLetter = async () => {
    const id = uuidv7()
    await app.svc.database.query(
      `insert into svc_jobs.job (id, name, data)
       values ($1, '__svc.sub/ship.dlq', '{"event":"order.created","eventId":"7"}')`,
      [id],
    )
    return { id }
  }
  return { user, key, webhook, delivered, event, handlerDeadLetter, recovery, inbound }
}

/** What came of it, without what differs each time; a refusal does not say which part of the request it was in. */
const comparable = (outcome: unknown): unknown =>
  JSON.parse(
    JSON.stringify(outcome ?? null)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>')
      .replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/ada-[\d-]+@/g, '<email>@')
      .replaceAll(/"(key|keyPrefix|secret)":"[^"]+"/g, '"$1":"<secret>"')
      .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
      // Of the first delivery, which makes a connection.
      .replaceAll(/,"phases":\[[^\]]*\]|,"address":"[^"]*"/g, '')
      .replaceAll(/"X-Svc-(Signature|Timestamp)":"[^"]+"/g, '"X-Svc-$1":"<of its time>"')
      .replace(/"message":"(input|body|querystring|params)\b/, '"message":"input'),
  )

async function called(call: () => Promise<unknown>): Promise<unknown> {
  return comparable(
    await call().catch(({ code, statusCode, message }) => ({
      refused: { code, statusCode, message },
    })),
  )
}

/** Fields in the query of a route that takes a body say nothing. */
const VAIN = '?label=x&scopes=admin&tenant=evil&active=false&cost=0&event=no&url=x&overlapSeconds=1'

async function requested({ app }: Host, [route, body]: [string, object?]): Promise<unknown> {
  const [method, path] = route.split(' ') as ['GET', string]
  const url = method === 'GET' ? path : `${path}${VAIN}`
  const headers = { 'x-api-key': BOOTSTRAP_KEY }
  const reply = await app.inject({ method, url, headers, ...(body && { payload: body }) })
  const answer = reply.body === '' ? null : reply.json()
  const { code, statusCode, message } = answer ?? {}
  return comparable(reply.statusCode < 400 ? answer : { refused: { code, statusCode, message } })
}

for (const [service, rows] of [
  ['auth', AUTH],
  ['webhooks', WEBHOOKS],
] as const) {
  t.test(`the doors of each operation of svc.${service} are one function`, async (t) => {
    const host = await startHost(t)
    const make = makers(host)
    const { actions, [service]: methods } = host.app.svc as never as {
      actions: { call: (name: string, ...args: unknown[]) => Promise<unknown> }
    } & Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>
    await make.key()
    await make.webhook()
    for (const [name, { given, refused }] of Object.entries(rows as Record<string, Row>)) {
      for (const [kind, asked] of [
        ['given', given],
        ['refused', () => refused],
      ] as const) {
        const byMethod = await called(async () => methods![name]!(...(await asked(make))[0]))
        const byAction = await called(async () =>
          actions.call(`__svc.${service}.${name}`, ...(await asked(make))[0]),
        )
        t.strictSame(byAction, byMethod, `${name}, ${kind}, as an action`)
        const [, ...requests] = await asked(make)
        for (const index of requests.keys()) {
          const [, ...fresh] = await asked(make)
          const { [index]: request } = fresh
          const answer = await requested(host, request!)
          t.strictSame(answer, byMethod, `${name}, ${kind}, by ${request![0]}`)
        }
      }
    }
  })
}

t.test('each route is a door of an operation', async (t) => {
  const host = await startHost(t)
  const make = makers(host)
  const isKnown = new Set(WITHOUT_METHOD)
  for (const { given } of [...Object.values(AUTH), ...Object.values(WEBHOOKS)]) {
    const [, ...requests] = await given(make)
    for (const [route] of requests) {
      const [method = '', url = ''] = route.split('?')[0]!.split(' ')
      const found = host.routes.find((one) => matches(one, method, url))
      if (found !== undefined) isKnown.add(found)
    }
  }
  const routes = host.routes.filter((route) => !route.endsWith('/'))
  t.strictSame(
    [...new Set(routes)].filter((route) => !isKnown.has(route)),
    [],
  )
})

/** A fixed path before one with a parameter, as the router has it. */
function matches(route: string, method: string, url: string): boolean {
  const [of = '', pattern = ''] = route.split(' ')
  const id = '[0-9a-f]{8}-[0-9a-f-]{27}'
  return (
    of === method &&
    new RegExp(`^${pattern.replace(':source', '\\w+').replaceAll(/:\w+/g, id)}$`).test(url)
  )
}
