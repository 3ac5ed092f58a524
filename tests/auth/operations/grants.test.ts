import t from 'tap'
import { startHost } from '../support/host.ts'

t.test('a caller without admin grants read, write and the scopes that it holds', async (t) => {
  const { ask, makeKey, makeUser } = await startHost(t, { auth: { scopes: ['billing:read'] } })
  const path = `/_auth/users/${(await makeUser()).id}/keys`
  const { key: manager } = await makeKey({ scopes: ['auth:manage'] })
  const { key: biller } = await makeKey({ scopes: ['auth:manage', 'billing:read'] })
  const { key: admin } = await makeKey({ scopes: ['admin'] })

  // More rows are in tests/auth/scopes.test.ts.
  const rows: [key: string, scopes: string[], status: number][] = [
    [manager, ['read', 'write', 'auth:manage'], 201],
    [manager, ['billing:read'], 403],
    [biller, ['billing:read', 'auth:manage'], 201],
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
  t.equal((await ask('GET', path)).body.length, 4, 'what was refused was not made')
})

t.test(
  'a restricted key can neither lift its restrictions nor make keys without them',
  async (t) => {
    const { ask, makeKey } = await startHost(t)
    const scopes = ['auth:manage']
    const expiresAt = '2999-01-01T00:00:00.000Z'
    const office = await makeKey({ scopes })
    await ask('PATCH', `/_auth/keys/${office.id}`, { body: { allowedIps: ['127.0.0.0/8'] } })
    const brief = await makeKey({ scopes, expiresAt })
    const limits = [{ limit: 100, perSeconds: 60 }]
    const limited = await makeKey({ scopes, limits })
    const refused = { status: 403, body: { code: 'SVC_AUTH_NOT_GRANTABLE' } }

    const rows: [key: typeof office, lifted: object, within: object][] = [
      [office, { allowedIps: null }, { allowedIps: ['127.0.0.1/32'] }],
      [brief, { expiresAt: null }, { expiresAt: '2998-01-01T00:00:00.000Z' }],
      [limited, { limits: null }, { limits }],
    ]
    for (const [{ id, key, userId }, lifted, within] of rows) {
      const make = (body: object) => ask('POST', `/_auth/users/${userId}/keys`, { key, body })
      t.match(await ask('PATCH', `/_auth/keys/${id}`, { key, body: lifted }), refused)
      t.match(await make({}), refused)
      t.match(await make(lifted), refused)
      const made = await make(within)
      t.equal(made.status, 201)
      const path = `/_auth/keys/${made.body.id}`
      t.match(await ask('PATCH', path, { key, body: lifted }), refused)
      t.equal((await ask('PATCH', path, { key, body: { enabled: false } })).status, 200)
      t.equal((await ask('PATCH', path, { key, body: { label: 'x' } })).status, 200)
      const free = await ask('POST', `/_auth/users/${userId}/keys`)
      const rotated = await ask('POST', `/_auth/keys/${free.body.id}/rotate`, { key })
      t.match(rotated, refused, 'a rotation would give it the text of a key that can do more')
    }
  },
)

t.test('a limited key begins no new count of its own', async (t) => {
  const host = await startHost(t)
  const limits = [{ limit: 100, perSeconds: 60 }]
  const quota = { limit: 1000, period: 'day' } as const
  const { key, id } = await host.makeKey({ scopes: ['auth:manage'], limits, quota })
  const change = (body: object, by = key) =>
    host.ask('PATCH', `/_auth/keys/${id}`, { key: by, body })
  const refused = { status: 403, body: { code: 'SVC_AUTH_NOT_GRANTABLE' } }
  t.match(await change({ limits: [{ limit: 100, perSeconds: 61 }] }), refused)
  t.match(await change({ limits: [{ limit: 50, perSeconds: 30 }] }), refused)
  t.match(await change({ quota: { limit: 1000, period: 'month' } }), refused)
  const stricter = {
    limits: [
      { limit: 90, perSeconds: 60 },
      { limit: 5, perSeconds: 1 },
    ],
    quota: { limit: 900, period: 'day' },
  }
  t.match(await change(stricter), { status: 200, body: stricter })
  const { key: other } = await host.makeKey({ scopes: ['admin'] })
  t.match(await change({ limits: [{ limit: 50, perSeconds: 30 }] }, other), { status: 200 })
})
