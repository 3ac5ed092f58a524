import type { FastifyInstance } from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { drain } from '@svc/testing'
import t from 'tap'
import type { Test } from 'tap'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { everyRow, type Row } from '../support/every-row.ts'
import { receivers, sendOrder, shopHost } from './support/shop-host.ts'
import { newHost } from '../support/new-host.ts'

async function hostOn(t: Test, database: string): Promise<FastifyInstance> {
  const app = await shopHost(t, database, {
    core: { worker: { retryDelaySeconds: 3600 } },
    auth: { tenantLimits: [{ limit: 1000, perSeconds: 3600 }] },
  })
  await app.svc.events.subscribe('order.created', () => {
    throw new Error('not now')
  })
  await app.ready()
  return app
}

/** Everything that can be kept of a tenant. Returns the ids that nothing may hold afterwards. */
async function settle(t: Test, app: FastifyInstance, tenant: string) {
  const { auth, events, webhooks } = app.svc
  const { ok, fails } = await receivers(t)
  const user = await auth.createUser({ email: `a@${tenant}.example`, name: 'A', tenant })
  const key = await auth.createApiKey({
    userId: user.id,
    scopes: ['admin'],
    limits: [{ limit: 100, perSeconds: 3600 }],
    quota: { limit: 100, period: 'total' },
  })
  const rotated = await auth.rotateApiKey({ id: key.id })
  for (const one of [key.key, rotated.key]) {
    await app.inject({ url: '/me', headers: { 'x-api-key': one } })
  }
  const register = ({ url }: { url: string }, more = {}) =>
    webhooks.register({ url, events: ['*'], tenant, ...more })
  const delivered = await register(ok)
  const waiting = await register(fails, { maxInFlight: 5 })
  const dying = await register(fails, { retry: { maxAttempts: 1 } })
  const paused = await register(ok)
  const deleted = await register(ok)
  await webhooks.update({ id: paused.id, active: false })
  for (const { id } of [paused, deleted, waiting]) await webhooks.test(id)
  const { id: eventId } = await events.publish('order.created', { of: tenant }, { tenant })
  for (const key of ['1', '1', 'ü']) await sendOrder(app, { tenant, key })
  await drain(app, { timeoutMs: 60_000 })
  await webhooks.delete(deleted.id)
  const since = new Date(Date.now() - 3_600_000).toISOString()
  await webhooks.recover({ id: delivered.id, since, what: 'dead' })
  await webhooks.pauseAll({ tenant })
  const hooks = [delivered, waiting, dying, paused, deleted]
  return [user.id, key.id, rotated.id, eventId, ...hooks.map(({ id }) => id)]
}

const heldBy = async (database: string, texts: readonly string[]) =>
  (await everyRow(database))
    .filter(({ table }) => !table.includes('audit'))
    .filter(({ text }) => texts.some((one) => text.includes(one)))

/** How a tenant's name stands in rows: as a column, in JSON, in ids, in keys. */
const writtenAs = (tenant: string): string[] => [
  `"${tenant}"`,
  `,${tenant},`,
  `,${tenant})`,
  `${tenant}\u001F`,
  `:${tenant},`,
  `@${tenant}[`,
  `@${tenant}#`,
  `@${tenant}.`,
]

/** At any time roll-ups move rows of statistics from the one table to the other, and moves of jobs end. */
const tablesOf = (rows: Row[]): Set<string> =>
  new Set(
    rows
      .map(({ table }) => table.replace('recent_attempts', 'stats'))
      .filter((table) => !table.includes('job_moves')),
  )

t.test('an erased tenant has no rows in any table except the audit', async (t) => {
  const database = await freshDatabase(t)
  const app = await hostOn(t, database)
  // The operator's, which gets the events of all tenants.
  await app.svc.webhooks.register({ url: (await receivers(t)).ok.url, events: ['*'] })
  const ids = await settle(t, app, 'acme')
  const others = await settle(t, app, 'acme2')
  // Writes what was counted.
  await app.svc.auth.getUsage({ tenant: 'acme' })
  const before = await heldBy(database, [...ids, ...writtenAs('acme')])
  const ofOthersBefore = await heldBy(database, [...others, ...writtenAs('acme2')])
  t.ok(tablesOf(before).size > 12, [...tablesOf(before)].join(' '))

  const erased = await app.svc.eraseTenant('acme')
  t.match(erased, { users: 1, keys: 2, webhooks: 4, events: Number, deduplicationKeys: 2 })
  for (const kind of ['events', 'jobs', 'deadLetters', 'logRows', 'rollUps', 'limits']) {
    t.ok((erased[kind] ?? 0) > 0, kind)
  }

  t.same(await heldBy(database, [...ids, ...writtenAs('acme')]), [])
  const left = await heldBy(database, [...others, ...writtenAs('acme2')])
  t.same(tablesOf(left), tablesOf(ofOthersBefore))
  t.ok(left.length > 30, 'of another tenant all is there')

  const audit = await app.svc.audit.list({ tenant: 'acme' })
  t.match(audit[0], {
    action: 'tenant.erased',
    tenant: 'acme',
    target: { kind: 'tenant', id: 'acme' },
    actor: { kind: 'process' },
  })
  t.ok(audit.some(({ action }) => action === 'key.create'))
  t.ok(audit.every(({ changes }) => changes === null))
  const ofOthers = await app.svc.audit.list({ tenant: 'acme2' })
  t.ok(ofOthers.some(({ changes }) => changes !== null))
  t.notOk(ofOthers.some(({ action }) => action === 'tenant.erased'))
})

