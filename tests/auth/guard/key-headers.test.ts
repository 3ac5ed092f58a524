import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { BOOTSTRAP_KEY, prepareHost, startHost, type HostOptions } from '../support/host.ts'

const after: NonNullable<HostOptions['after']> = (app) => {
  app.get('/me', async ({ auth }) => ({ keyId: auth?.keyId }))
  app.get('/public', { config: { public: true } }, async ({ auth }) => ({
    keyId: auth?.keyId ?? null,
  }))
}

const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

t.test('a host takes keys in headers of its own, and as the user name of HTTP Basic', async (t) => {
  const auth = { keyHeaders: ['X-Acme-Key', 'acme-token'], basic: true }
  const { ask, makeKey } = await startHost(t, { after, auth })
  const [one, other] = [await makeKey(), await makeKey()]
  const get = (headers: Record<string, string | string[]>, path = '/me') =>
    ask('GET', path, { key: null, headers })
  const known = { status: 200, body: { keyId: one.id } }
  t.match(await get({ 'x-acme-key': one.key }), known)
  t.match(await get({ 'ACME-TOKEN': one.key }), known)
  t.match(await get({ authorization: basicOf(`${one.key}:`) }), known)
  t.match(await get({ authorization: `Bearer ${one.key}`, 'x-acme-key': one.key }), known)
  t.match(await get({ 'x-api-key': '', 'acme-token': ' ', 'x-acme-key': one.key }), known)
  t.match(
    await get({ authorization: basicOf(`${other.key}:secret`), 'x-acme-key': one.key }),
    known,
  )
  t.match(await get({ 'x-acme-key': BOOTSTRAP_KEY }, '/_auth/users'), { status: 200 })

  const ambiguous = { status: 401, body: { code: 'SVC_AUTH_AMBIGUOUS_CREDENTIALS' } }
  t.match(await get({ 'x-acme-key': one.key, 'x-api-key': other.key }), ambiguous)
  t.match(await get({ 'x-acme-key': one.key, 'acme-token': other.key }), ambiguous)
  t.match(await get({ authorization: basicOf(`${other.key}:`), 'x-acme-key': one.key }), ambiguous)
  const missing = { status: 401, body: { code: 'SVC_AUTH_MISSING_KEY' } }
  t.match(await get({ 'x-acme-key': ' ' }), missing)
  t.match(await get({ authorization: basicOf(`${one.key}:secret`) }), missing)
  t.match(await get({}, `/me?key=${one.key}&x-acme-key=${one.key}`), missing)
  t.match(await get({ 'x-acme-key': '', authorization: 'Basic' }, '/public'), {
    status: 200,
    body: { keyId: null },
  })
  t.match(await get({ 'x-acme-key': one.key }, '/public'), known)
})

t.test('without these options such headers are none of ours', async (t) => {
  const { ask, makeKey } = await startHost(t, { after })
  const { key } = await makeKey()
  for (const headers of [{ 'x-acme-key': key }, { authorization: basicOf(`${key}:`) }]) {
    t.match(await ask('GET', '/me', { key: null, headers }), {
      status: 401,
      body: { code: 'SVC_AUTH_MISSING_KEY' },
    })
  }
})

t.test('headers that have another meaning keep the host from booting', async (t) => {
  const refused = [
    'Authorization',
    'cookie',
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'keep-alive',
    'proxy-authorization',
    'te',
    'trailer',
    'upgrade',
    'x acme',
    'x-acme:',
    '',
    5,
  ]
  const wrong: [auth: object, message: RegExp][] = [
    ...refused.map((name): [object, RegExp] => [
      { keyHeaders: ['x-acme-key', name] },
      /"keyHeaders" must be a list of up to 4 names of headers .*\[1\]/,
    ]),
    [{ keyHeaders: 'x-acme-key' }, /"keyHeaders" must be a list/],
    [
      { keyHeaders: ['a', 'b', 'c', 'd', 'e'] },
      /"keyHeaders" must have at most 4 names, but has 5/,
    ],
    [{ basic: 'yes' }, /"basic" must be true or false/],
    [{ importedKeys: {} }, /"importedKeys.hash" is missing/],
    [{ importedKeys: { hash: 'sha256' } }, /"importedKeys.hash" must be a function/],
    [{ importedKeys: { hash: String, other: 1 } }, /there is no option "importedKeys.other"/],
  ]
  const database = await freshDatabase(t)
  for (const [auth, message] of wrong) {
    const boot = prepareHost(t, { database, auth })
    await t.rejects(boot, { code: 'SVC_CORE_INVALID_OPTION', message }, JSON.stringify(auth))
  }
})
