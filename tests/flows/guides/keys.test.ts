import t from 'tap'
import { farFromEndOf } from '../../support/utc.ts'
import { ENVIRONMENT, keysOf, testGuides } from './support/guides.ts'

// The program of limits counts in a month.
t.before(() => farFromEndOf('day'))

testGuides('keys', {
  async 'guard.ts'(t, ask) {
    t.match(await ask('/health', undefined, null), { status: 200 })
    t.match(await ask('/orders', undefined, null), { status: 401 })
    t.match(await ask('/products', undefined, null), { status: 200, body: { prices: 'list' } })
    t.match(await ask('/products'), { status: 200, body: { prices: 'yours' } })
    const [plain, billing] = await keysOf(ask, {}, { scopes: ['read', 'billing:read'] })
    t.match(await ask('/orders', undefined, plain), { status: 200, body: { for: String } })
    t.match(await ask('/invoices', undefined, plain), { status: 403 })
    t.match(await ask('/invoices', undefined, billing), { status: 200 })
  },
  async 'customers.ts'(t, ask) {
    const customer = { email: 'bea@example.com', name: 'Bea' }
    const { body } = await ask('/customers', customer)
    t.match(await ask('/_auth/me', undefined, body.key), { body: { label: 'first key' } })
    t.match(await ask('/customers', customer), { status: 409 })
  },
  async 'scopes.ts'(t, ask) {
    const { body: user } = await ask('/_auth/users', { email: 'ada@example.com', name: 'Ada' })
    const made = await ask(`/users/${user.id}/keys-of-both-kinds`, {})
    const [role, namespace] = made.body.map(({ key }: { key: string }) => key)
    t.match(await ask('/invoices', undefined, role), { status: 200 })
    t.match(await ask('/invoices', undefined, namespace), { status: 403 })
    t.match(await ask('/projects', undefined, namespace), { status: 200 })
  },
  async 'tenants.ts'(t, ask) {
    const { body } = await ask('/sign-up', { tenant: 'acme', email: 'ada@acme.example' })
    t.match(await ask('/projects', undefined, body.key), { body: { of: 'acme' } })
    t.match(await ask('/settings/keys', undefined, body.key), { body: { length: 1 } })
  },
  async 'expiry.ts'(t, ask) {
    const [key] = await keysOf(ask, {})
    const { body } = await ask('/rotate', {}, key)
    t.match(body, { rotated: true, key: String })
    t.match(await ask('/_auth/me', undefined, body.key), { body: { replaces: String } })
    t.match(await ask('/_auth/me', undefined, key), { status: 200 }, 'the old one still works')
  },
  async 'limits.ts'(_t, _ask, program) {
    await program.says(
      /\/orders 200 "5-per-1s";r=4;t=1, "100-per-60s";r=99;t=60, "tenant-1000-per-60s"/,
    )
    await program.says(/\/report 200 .*"quota-month";r=2;/)
    await program.says(/\/report 429 .*"quota-month";r=/)
    await program.says(/allowed: 2,[\s\S]*quota_exceeded: 1,/)
  },
  async 'plans.ts'(t, ask) {
    const { body: user } = await ask('/_auth/users', {
      email: 'ada@acme.example',
      name: 'Ada',
      tenant: 'acme',
    })
    const keys = `/_auth/users/${user.id}/keys`
    for (let n = 0; n < 3; n++) t.match(await ask(keys, {}), { status: 201 })
    t.match(await ask(keys, {}), { status: 409 })
    t.match(await ask('/customers/acme/upgrade', {}), { status: 200 })
    t.match(await ask(keys, {}), { status: 201 })
  },
  async 'usage.ts'(t, ask) {
    const [key] = await keysOf(ask, {})
    await ask('/usage', undefined, key)
    t.match(await ask('/usage', undefined, key), { body: { requests: Number, days: Array } })
  },
  async 'lockout.ts'(t, ask) {
    for (let n = 0; n < 5; n++) {
      t.match(await ask('/orders', undefined, 'a-wrong-key-of-16'), { status: 401 })
    }
    t.match(await ask('/orders', undefined, 'a-wrong-key-of-16'), { status: 429 })
  },
  async 'audit.ts'(t, ask) {
    const { body: user } = await ask('/_auth/users', {
      email: 'ada@acme.example',
      name: 'Ada',
      tenant: 'acme',
    })
    await ask(`/_auth/users/${user.id}/keys`, {})
    const { body } = await ask('/tenants/acme/changes')
    t.match(body, [{ action: 'key.create', actor: { kind: 'bootstrap' } }])
  },
  async 'keys-host.ts'(t, ask) {
    const [key] = await keysOf(ask, {})
    t.match(await ask('/_auth/verify', { key }), {
      body: { valid: true, scopes: ['read', 'write'] },
    })
    t.match(await ask('/_auth/verify', { key, scopes: ['admin'] }), { body: { valid: false } })
  },
  async 'erase.ts'(t, ask, _program, at) {
    const user = { email: 'ada@acme.example', name: 'Ada', tenant: 'acme' }
    t.match(await ask('/_auth/users', user), { status: 201 })
    const answer = await fetch(`${at}/customers/acme`, {
      method: 'DELETE',
      headers: { 'x-api-key': ENVIRONMENT.BOOTSTRAP_KEY },
    })
    t.match(await answer.json(), { users: 1, keys: 0 })
    t.same((await ask('/_auth/users?tenant=acme')).body, [])
  },
})
