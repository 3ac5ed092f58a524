// promise: No route, and no call of the console, gives one tenant access to another
/** Each operation and each route, asked for with the ids of another tenant. */
import t from 'tap'
import { untilCount } from '../support/until.ts'
import {
  AUTH,
  makers,
  startHost,
  UNKNOWN,
  WEBHOOKS,
  WITHOUT_METHOD,
  type Asked,
  type Ids,
  type Row,
} from '../support/operations.ts'

/** Not by the router, whose errors have other codes. */
const NOT_FOUND = { statusCode: 404, code: /^SVC_/ }
const FORBIDDEN = { statusCode: 403, code: /^SVC_/ }
const FOREIGN_TENANT = { statusCode: 403, code: 'SVC_FOREIGN_TENANT' }
const OPERATOR_ONLY = { statusCode: 403, code: 'SVC_WEBHOOKS_OPERATOR_ONLY' }
const IMPORTED = { statusCode: 403, code: 'SVC_AUTH_OPERATOR_ONLY' }
const OPERATORS: unknown[] = [OPERATOR_ONLY, IMPORTED]
const INVALID = { valid: false, keyId: null }
const NOT_USED = { totals: { allowed: 0 } }
const NO_ATTEMPTS = {
  points: Array.from({ length: 60 }, () => ({ attempts: { delivered: 0, failed: 0 } })),
}

/** What must come of an operation, where it is not a 404. */
const OUTCOMES: { [Name in keyof typeof AUTH | keyof typeof WEBHOOKS]?: unknown } = {
  createUser: FOREIGN_TENANT,
  planChanged: FOREIGN_TENANT,
  register: FOREIGN_TENANT,
  tryFilter: FOREIGN_TENANT,
  importApiKeys: IMPORTED,
  pauseAll: OPERATOR_ONLY,
  resumeAll: OPERATOR_ONLY,
  pauseHandler: OPERATOR_ONLY,
  resumeHandler: OPERATOR_ONLY,
  redriveHandler: OPERATOR_ONLY,
  listHandlerDeadLetters: OPERATOR_ONLY,
  deleteHandlerDeadLetter: OPERATOR_ONLY,
  listSources: OPERATOR_ONLY,
  testInbound: OPERATOR_ONLY,
  validateApiKey: INVALID,
  verifyApiKey: INVALID,
  checkApiKey: INVALID,
  listUsers: [],
  listTenants: [],
  list: [],
  listInbound: [],
  nearLimits: { keys: [], tenants: [] },
  count: { count: 0 },
  countDeadLetters: { count: 0 },
  feed: { events: [] },
  stats: NO_ATTEMPTS,
  // The same for everybody.
  sealBootstrapKey: null,
  listScopes: Array,
  listEvents: [{ name: 'order.created' }],
}

/** What comes of searches by the id of another tenant, whose method asks for the rows of that id. */
const SEARCHES: Record<string, unknown> = {
  'GET /_auth/keys': [],
  'GET /_auth/usage': NOT_USED,
  'GET /_webhooks/deliveries': [],
  'GET /_webhooks/dead-letters': [],
}

/** Searches by the tenant, beside those of the examples. */
const BY_TENANT = (tenant: string): [name: string, asked: Asked, outcome: unknown][] => {
  const dead = { tenant: 'acme', what: 'dead', since: '2020-01-01T00:00:00Z' }
  return [
    ['getUsage', [[{ tenant }], [`GET /_auth/usage?tenant=${tenant}`]], NOT_USED],
    ['listApiKeys', [[{ tenant }], [`GET /_auth/keys?tenant=${tenant}`]], []],
    ['listDeliveries', [[{ tenant }], [`GET /_webhooks/deliveries?tenant=${tenant}`]], []],
    ['listDeadLetters', [[{ tenant }], [`GET /_webhooks/dead-letters?tenant=${tenant}`]], []],
    [
      'stats',
      [[{ tenant, by: 'minute' }], [`GET /_webhooks/stats?by=minute&tenant=${tenant}`]],
      NO_ATTEMPTS,
    ],
    ['recoverMany', [[dead], ['POST /_webhooks/recover', dead]], FOREIGN_TENANT],
    ['pauseAll', [[{}], ['POST /_webhooks/pause-all', {}]], OPERATOR_ONLY],
    ['resumeAll', [[{}], ['POST /_webhooks/resume-all', {}]], OPERATOR_ONLY],
  ]
}

