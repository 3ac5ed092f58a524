import t from 'tap'
import { EmailTaken, ExpiryInPast, KeyNotFound, UnknownScope, UserNotFound } from '@svc/auth'
import { InvalidInput } from '@svc/core'
import { BOOTSTRAP_KEY, startHost } from '../support/host.ts'

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('an action rejects with the error of its route', async (t) => {
  const { app } = await startHost(t)
  const { actions } = app.svc
  const { id: userId } = await actions.call('__svc.auth.createUser', { email: 'a@b.co', name: 'A' })
  const past = '2001-01-01T00:00:00Z'

  const rows: [
    call: () => Promise<unknown>,
    error: new (...args: never) => Error,
    status: number,
  ][] = [
    [() => actions.call('__svc.auth.createUser', { email: 'A@b.co', name: 'B' }), EmailTaken, 409],
    [() => actions.call('__svc.auth.createUser', { email: 'x', name: 'B' }), InvalidInput, 400],
    [() => actions.call('__svc.auth.createUser', { name: 'B' } as never), InvalidInput, 400],
    [() => actions.call('__svc.auth.getUser', UNKNOWN), UserNotFound, 404],
    [() => actions.call('__svc.auth.getUser', 'x'), UserNotFound, 404],
    [() => actions.call('__svc.auth.getUser', 5 as never), InvalidInput, 400],
    [() => actions.call('__svc.auth.deleteUser', UNKNOWN), UserNotFound, 404],
    [() => actions.call('__svc.auth.createApiKey', { userId: UNKNOWN }), UserNotFound, 404],
    [() => actions.call('__svc.auth.createApiKey', {} as never), InvalidInput, 400],
    [() => actions.call('__svc.auth.createApiKey', { userId, scopes: ['x'] }), UnknownScope, 400],
    [() => actions.call('__svc.auth.createApiKey', { userId, expiresAt: past }), ExpiryInPast, 400],
    [() => actions.call('__svc.auth.listApiKeys', UNKNOWN), UserNotFound, 404],
    [() => actions.call('__svc.auth.revokeApiKey', UNKNOWN), KeyNotFound, 404],
  ]
  for (const [call, error, statusCode] of rows) {
    const reason = await call().then(
      () => t.fail('it was accepted'),
      (why: unknown) => why,
    )
    t.ok(reason instanceof error, `${reason} is ${error.name}`)
    t.match(reason, { statusCode })
  }
})

t.test('validateApiKey returns the owner of a key, and rejects without a valid one', async (t) => {
  const { app, makeKey } = await startHost(t)
  const { actions } = app.svc
  const { id, key, userId } = await makeKey({ scopes: ['read'] })
  const invalid = {
    valid: false,
    userId: null,
    bootstrap: false,
    scopes: [],
    keyId: null,
    tenant: null,
  }

  const valid = { valid: true, userId, bootstrap: false, scopes: ['read'], keyId: id, tenant: null }
  t.same(await actions.call('__svc.auth.validateApiKey', key), valid)
  t.same(await actions.call('__svc.auth.validateApiKey', BOOTSTRAP_KEY), {
    valid: true,
    userId: null,
    bootstrap: true,
    scopes: ['admin'],
    keyId: null,
    tenant: null,
  })
  for (const bad of ['', 'x', `${key}0`, 'ü', 'x'.repeat(100_000), undefined, null, {}, 7]) {
    t.same(await actions.call('__svc.auth.validateApiKey', bad as string), invalid)
  }
  await actions.call('__svc.auth.revokeApiKey', id)
  t.same(await actions.call('__svc.auth.validateApiKey', key), invalid)
})
