import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { QUEUE } from '../support/worker.ts'

const OPERATOR = '00000000-0000-4000-8000-00000000000a'
const ACME = '00000000-0000-4000-8000-00000000000b'
const GLOBEX = '00000000-0000-4000-8000-00000000000c'

t.test('an event of a tenant reaches its recipients and those without a tenant', async (t) => {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  await core.queues.define(QUEUE)
  await core.fanOut.declare('test', QUEUE, ['a'])
  const want = (recipient: string, tenant: string | null) =>
    core.fanOut.setRecipient(core.db, 'test', { id: recipient, events: ['a'], tenant })
  await want(OPERATOR, null)
  await want(ACME, 'acme')
  await want(GLOBEX, 'globex')
  const recipientsOf = async (id: string, tenant: string | null) => {
    await app.svc.events.publish('a', 1, { id, tenant })
    const { rows } = await core.db.query(
      `delete from svc_jobs.job where name = $1 returning group_id as recipient`,
      [QUEUE],
    )
    return rows.map(({ recipient }) => recipient as string).toSorted()
  }
  t.strictSame(await recipientsOf('1', null), [OPERATOR])
  t.strictSame(await recipientsOf('1', 'acme'), [OPERATOR, ACME], 'the id is its own')
  t.strictSame(await recipientsOf('1', 'globex'), [OPERATOR, GLOBEX])
  t.strictSame(await recipientsOf('1', 'acme'), [], 'a replay')
  t.strictSame(await recipientsOf('2', 'other'), [OPERATOR])
})

t.test('a handler gets the tenant, and the id as it was published', async (t) => {
  const got: unknown[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('a', (_payload, { id, tenant }) => void got.push([id, tenant])),
  })
  const { events } = app.svc
  t.strictSame(await events.publish('a', 1, { id: 'x' }), { id: 'x', duplicate: false })
  t.strictSame(await events.publish('a', 1, { id: 'x', tenant: 'acme' }), {
    id: 'x',
    duplicate: false,
  })
  t.match(await events.publish('a', 1, { id: 'x', tenant: 'acme' }), { duplicate: true })
  t.match(await events.publish('a', 1, { id: 'acme\u001fx' }), { duplicate: false })
  await until(() => got.length === 3)
  t.strictSame(
    new Set(got.map((one) => JSON.stringify(one))),
    new Set(['["x",null]', '["x","acme"]', JSON.stringify(['acme\u001fx', null])]),
  )
})

for (const tenant of ['', 'a b', 'x'.repeat(65), 7, {}]) {
  t.test(`a publish for the tenant ${JSON.stringify(tenant)} is refused`, async (t) => {
    const { app } = await startHost(t)
    await t.rejects(app.svc.events.publish('a', 1, { tenant: tenant as string }), {
      code: 'SVC_CORE_INVALID_OPTION',
      message: /the option "tenant" must be 1 to 64 letters, digits, "_", "\.", ":" or "-", got /,
    })
  })
}
