/** `svc.webhooks.as`: the operations within a tenant, with the actor in the audit. */
import t from 'tap'
import { InvalidInput } from '@svc/core'
import { startHost } from '../support/host.ts'

const url = 'https://globex.example/'

t.test('within its tenant everything works, and the audit names the actor', async (t) => {
  const { app } = await startHost(t)
  const actor = { kind: 'console', keyId: null, userId: 'ada' } as const
  const by = app.svc.webhooks.as({ tenant: 'acme', actor, requestId: 'req-1', ip: '::1' })
  const made = await by.register({ url, events: ['*'] })
  t.equal(made.tenant, 'acme')
  t.same(
    (await by.list()).map(({ id }) => id),
    [made.id],
  )
  await app.svc.webhooks.register({ url, events: ['*'] })
  t.equal((await by.list()).length, 1)
  t.equal((await app.svc.webhooks.as({ tenant: null }).list()).length, 2)
  t.match(await app.svc.audit.list({ target: made.id }), [
    { action: 'webhook.create', actor, requestId: 'req-1', ip: '::1' },
  ])
  await t.rejects(by.update({ id: made.id, transform: 'slack' }), {
    code: 'SVC_WEBHOOKS_TRANSFORM_NOT_ALLOWED',
  })
})

t.test('svc.webhooks.as refuses a tenant that is missing, empty or malformed', async (t) => {
  const { app } = await startHost(t)
  for (const tenant of [undefined, '', 'a b', 7]) {
    t.throws(() => app.svc.webhooks.as({ tenant: tenant as never }), InvalidInput)
  }
  t.throws(() => app.svc.webhooks.as(undefined as never))
})
