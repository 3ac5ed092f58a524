import t from 'tap'
import { startHost } from '../../support/host.ts'

t.test('an expiry beyond the year 9999 is refused, and nothing is written', async (t) => {
  const { app, ask, makeUser } = await startHost(t)
  const { id: userId } = await makeUser()
  const path = `/_auth/users/${userId}/keys`
  const rows: [expiresAt: string, code: string, message: RegExp][] = [
    ['9999-12-31T23:59:59-23:59', 'SVC_AUTH_EXPIRY_TOO_LATE', /at most 9999-12-31T23:59:59Z/],
    ['9999-12-31T23:59:59-00:01', 'SVC_AUTH_EXPIRY_TOO_LATE', /UTC/],
    ['2001-01-01T00:00:00Z', 'SVC_AUTH_EXPIRY_IN_PAST', /future/],
    ['0000-01-01T00:00:00+23:59', 'SVC_AUTH_EXPIRY_IN_PAST', /future/],
    ['2030-12-31T23:59:60Z', 'SVC_AUTH_INVALID_EXPIRY', /2030-01-31T12:00:00Z/],
    ['2030-01-01T00:00:00', 'SVC_INVALID_INPUT', /offset.*"Z".*"\+02:00"/],
    ['2030-01-01', 'SVC_INVALID_INPUT', /offset.*"Z".*"\+02:00"/],
    ['infinity', 'SVC_INVALID_INPUT', /must match format "date-time", with an offset/],
  ]
  for (const [expiresAt, code, message] of rows) {
    t.match(await ask('POST', path, { body: { expiresAt } }), {
      status: 400,
      body: { code, message },
    })
    const action = app.svc.actions.call('__svc.auth.createApiKey', { userId, expiresAt })
    await t.rejects(action, { code, statusCode: 400 })
  }
  t.same((await ask('GET', path)).body, [])
  const last = await ask('POST', path, { body: { expiresAt: '9999-12-31T23:59:59.999Z' } })
  t.match(last, { status: 201, body: { expiresAt: '9999-12-31T23:59:59.999Z' } })
  const { key } = last.body
  t.equal((await ask('GET', '/nothing', { key })).status, 404, 'it is in use')
})

t.test('a row written by SQL with any expiry does not break a list', async (t) => {
  const { app, ask, makeKey } = await startHost(t)
  const { database } = app.svc
  const { id, userId, key } = await makeKey()
  const rows: [written: string, shown: string, status: number][] = [
    ['infinity', '9999-12-31T23:59:59.999Z', 404],
    ['294276-12-31 00:00:00+00', '9999-12-31T23:59:59.999Z', 404],
    ['-infinity', '0001-01-01T00:00:00.000Z', 401],
    ['4713-01-02 00:00:00+00 BC', '0001-01-01T00:00:00.000Z', 401],
    ['2999-01-02 03:04:05.678901+00', '2999-01-02T03:04:05.678Z', 404],
  ]
  for (const [written, shown, status] of rows) {
    await database.query(
      `update svc."__svc.auth.api_keys"
          set expires_at = $2, created_at = $2, last_used_at = $2 where id = $1`,
      [id, written],
    )
    await database.query('update svc."__svc.auth.users" set created_at = $2 where id = $1', [
      userId,
      written,
    ])
    const times = { createdAt: shown, expiresAt: shown, revokedAt: null, lastUsedAt: shown }
    t.match(await ask('GET', `/_auth/users/${userId}/keys`), { status: 200, body: [times] })
    t.match(await ask('GET', '/_auth/users'), { status: 200, body: [{ createdAt: shown }] })
    await t.resolves(app.svc.actions.call('__svc.auth.listApiKeys', userId))
    // Asked of Postgres, whatever this process remembers.
    const fresh = await startHost(t, { database: database.options.connectionString as string })
    t.equal((await fresh.ask('GET', '/nothing', { key })).status, status, written)
    await fresh.app.close()
  }
})