t.test(
  'all processes refuse the keys of an erased tenant, and write nothing of them',
  async (t) => {
    const database = await freshDatabase(t)
    const [here, there] = [await hostOn(t, database), await hostOn(t, database)]
    const { id: userId } = await here.svc.auth.createUser({
      email: 'a@b.co',
      name: 'A',
      tenant: 'acme',
    })
    const made = await here.svc.auth.createApiKey({
      userId,
      limits: [{ limit: 100, perSeconds: 3600 }],
      quota: { limit: 100, period: 'total' },
    })
    const ask = (app: FastifyInstance) =>
      app.inject({ url: '/me', headers: { 'x-api-key': made.key } })
    for (const app of [here, there]) t.equal((await ask(app)).statusCode, 200)

    await here.svc.eraseTenant('acme')
    for (const app of [here, there]) t.equal((await ask(app)).statusCode, 401)
    // It gives back what it holds of the limits, and writes the usage that it has counted.
    await there.close()
    t.same(await heldBy(database, [made.id, userId, ':acme', ',acme,']), [])
  },
)

t.test('an erasure with an invalid tenant is refused', async (t) => {
  const app = await hostOn(t, await freshDatabase(t))
  await app.svc.auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
  await app.svc.auth.createUser({ email: 'a@b.co', name: 'A' })
  for (const wrong of [undefined, null, '', ' ', '*', 'acme\n', 'ä', 'x'.repeat(65), 7, {}]) {
    await t.rejects(app.svc.eraseTenant(wrong as string), {
      code: 'SVC_INVALID_INPUT',
      message: /svc\.eraseTenant: the tenant must be a text of 1 to 64 letters/,
    })
  }
  t.equal((await app.svc.auth.listUsers()).length, 2)
  t.same(await app.svc.audit.list({ action: 'tenant.erased' }), [])
  t.match(await app.svc.eraseTenant('nobody'), { users: 0, keys: 0, webhooks: 0, events: 0 })
})

t.test(
  'a host erases what its packages keep, and refuses where others keep something',
  async (t) => {
    const database = await emptyDatabase(t)
    const start = async (packages: 'core' | 'auth') => {
      const app = newHost(t)
      await app.register(svcCore, { database: { connectionString: database, max: 4 } })
      if (packages === 'auth') await app.register(svcAuth)
      await app.ready()
      return app
    }
    const core = await start('core')
    await core.svc.events.publish('a', 1, { tenant: 'acme' })
    t.same(await core.svc.eraseTenant('acme'), { jobs: 0, deadLetters: 0, events: 1 })

    const auth = await start('auth')
    await auth.svc.auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
    await t.rejects(core.svc.eraseTenant('acme'), {
      code: 'SVC_CORE_INCOMPLETE_HOST',
      message: /tables of @svc\/auth/,
    })
    t.match(await auth.svc.eraseTenant('acme'), { users: 1 })
  },
)

t.test('an erasure that was interrupted is finished by a second call', async (t) => {
  const database = await freshDatabase(t)
  const app = await hostOn(t, database)
  const ids = await settle(t, app, 'acme')
  // Webhooks go after their deliveries: here the erasure ends.
  await app.svc.database.query(
    `create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not now'; end $$`,
  )
  await app.svc.database.query(
    `create trigger refuse before delete on svc."__svc.webhooks.registrations"
       for each row execute function refuse()`,
  )
  await t.rejects(app.svc.eraseTenant('acme'), {
    code: 'SVC_CORE_DATABASE_FAILED',
    cause: { message: /not now/ },
  })
  t.not((await heldBy(database, ids)).length, 0)
  await app.svc.database.query(`drop trigger refuse on svc."__svc.webhooks.registrations"`)
  t.match(await app.svc.eraseTenant('acme'), { webhooks: 4 })
  t.same(await heldBy(database, ids), [])
})
