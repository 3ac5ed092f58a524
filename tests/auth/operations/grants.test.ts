import t from 'tap'
import { startHost } from '../support/host.ts'

t.test('a caller without admin grants read, write and the scopes that it holds', async (t) => {
  const { ask, makeKey, makeUser } = await startHost(t, { auth: { scopes: ['billing:read'] } })
  const path = `/_auth/users/${(await makeUser()).id}/keys`
  const { key: manager } = await makeKey({ scopes: ['auth:manage'] })
  const { key: biller } = await makeKey({ scopes: ['auth:manage', 'billing:read'] })
  const { key: admin } = await makeKey({ scopes: ['admin'] })

  const rows: [key: string, scopes: string[], status: number][] = [
    [manager, ['read', 'write'], 201],
    [manager, ['auth:manage'], 201],
    [manager, ['read', 'admin'], 403],
    [manager, ['webhooks:manage'], 403],
    [manager, ['billing:read'], 403],
    [manager, ['nope'], 400],
    [biller, ['billing:read', 'auth:manage'], 201],
    [biller, ['admin'], 403],
    [admin, ['admin', 'auth:manage', 'billing:read'], 201],
  ]
  for (const [key, scopes, status] of rows) {
    const answer = await ask('POST', path, { key, body: { scopes } })
    t.equal(answer.status, status, scopes.join())
  }
  t.equal((await ask('POST', path, { key: manager })).status, 201, 'the default')
  t.match(await ask('POST', path, { key: manager, body: { scopes: ['admin', 'read'] } }), {
    body: {
      statusCode: 403,
      code: 'SVC_AUTH_SCOPE_NOT_GRANTABLE',
      error: 'Forbidden',
      message: /: admin$/,
    },
  })
  t.equal((await ask('GET', path)).body.length, 5, 'what was refused was not made')
})
