// promise: No route, and no call of the console, gives one tenant access to another
/** Every management route, attacked by a key of another tenant with the ids of this one. */
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startHost, type Answer } from '../support/host.ts'

interface Victim {
  /** Empty for the operator. */
  tenant: string
  userId: string
  keyId: string
  key: string
}

interface Attack {
  /** @default that of the route, with the ids of the victim */
  path?: (victim: Victim) => string
  body?: (victim: Victim) => object
  /** What must come of it. @default a 404 */
  refused?: (answer: Answer, victim: Victim) => boolean
}

/** Not by the router: the path is that of a route. */
const isNotFound = ({ status, body }: Answer) => status === 404 && body.code?.startsWith('SVC_')
const isForbidden = ({ status }: Answer) => status === 403
/** The answer does not tell of the victim. */
const isSilent = ({ status, body }: Answer, { userId, keyId }: Victim) =>
  status === 200 && ![userId, keyId].some((id) => JSON.stringify(body).includes(id))
const isAboutItself = ({ status, body }: Answer, { keyId }: Victim) =>
  status < 300 && body.id !== keyId && body.replaces !== keyId

/** The path of a route with the ids of the victim. */
const pathWith = (route: string, { userId, keyId }: Victim) =>
  route
    .slice(route.indexOf(' ') + 1)
    .replace(/^\/users\/:(?:id|userId)/, `/users/${userId}`)
    .replace(':id', keyId)

/**
 * Management routes by method and path: how each is attacked. By default the ids of the victim in the path are
 * not found.
 */
const ATTACKS: Record<string, Attack> = {
  'POST /users': {
    body: () => ({ email: 'x@example.com', name: 'X', tenant: 'acme' }),
    refused: ({ status, body }) => status === 403 && body.code === 'SVC_FOREIGN_TENANT',
  },
  'GET /users': { path: () => '/users?tenant=acme', refused: isSilent },
  'POST /users/:userId/keys': { body: () => ({}) },
  'GET /keys': { path: ({ userId }) => `/keys?userId=${userId}`, refused: isSilent },
  'PATCH /keys/:id': { body: () => ({ enabled: false }) },
  'POST /keys/:id/rotate': { body: () => ({ overlapSeconds: 0 }) },
  'POST /keys/import': {
    body: ({ userId }) => ({ keys: [{ userId, sha256: '0'.repeat(64) }] }),
    refused: isForbidden,
  },
  'POST /verify': {
    body: ({ key }) => ({ key }),
    refused: (answer, victim) => isSilent(answer, victim) && answer.body.valid === false,
  },
  'GET /usage': {
    path: ({ tenant }) => `/usage?tenant=${tenant}`,
    refused: ({ status, body }) => status === 200 && body.totals.allowed === 0,
  },
  'GET /tenants': {
    refused: ({ status, body }, { tenant }) =>
      status === 200 && body.every((row: { tenant: string }) => row.tenant !== tenant),
  },
  'GET /near-limits': {
    path: ({ tenant }) => `/near-limits?over=0&tenant=${tenant}`,
    refused: isSilent,
  },
  'GET /audit': { path: ({ keyId }) => `/audit?target=${keyId}`, refused: isSilent },
  // These are about the presented key alone.
  'GET /me': { refused: isAboutItself },
  'POST /me/rotate': { refused: isAboutItself },
  // A stranger with a signature of GitHub alone.
  'POST /leaks/github': {
    body: ({ key }) => [{ token: key, type: 'svc_api_key', url: 'https://github.com/acme' }],
    refused: ({ status }) => status === 401,
  },
  // Says nothing but who asks.
  'GET /forward-auth': { refused: isForbidden },
  'GET /forward-auth/:scopes': {
    path: () => '/forward-auth/read',
    refused: isForbidden,
  },
}

/** The management routes of a host, wildcards and automatic HEAD routes left out. */
function watchRoutes(app: FastifyInstance): string[] {
  const routes: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    if (!url.startsWith('/_auth/') || url.endsWith('*')) return
    for (const one of [method].flat()) {
      if (one !== 'HEAD') routes.push(`${one} ${url.slice('/_auth'.length)}`)
    }
  })
  return routes
}

for (const victimTenant of ['acme', null]) {
  t.test(`no route lets a key of one tenant reach ${victimTenant ?? 'the operator'}`, async (t) => {
    let routes: string[] = []
    const { app, ask, makeKey } = await startHost(t, {
      auth: { githubLeaks: {} },
      before: (app) => void (routes = watchRoutes(app)),
    })
    const made = await makeKey({ tenant: victimTenant, scopes: ['read'] })
    const tenant = victimTenant ?? ''
    const victim = { tenant, userId: made.userId, keyId: made.id, key: made.key }
    t.equal((await ask('GET', '/_auth/me', { key: made.key })).status, 200)
    t.match(await app.svc.auth.getUsage({ tenant }), { totals: { allowed: 1 } })
    const before = await app.svc.auth.getApiKey(made.id)

    t.ok(routes.length >= 16)
    for (const route of routes) {
      const { path, body: bodyOf, refused = isNotFound } = ATTACKS[route] ?? {}
      const [method = ''] = route.split(' ')
      const body = bodyOf?.(victim)
      for (const scopes of [['auth:manage', 'auth:verify', 'audit:read'], ['admin']]) {
        const { key } = await makeKey({ tenant: 'globex', scopes })
        const answer = await ask(method, `/_auth${path?.(victim) ?? pathWith(route, victim)}`, {
          key,
          ...(body && { body }),
        })
        const about = `${route} with ${scopes}: ${answer.status} ${JSON.stringify(answer.body)}`
        t.ok(refused(answer, victim), about)
      }
    }

    const { lastUsedAt: _used, ...kept } = await app.svc.auth.getApiKey(made.id)
    const { lastUsedAt: _before, ...was } = before
    t.same(kept, was, 'nothing of it has changed')
    t.match(await app.svc.auth.validateApiKey(made.key), { valid: true })
  })
}
