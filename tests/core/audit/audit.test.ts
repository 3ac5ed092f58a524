import t from 'tap'
import { changesOf } from '../../../packages/core/src/audit/audit-entry.ts'
import { originOf } from '../../../packages/core/src/audit/audit-origin.ts'
import { insertAudit, sweepAudit } from '../../../packages/core/src/audit/audit-table.ts'
import {
  narrowedReach,
  reaches,
  reachOf,
  tenantOfNew,
} from '../../../packages/core/src/tenants/tenants.ts'
import { startHost } from '../support/host.ts'

t.test('changes are the fields that differ, without their secrets', (t) => {
  const before = { a: 1, list: ['x'], gone: 'y', secret: 'old', same: null }
  const after = { a: 2, list: ['x'], secret: 'new', same: null, none: undefined, token: 't' }
  t.same(changesOf(before, after, ['secret', 'token']), {
    a: { from: 1, to: 2 },
    gone: { from: 'y', to: null },
    secret: { from: '***', to: '***' },
    token: { from: null, to: '***' },
  })
  t.end()
})

t.test('the actor of a request is its key, or none without a guard', (t) => {
  const request = { id: 'req-1', ip: '192.0.2.1' }
  const auth = { keyId: 'k', userId: 'u', bootstrap: false }
  const from = { requestId: 'req-1', ip: '192.0.2.1' }
  const actor = (kind: string, keyId = null as string | null, userId = null as string | null) => ({
    actor: { kind, keyId, userId },
    ...from,
  })
  t.same(originOf({ ...request, auth }), actor('key', 'k', 'u'))
  t.same(
    originOf({ ...request, auth: { keyId: null, userId: null, bootstrap: true } }),
    actor('bootstrap'),
  )
  t.same(originOf({ ...request, auth: null }), actor('process'))
  t.same(originOf(request), actor('process'))
  t.end()
})

t.test('a key with a tenant reaches that tenant, any other caller all tenants', (t) => {
  t.equal(reachOf({ tenant: 'acme' }), 'acme')
  for (const caller of [undefined, null, {}, { tenant: null }]) t.equal(reachOf(caller), null)
  const rows: [reach: string | null, tenant: string | null, is: boolean][] = [
    [null, 'acme', true],
    [null, null, true],
    ['acme', 'acme', true],
    ['acme', 'Acme', false],
    ['acme', null, false],
    ['', null, true],
    ['', 'acme', false],
  ]
  for (const [reach, tenant, is] of rows) t.equal(reaches(reach, tenant), is, `${reach} ${tenant}`)
  t.equal(narrowedReach(null, undefined), null)
  t.equal(narrowedReach(null, ''), '')
  t.equal(narrowedReach(null, 'acme'), 'acme')
  t.equal(narrowedReach('acme', undefined), 'acme')
  t.equal(narrowedReach('acme', 'acme'), 'acme')
  t.equal(narrowedReach('acme', ''), undefined)
  t.equal(narrowedReach('acme', 'globex'), undefined)
  t.equal(tenantOfNew(null, undefined), null)
  t.equal(tenantOfNew(null, 'acme'), 'acme')
  t.equal(tenantOfNew('acme', undefined), 'acme')
  for (const named of ['globex', null]) {
    t.throws(() => tenantOfNew('acme', named), { code: 'SVC_FOREIGN_TENANT', statusCode: 403 })
  }
  t.end()
})

t.test('audit rows are kept for auditRetentionDays', async (t) => {
  const { app } = await startHost(t)
  const { database, audit } = app.svc
  const origin = originOf({ id: 'r', ip: '::1' })
  const record = { tenant: null, target: { kind: 'user', id: 'u' } as const, changes: {} }
  await insertAudit(database, origin, [
    { ...record, action: 'old' },
    { ...record, action: 'new' },
  ])
  await database.query(
    `update svc."__svc.audit" set id = svc."__svc.first_uuid"(now() - interval '3 days')
      where action = 'old'`,
  )
  await sweepAudit(database, 4)
  t.equal((await audit.list()).length, 2)
  await sweepAudit(database, 2)
  t.match(await audit.list(), [{ action: 'new' }])
  // A hundred years ago there were no UUIDs of version 7.
  await sweepAudit(database, 36_500)
  t.match(await audit.list(), [{ action: 'new' }])
  t.equal((await audit.list({ since: '1960-01-01T00:00:00Z' })).length, 1)
  t.equal((await audit.list({ until: '1960-01-01T00:00:00Z' })).length, 0)
  await t.rejects(startHost(t, { core: { auditRetentionDays: 0 } }), {
    code: 'SVC_CORE_INVALID_OPTION',
  })
})

t.test('a target that is no kind is an id', async (t) => {
  const { app } = await startHost(t)
  const origin = originOf({ id: 'r', ip: '::1' })
  const record = { tenant: null, action: 'made', changes: {} }
  await insertAudit(app.svc.database, origin, [
    { ...record, target: { kind: 'tenant', id: 'acme' } },
    { ...record, target: { kind: 'user', id: 'u' } },
  ])
  const found = async (target: string) => (await app.svc.audit.list({ target })).length
  t.equal(await found('acme'), 1)
  t.equal(await found('tenant'), 1)
  t.equal(await found('globex'), 0)
})
