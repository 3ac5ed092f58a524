/** Samples for sources: each is signed as its sender would, and goes the way of a request from outside. */
import t from 'tap'
import { hmac, type InboundSource } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { hostOf } from './host.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLjSw'
const path = (name: string) => `/hooks/${name}`
const publishAs = 'shop.order'

/** Each kind of signature that a host can have the secret of. */
const SIGNED: Record<string, InboundSource> = {
  github: providers.github({ path: path('github'), secretName: 'SECRET' }),
  standard: providers.standardWebhooks({ path: path('standard'), secretName: 'SECRET' }),
  stripe: providers.stripe({ path: path('stripe'), secretName: ['NEXT', 'SECRET'] }),
  square: providers.square({
    path: path('square'),
    secretName: 'SECRET',
    publicOrigin: 'https://shop.example',
  }),
  body: {
    path: path('body'),
    publishAs,
    verify: hmac({ signatureHeader: 'x-s', secretName: 'SECRET' }),
  },
  timed: {
    path: path('timed'),
    publishAs,
    verify: hmac({
      signatureHeader: 'x-s',
      timestampHeader: 'x-t',
      secretName: 'SECRET',
      encoding: 'base64',
      prefix: 'v1,',
      toleranceSeconds: 60,
      computePayload: (body, timestamp) => `${timestamp}.${body}`,
      key: (secret) => Buffer.from(secret.slice(6), 'base64'),
    }),
  },
  fields: {
    path: path('fields'),
    publishAs,
    verify: hmac({
      signatureHeader: 'x-s',
      secretName: 'SECRET',
      extractSignature: { signature: 'v1', timestamp: 't' },
      toleranceSeconds: 60,
      computePayload: (body, timestamp) => `${timestamp}.${body}`,
    }),
  },
}

t.test('a sample is signed with the secret of the host, and publishes an event', async (t) => {
  const { app } = await hostOf(t, SIGNED, {
    secrets: { SECRET, NEXT: null },
    inboundTests: true,
    inboundLog: { rawBodies: true },
  })
  const { webhooks } = app.svc
  t.same(
    await webhooks.listSources(),
    Object.entries(SIGNED).map(([name, source]) => ({
      name,
      path: source.path,
      notTestable: null,
    })),
  )
  for (const source of Object.keys(SIGNED)) {
    const result = await webhooks.testInbound(source)
    t.match(result, { outcome: 'accepted', statusCode: 200, eventId: /^test-/ }, source)
    t.match(await webhooks.testInbound(source), { outcome: 'accepted' }, `${source} once more`)
    const [, logged] = await webhooks.listInbound({ source })
    t.match(logged, {
      outcome: 'accepted',
      eventId: result.eventId,
      headers: { 'x-svc-test': 'true' },
    })
  }
  const { answer } = await webhooks.testInbound({ source: 'body', body: { order: 7 } })
  const { eventId } = JSON.parse(answer) as { eventId: string }
  t.match(await app.svc.events.find('shop.order', eventId), { payload: { order: 7 } })
  t.match(await app.svc.audit.list({ limit: 1 }), [
    { action: 'inbound.test', target: { id: 'body' }, changes: { outcome: { to: 'accepted' } } },
  ])
})

t.test('what a sample cannot be signed for is said, and nothing is sent', async (t) => {
  const verify = hmac({ signatureHeader: 'x-s', secretName: 'SECRET' })
  const reading = (header: string) => header
  const sources: Record<string, [InboundSource, RegExp]> = {
    own: [{ path: '/own', publishAs, verify: () => true }, /verify is a function of this host/],
    unset: [providers.github({ path: '/unset', secretName: 'NONE' }), /secret NONE is not set/],
    many: [{ path: '/many/:shop', publishAs, verify }, /path has parameters/],
    reading: [
      {
        path: '/reading',
        publishAs,
        verify: hmac({ signatureHeader: 'x-s', secretName: 'SECRET', extractSignature: reading }),
      },
      /extractSignature is a function/,
    ],
    chosen: [
      {
        path: '/chosen',
        publishAs,
        verify: hmac({ signatureHeader: 'x-s', secretName: () => 'SECRET' }),
      },
      /secret depends on the request/,
    ],
    keyPair: [providers.discord({ path: '/pair', secretName: 'SECRET' }), /signs with a key pair/],
    fetched: [providers.fal({ path: '/fetched' }), /has keys of its own, which a host fetches/],
  }
  const given = Object.fromEntries(
    Object.entries(sources).map(([name, [source]]) => [name, source]),
  )
  const { app } = await hostOf(t, given, { secrets: { SECRET }, inboundTests: true })
  const listed = await app.svc.webhooks.listSources()
  for (const [name, [, why]] of Object.entries(sources)) {
    t.match(listed.find((one) => one.name === name)?.notTestable, why, name)
    await t.rejects(app.svc.webhooks.testInbound(name), {
      code: 'SVC_WEBHOOKS_NOT_TESTABLE',
      statusCode: 409,
      message: why,
    })
  }
  await t.rejects(app.svc.webhooks.testInbound('nobody'), { code: 'SVC_WEBHOOKS_SOURCE_NOT_FOUND' })
  t.same(await app.svc.webhooks.listInbound(), [])
})

t.test('a sample meets the hooks of the host, and needs an option', async (t) => {
  const refusing = await hostOf(
    t,
    { body: SIGNED['body']! },
    {
      secrets: { SECRET },
      inboundTests: true,
      before: (app) =>
        app.addHook('onRequest', async (_, reply) => reply.code(403).send('not here')),
    },
  )
  t.match(await refusing.app.svc.webhooks.testInbound('body'), {
    outcome: 'refused',
    statusCode: 403,
    answer: 'not here',
    eventId: null,
  })
  const { app } = await hostOf(t, { body: SIGNED['body']! }, { secrets: { SECRET } })
  await t.rejects(app.svc.webhooks.testInbound('body'), { message: /the option inboundTests/ })
})

t.test('a host that keeps no log has the routes of its sources, and none of the log', async (t) => {
  const inbound = { body: SIGNED['body']! }
  const options = { secrets: { SECRET }, inboundTests: true, inboundLog: false as const }
  const { app } = await hostOf(t, inbound, options)
  const asked = (method: 'GET' | 'POST', path: string) =>
    app.inject({ method, url: `/_webhooks/inbound${path}` })
  t.match((await asked('GET', '/sources')).json(), [{ name: 'body', notTestable: null }])
  t.match((await asked('POST', '/sources/body/test')).json(), { outcome: 'accepted' })
  t.equal((await asked('GET', '')).statusCode, 404)
  t.equal((await asked('POST', '/018f0000-0000-7000-8000-000000000000/replay')).statusCode, 404)
})

t.test(
  'while secrets cannot be read, the sources are listed all the same, with the reason',
  async (t) => {
    const secrets = {
      get SECRET(): string {
        throw new Error('the vault is away')
      },
    }
    const { app } = await hostOf(t, { body: SIGNED['body']! }, { secrets, inboundTests: true })
    t.match(await app.svc.webhooks.listSources(), [{ notTestable: /SECRET cannot be read/ }])
    await t.rejects(app.svc.webhooks.testInbound('body'), { code: 'SVC_WEBHOOKS_NOT_TESTABLE' })
  },
)
