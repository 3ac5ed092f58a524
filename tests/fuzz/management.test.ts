// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
import { randomUUID } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { freshDatabase } from '../support/fresh-database.ts'
import { fuzz, patiently, textOf, words } from './fuzz.ts'
import { newHost } from '../support/new-host.ts'

const WHOLE_REQUEST = { share: 0.6, longestMs: Infinity }
const SECRET = 'a-secret-that-nobody-guesses'

async function startHost(t: Test) {
  const connectionString = await freshDatabase(t)
  const app = newHost(t)
  const routes: { method: string; url: string }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    if (!/^\/_(?:auth|webhooks)/.test(url) || url.endsWith('*')) return
    for (const one of [method].flat()) routes.push({ method: one, url })
  })
  await app.register(svcCore, {
    database: { connectionString, max: 4 },
    secrets: () => SECRET,
    worker: { enabled: false },
  })
  await app.register(svcAuth, {
    roles: { viewer: ['read'] },
    // Too many attempts to block what the test itself sends.
    rateLimit: { maxAttempts: 10_000, windowMs: 60_000, blockDurationMs: 1000 },
  })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created'],
    inboundLog: { rawBodies: true },
    inbound: {
      github: providers.github({ path: '/hooks/github', secretName: 'S' }),
      open: { path: '/hooks/open', publishAs: 'order.created', verify: () => true },
    },
  })
  await app.ready()
  /** A key with all rights, and the ids of others to act on. */
  async function freshRows() {
    const { auth, webhooks } = app.svc
    const email = () => `${randomUUID()}@example.com`
    const admin = await auth.createUser({ email: email(), name: 'Admin' })
    const user = await auth.createUser({ email: email(), name: 'User' })
    const { key } = await auth.createApiKey({ userId: admin.id, scopes: ['admin'] })
    const { id } = await auth.createApiKey({ userId: user.id, scopes: ['read'] })
    const webhook = await webhooks.register({ url: 'https://example.com', events: ['*'] })
    return { key, ids: [user.id, id, webhook.id] }
  }
  const asked = (request: InjectOptions) => patiently(() => app.inject(request))
  return { asked, routes, freshRows }
}

const word = fc.constantFrom(
  ...words('url events tenant filter headers metadata retry rateLimit ordered'),
  ...words('description timeoutMs maxInFlight transform active email name userId'),
  ...words('scopes label expiresAt enabled allowedIps limits quota key ip'),
  ...words('cost overlapSeconds ids event limit perSeconds period maxAttempts'),
  ...words('delaysSeconds payload $eq __proto__ constructor since until what'),
)
const leaf = fc.oneof(
  fc.constantFrom(
    'https://example.com/',
    '*',
    'order.created',
    'read',
    'day',
    'acme',
    '10.0.0.0/8',
  ),
  fc.constantFrom('2030-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '-000001-01-01T00:00:00Z'),
  fc.constantFrom('\0', '\ud800', '\uffff', '', 'a\0b', '\u202e', 'x'.repeat(5000)),
  fc.constantFrom(0, -1, 1, 1.5, 2 ** 31, 2 ** 53, 1e308, null, true),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const { body } = fc.letrec((tie) => ({
  body: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('body'), { maxLength: 3 }),
    fc.array(fc.tuple(word, tie('body')), { maxLength: 5 }).map((all) => Object.fromEntries(all)),
    fc
      .array(fc.tuple(leaf.map(String), tie('body')), { maxLength: 5 })
      .map((all) => Object.fromEntries(all)),
  ),
}))
/** What a route would take. */
const RIGHT: Record<string, object> = {
  'POST /_webhooks': { url: 'https://example.com/', events: ['*'] },
  'POST /_auth/users': { email: 'b@example.com', name: 'B' },
  'POST /_auth/verify': { key: 'svc_a' },
}
/** Fields of a right body, and those beside them: often one alone is wrong. */
const fields = fc
  .array(fc.tuple(word, body), { maxLength: 2 })
  .map((entries) => Object.fromEntries(entries))

const queryName = fc.constantFrom(
  ...words('limit after tenant status event eventId deliveryId statusCode by'),
  ...words('since until from to state prefix userId unusedSince actor target'),
  ...words('action source outcome webhookId'),
)

t.test('the management routes answer whatever they are sent, and never with a 500', async (t) => {
  const { asked, routes, freshRows } = await startHost(t)
  let { key, ids } = await freshRows()
  t.ok(routes.length > 30, `${routes.length} routes`)
  const known = fc.nat(2).map((place) => () => ids[place] ?? '')
  const id = fc.oneof(
    known,
    fc.oneof(fc.uuid(), textOf('a', '%00', '..', '%')).map((text) => () => text),
  )
  const query = fc.array(fc.tuple(queryName, fc.oneof(leaf.map(String), fc.uuid())), {
    maxLength: 3,
  })
  const request = fc.record({
    route: fc.constantFrom(...routes),
    id,
    query,
    body: fc.oneof(body, fields),
    isNearlyRight: fc.boolean(),
  })
  await fuzz(
    t,
    request,
    async ({ route, id, query, body, isNearlyRight }) => {
      const path = route.url.replaceAll(/:\w+/g, () => encodeURIComponent(id().toWellFormed()))
      const text = new URLSearchParams(
        query.map(([name, value]): [string, string] => [name, value.toWellFormed()]),
      )
      const hasBody = !['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(route.method)
      const answer = await asked({
        method: route.method,
        url: `${path}?${text}`,
        headers: { 'x-api-key': key },
        ...(hasBody && {
          payload: JSON.stringify(
            isNearlyRight ? Object.assign({}, RIGHT[`${route.method} ${route.url}`], body) : body,
          ),
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
        }),
      })
      if (answer.statusCode === 401 || route.method === 'DELETE') ({ key, ids } = await freshRows())
      if (answer.statusCode >= 500) throw new Error(`${answer.statusCode} ${answer.body}`)
      if (answer.body.includes(SECRET)) throw new Error('the answer holds a secret of the host')
    },
    WHOLE_REQUEST,
  )
})

t.test('inbound sources answer whatever they are sent, and never with a 500', async (t) => {
  const { asked } = await startHost(t)
  const request = fc.record({
    path: fc.constantFrom('/hooks/github', '/hooks/open'),
    type: fc.oneof(
      fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'text/plain'),
      textOf('application/', 'json', ';', 'charset=', 'utf-7', 'x').map((text) =>
        text.replaceAll(/[^\x20-\x7e]/g, ''),
      ),
    ),
    signature: textOf('sha256=', 'ff').map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      textOf('a=b&', '%00', '%', '{"a":', '[', '"\\u0000"', '\\ud800').map((text) =>
        Buffer.from(text),
      ),
    ),
  })
  await fuzz(
    t,
    request,
    async ({ path, type, signature, bytes }) => {
      const answer = await asked({
        method: 'POST',
        url: path,
        headers: { 'content-type': type, 'x-hub-signature-256': signature },
        payload: bytes,
      })
      if (answer.statusCode >= 500) throw new Error(`${answer.statusCode} ${answer.body}`)
      if (path === '/hooks/github' && answer.statusCode < 300) throw new Error('it is accepted')
    },
    WHOLE_REQUEST,
  )
})
