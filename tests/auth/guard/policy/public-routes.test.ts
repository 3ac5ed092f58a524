import { authOf, MissingKey } from '@svc/auth'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { BOOTSTRAP_KEY, prepareHost, startHost } from '../../support/host.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'

const after = (app: FastifyInstance) => {
  app.get('/open', { config: { public: true } }, async (request) => request.auth)
  app.get('/closed', { config: { public: false } }, async () => 'closed')
  app.get('/needs', { config: { public: true } }, async (request) => authOf(request).bootstrap)
}

t.test('a public route needs no key, and request.auth has a valid one', async (t) => {
  const { ask, makeKey } = await startHost(t, { after })
  const { key, id } = await makeKey({ scopes: [] })
  t.same((await ask('GET', '/open', { key: null })).body, null)
  t.match(await ask('GET', '/open', { key }), { status: 200, body: { keyId: id } })
  t.match(await ask('GET', '/open'), { status: 200, body: { bootstrap: true } })
  t.equal((await ask('GET', '/closed', { key: null })).status, 401)
})

t.test('a public route refuses a key that is not valid', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after })
  const { key, id } = await makeKey()
  await app.svc.auth.revokeApiKey(id)
  const invalid = { status: 401, body: { code: 'SVC_AUTH_INVALID_KEY' } }
  t.match(await ask('GET', '/open', { key }), invalid)
  t.match(await ask('GET', '/open', { key: 'nonsense' }), invalid)
  const headers = { authorization: 'Bearer other' }
  t.match(await ask('GET', '/open', { key: BOOTSTRAP_KEY, headers }), {
    status: 401,
    body: { code: 'SVC_AUTH_AMBIGUOUS_CREDENTIALS' },
  })
})

t.test('authOf returns the caller, and throws a 401 if there is none', async (t) => {
  const { ask } = await startHost(t, { after })
  t.match(await ask('GET', '/needs'), { status: 200, body: true })
  t.match(await ask('GET', '/needs', { key: null }), {
    status: 401,
    headers: { 'www-authenticate': 'Bearer' },
    body: { code: 'SVC_AUTH_MISSING_KEY' },
  })
  t.throws(() => authOf({ auth: null } as never), MissingKey)
})

t.test('a public route with scopes is an error at boot', async (t) => {
  const database = await freshDatabase(t)
  for (const config of [{ public: true, scopes: ['read'] }, { public: 'yes' as never }]) {
    const app = await prepareHost(t, {
      database,
      after: (host) => void host.get('/both', { config }, async () => 1),
    })
    await t.rejects(async () => app.ready(), {
      code: 'SVC_AUTH_INVALID_ROUTE_SCOPES',
      message: /GET.* \/both .*config.public/,
    })
  }
})
