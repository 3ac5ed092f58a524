import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startHost, withMe } from '../support/host.ts'
import { rawRequest } from '../support/raw-request.ts'

t.test('no handler runs after a refusal, also with an asynchronous onSend hook', async (t) => {
  const ran: string[] = []
  const { ask, makeKey } = await startHost(t, {
    after(app) {
      app.addHook('onSend', async (_request, _reply, payload) => {
        await new Promise((resolve) => setImmediate(resolve))
        return payload
      })
      for (const event of ['preParsing', 'preValidation', 'preHandler', 'onError'] as const) {
        app.addHook(event, async () => void ran.push(event))
      }
      app.setErrorHandler(async () => void ran.push('error handler'))
      app.post('/things', async () => void ran.push('handler'))
    },
  })
  const { key: reader } = await makeKey({ scopes: ['read'] })
  const { id, key: revoked } = await makeKey()
  await ask('DELETE', `/_auth/keys/${id}`)
  ran.length = 0

  // Twice: first with a query in the way, then from memory.
  for (let i = 0; i < 2; i++) {
    const body = { some: 'thing' }
    t.equal((await ask('POST', '/things', { key: null, body })).status, 401)
    t.equal((await ask('POST', '/things', { key: reader, body })).status, 403)
    t.equal((await ask('POST', '/things', { key: revoked, body })).status, 401)
    t.equal((await ask('POST', '/nothing', { key: 'no-such-key', body })).status, 401)
  }
  await new Promise((resolve) => setImmediate(resolve))
  t.same(ran, [])
})

t.test('a refusal is JSON, has no body for HEAD, and no stack trace', async (t) => {
  const { ask } = await startHost(t, { after: withMe })
  const answer = await ask('GET', '/me', { key: null })
  t.match(answer.headers, {
    'content-type': 'application/json; charset=utf-8',
    'www-authenticate': 'Bearer',
  })
  t.same(Object.keys(answer.body), ['statusCode', 'code', 'error', 'message'])
  const head = await ask('HEAD', '/me', { key: null })
  t.equal(head.status, 401)
  t.equal(head.body, undefined)
})

t.test(
  'a browser of another origin can read a refusal, and its preflight needs no key',
  async (t) => {
    const { ask } = await startHost(t, {
      before: async (app) => {
        await app.register(cors, { origin: 'https://example.com' })
      },
      after: withMe,
    })
    const allowed = { 'access-control-allow-origin': 'https://example.com' }
    const headers = { origin: 'https://example.com' }
    t.match(await ask('GET', '/me', { key: null, headers }), { status: 401, headers: allowed })
    const preflight = { ...headers, 'access-control-request-method': 'GET' }
    const asked = await ask('OPTIONS', '/me', { key: null, headers: preflight })
    t.match(asked, { status: 204, headers: allowed })
  },
)

t.test('an unknown field of a route’s config does not open the route', async (t) => {
  const { ask } = await startHost(t, {
    after(app) {
      const looks = [{ auth: false }, { auth: null }, { auth: { public: true } }, { open: true }]
      for (const [i, config] of looks.entries()) app.get(`/${i}`, { config }, async () => 'me')
    },
  })
  for (const path of ['/0', '/1', '/2', '/3']) {
    t.equal((await ask('GET', path, { key: null })).status, 401, path)
  }
})

t.test('a request that Fastify refuses before any hook reaches no handler', async (t) => {
  const ran: string[] = []
  const { app } = await startHost(t, {
    fastify: {
      frameworkErrors: ({ statusCode = 500, code }, _request, { raw }) => {
        raw.statusCode = statusCode
        raw.end(`the host says ${code}`)
      },
    },
    after: (app: FastifyInstance) => void app.all('/users/:id', async () => void ran.push('ran')),
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  for (const target of ['/users/%zz', `/users/${'x'.repeat(200)}`]) {
    const { status, text } = await rawRequest(app, { method: 'GET', target })
    // The first versions of Fastify 5 find no route for a parameter that is too long: the guard refuses it.
    if (status === 401 && target.length > 100) continue
    t.ok(status === 400 || status === 414)
    t.match(text, /the host says FST_ERR/)
  }
  t.same(ran, [])
})
