// promise: While Postgres is unreachable the sender is told to try again
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { InboundSource } from '@svc/webhooks'
import { ProviderClient } from '../../../packages/providers/src/provider-client.ts'
import { registerInbound } from '../../../packages/webhooks/src/inbound/register.ts'
import type { Receiving } from '../../../packages/webhooks/src/inbound/receive.ts'
import type { RequestLog } from '../../../packages/webhooks/src/inbound/request-log.ts'
import { resolveSources } from '../../../packages/webhooks/src/inbound/sources.ts'
import { newHost } from '../../support/new-host.ts'

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const away = async (): Promise<never> => {
  throw refused()
}

/** What receiving needs, with this instead of a core. */
const settingsOf = (core: object) => ({
  core: core as Receiving['core'],
  providerClient: new ProviderClient(away),
  log: null,
  bodyLimitBytes: 100,
})

/** A host whose Postgres cannot be reached, or answers a publish otherwise. */
function hostWithout(
  t: Test,
  source: Partial<InboundSource> = {},
  publish: () => Promise<never> = away,
): FastifyInstance {
  const bus = { publish }
  const core = { svc: { secrets: { get: async () => 's' } }, bus }
  const a = { path: '/a', publishAs: 'a', verify: () => true, ...source }
  const app = newHost(t)
  registerInbound(app, resolveSources({ a }), settingsOf(core))
  return app
}

const post = (app: FastifyInstance) => app.inject({ method: 'POST', url: '/a', body: 'x' })

t.test('while Postgres is unavailable the sender is answered 503 with Retry-After', async (t) => {
  for (const source of [{}, { deduplicationKey: () => 'k' }]) {
    const answer = await post(hostWithout(t, source))
    t.equal(answer.headers['retry-after'], '1')
    t.match(answer.json(), {
      statusCode: 503,
      code: 'SVC_UNAVAILABLE',
      error: 'Service Unavailable',
      message: /database/,
    })
  }
})

t.test('the answer 503 says what is the matter, as that of a publish does', async (t) => {
  const reasons = {
    ECONNREFUSED: 'the database cannot be reached, try again',
    25006: 'the database only reads at the moment, try again',
    53100: 'the disk of the database is full, try again later',
    '57P03': 'the database is starting or shutting down, try again',
    '40P01': 'the database is busy, try again',
  }
  for (const [code, message] of Object.entries(reasons)) {
    const answer = await post(
      hostWithout(t, {}, async () => {
        throw Object.assign(new Error('as Postgres says it'), { code })
      }),
    )
    t.match(answer.json(), { statusCode: 503, code: 'SVC_UNAVAILABLE', message })
  }
})

t.test('a verify function that throws a connection error is a 500', async (t) => {
  const answer = await post(hostWithout(t, { verify: away }))
  t.match(answer.json(), { statusCode: 500, code: 'SVC_WEBHOOKS_INBOUND_FAILED' })
})

t.test('of a thrown value that is no error the inbound log has the type', async (t) => {
  const thrown = (value: unknown) => (): never => {
    throw value as Error
  }
  const cases: [source: Partial<InboundSource>, reason: string][] = [
    [{ publishAs: thrown('card 4242') }, 'publishAs threw a value of type string, not an Error'],
    [{ verify: async () => thrown(undefined)() }, 'verify threw a value of type undefined, not'],
    [{ deduplicationKey: thrown({ card: 4242 }) }, 'deduplicationKey threw a value of type object'],
    [{ tenant: thrown(null) }, 'tenant threw a value of type null, not an Error'],
  ]
  for (const [source, reason] of cases) {
    const reasons: (string | null)[] = []
    const note = (...[, , text]: Parameters<RequestLog['note']>) => void reasons.push(text)
    const lines: string[] = []
    const app = Fastify({ logger: { stream: { write: (line: string) => void lines.push(line) } } })
    t.teardown(() => app.close())
    const core = { svc: { secrets: { get: async () => 's' } } }
    const a = { path: '/a', publishAs: 'a', verify: () => true, ...source }
    const log = { note, attachedRow: () => undefined } as unknown as RequestLog
    registerInbound(app, resolveSources({ a }), { ...settingsOf(core), log })
    t.equal((await post(app)).statusCode, 500)
    t.match(reasons, [new RegExp(`^SVC_WEBHOOKS_INBOUND_FAILED: ${reason}`)])
    t.match(lines.join(''), /"reason":"a value was thrown that is not an Error: /)
  }
})

t.test('an error of the host’s own hook is answered by the host', async (t) => {
  const app = newHost(t)
  app.addHook('onRequest', async () => {
    throw Object.assign(new Error('slow down'), { statusCode: 429 })
  })
  app.setErrorHandler((error: Error, _request, reply) =>
    reply.code(429).send({ own: error.message }),
  )
  const a = { path: '/a', publishAs: 'a', verify: () => true }
  registerInbound(app, resolveSources({ a }), settingsOf({}))
  const answer = await post(app)
  t.equal(answer.statusCode, 429)
  t.strictSame(answer.json(), { own: 'slow down' })
})

t.test('a host’s own validator, serializer and reply serializer are kept out of it', async (t) => {
  const app = newHost(t)
  app.setSerializerCompiler(() => () => '"the host’s"')
  app.setReplySerializer(() => '"the host’s"')
  const core = {
    svc: { secrets: { get: async () => null } },
    bus: { publish: async () => [{ id: 'e1', duplicate: false }] },
  }
  const a = {
    path: '/a',
    publishAs: 'a',
    verify: ({ headers }: { headers: object }) => 'x-ok' in headers,
  }
  registerInbound(app, resolveSources({ a }), settingsOf(core))
  const ok = await app.inject({ method: 'POST', url: '/a', headers: { 'x-ok': '' }, body: 'x' })
  t.strictSame(ok.json(), { status: 'accepted', eventId: 'e1' })
  t.match((await post(app)).json(), { statusCode: 401, code: 'SVC_WEBHOOKS_NOT_VERIFIED' })
})

const route = { path: '/a', publishAs: 'a', verify: () => true }
const taken: [what: string, method: 'GET' | 'POST', source: InboundSource, message: RegExp][] = [
  [
    'a route of the host',
    'POST',
    route,
    /"inbound\.a\.path".* \/in\/a has a route for POST already/,
  ],
  [
    'a GET of the host where the source answers handshakes',
    'GET',
    { ...route, respond: () => null },
    /"inbound\.a\.path".* has a route for POST or GET already/,
  ],
  ['a route with a parameter of another name', 'POST', { ...route, path: '/:x' }, /\/in\/:x/],
]
for (const [what, method, a, message] of taken) {
  t.test(`a path that is taken by ${what} is an error at boot that names the source`, async (t) => {
    const app = newHost(t)
    const url = a.path === '/:x' ? '/in/:y' : '/in/a'
    app.route({ method, url, handler: async () => 'the host’s' })
    app.register(async (child) => registerInbound(child, resolveSources({ a }), settingsOf({})), {
      prefix: '/in',
    })
    await t.rejects(
      (async () => {
        await app.ready()
      })(),
      { code: 'SVC_CORE_INVALID_OPTION', message },
    )
  })
}

t.test('a GET of the host on the path of a source without respond stays', async (t) => {
  const app = newHost(t)
  app.get('/a', async () => 'the host’s')
  registerInbound(app, resolveSources({ a: route }), settingsOf({}))
  t.equal((await app.inject('/a')).body, 'the host’s')
})