/** What must come of the routes without a method. */
const WITHOUT: Record<string, unknown> = {
  'GET /_auth/audit': [],
  'GET /_auth/forward-auth': FORBIDDEN,
  'GET /_auth/forward-auth/:scopes': FORBIDDEN,
  // These are about the presented key alone.
  'GET /_auth/me': { tenant: 'globex' },
  'POST /_auth/me/rotate': { tenant: 'globex' },
  'GET /_webhooks/asyncapi.json': { asyncapi: String },
  // A stranger with a signature of GitHub alone.
  'POST /_auth/leaks/github': { statusCode: 401 },
}

for (const tenant of ['acme', null]) {
  t.test(`nothing of one tenant reaches ${tenant ?? 'the operator'}`, async (t) => {
    const host = await startHost(t, {})
    const { app, receiver } = host
    const { svc } = app
    const make = makers(host, tenant)
    const makeForeign = makers(host, 'globex')
    const made: Ids = {
      ...UNKNOWN,
      tenant: tenant ?? '',
      ...(await make.key()),
      ...(await make.recovery()),
      ...(await make.request()),
      ...(await make.handlerDeadLetter()),
    }
    const { webhookId, userId, keyId } = made
    const [attempt] = await untilCount(1, () => svc.webhooks.listDeliveries(webhookId))
    const victim: Ids = {
      ...made,
      deliveryId: attempt!.deliveryId,
      eventId: attempt!.eventId!,
    }
    await app.inject({ url: '/_auth/me', headers: { 'x-api-key': victim.key } })
    t.match(await svc.auth.getUsage({ keyId }), { totals: { allowed: 1 } })
    const state = async () => ({
      // Deliveries and uses that were before are written a moment later.
      webhook: { ...(await svc.webhooks.get(webhookId)), lastSuccessAt: null },
      key: { ...(await svc.auth.getApiKey(keyId)), lastUsedAt: null },
      user: await svc.auth.getUser(userId),
      received: receiver.received.length,
    })
    const before = await state()

    const isRefused = (outcome: unknown, expected: unknown, about: string) => {
      t.match(outcome, expected, about)
      if (Array.isArray(expected)) t.equal((outcome as []).length, expected.length, about)
      const text = JSON.stringify(outcome ?? null)
      const { tenant: _, ...ids } = victim
      const isTold = Object.values(ids).some((id) => text.includes(id))
      t.notOk(
        (expected as { statusCode?: number } | null)?.statusCode === undefined && isTold,
        about,
      )
    }
    const isEachRequestRefused = async (
      [route, body]: [route: string, body?: object],
      expected: unknown,
    ) => {
      const [method, url] = route.split(' ') as ['GET', string]
      for (const scopes of [
        ['auth:manage', 'auth:verify', 'audit:read', 'webhooks:manage'],
        ['admin'],
      ]) {
        const stranger = await makeForeign.user()
        const { key } = await svc.auth.createApiKey({ ...stranger, scopes })
        const headers = { 'x-api-key': key }
        const reply = await app.inject({ method, url, headers, ...(body && { payload: body }) })
        // The guard asks for admin before an operation asks for the operator.
        const isGuards = OPERATORS.includes(expected) && !scopes.includes('admin')
        const outcome: unknown = reply.body === '' ? null : reply.json()
        isRefused(outcome, isGuards ? FORBIDDEN : expected, `${route} with ${scopes}`)
      }
    }
    const services = { auth: AUTH, webhooks: WEBHOOKS }
    for (const [service, rows] of Object.entries(services)) {
      const by = svc[service as keyof typeof services].as({ tenant: 'globex' }) as never as Record<
        string,
        (...args: unknown[]) => Promise<unknown>
      >
      t.same(Object.keys(by).toSorted(), Object.keys(rows).toSorted(), 'all have an example')
      const examples = Object.entries<Row>(rows).map(([name, { asked }]) => {
        const outcome = name in OUTCOMES ? OUTCOMES[name as keyof typeof OUTCOMES] : NOT_FOUND
        return [name, asked(victim), outcome] as const
      })
      for (const [name, [args, ...requests], outcome] of [
        ...examples,
        ...BY_TENANT(victim.tenant).filter(([name]) => name in rows),
      ]) {
        isRefused(await by[name]!(...args).catch((error: unknown) => error), outcome, name)
        for (const request of requests) {
          const searched = SEARCHES[request[0].split('?')[0]!]
          await isEachRequestRefused(request, searched ?? outcome)
        }
      }
    }
    for (const [route, asked] of Object.entries(WITHOUT_METHOD)) {
      await isEachRequestRefused(asked(victim), WITHOUT[route] ?? NOT_FOUND)
    }
    t.same(await state(), before, 'nothing of it has changed')
    t.match(await svc.auth.validateApiKey(victim.key), { valid: true })
  })
}
