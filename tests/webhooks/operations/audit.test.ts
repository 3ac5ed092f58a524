import t from 'tap'
import { startHost } from '../support/host.ts'

const URL_ = 'https://receiver.example/hooks'

t.test('every change of a webhook is in the audit, without its secrets', async (t) => {
  const { app, ask } = await startHost(t, { core: { worker: { enabled: false } } })
  const { body: hook } = await ask('POST', '', { url: URL_, events: ['order.created'] })
  await ask('PATCH', `/${hook.id}`, { url: `${URL_}/2`, events: ['order.created'] })
  await ask('PATCH', `/${hook.id}`, {})
  const { body: rotated } = await ask('POST', `/${hook.id}/rotate-secret`)
  const { body: tested } = await ask('POST', `/${hook.id}/test`)
  await ask('POST', `/${hook.id}/redrive`)
  await app.svc.webhooks.delete(hook.id)

  const rows = (await app.svc.audit.list({ target: hook.id })).toReversed()
  const target = { kind: 'webhook', id: hook.id }
  const request = { tenant: null, target, requestId: /^req-/, ip: '127.0.0.1' }
  const secret = { from: null, to: '***' }
  t.match(rows, [
    {
      ...request,
      action: 'webhook.create',
      changes: { url: { from: null, to: URL_ }, secret, active: { from: null, to: true } },
    },
    {
      ...request,
      action: 'webhook.update',
      changes: { url: { from: URL_, to: `${URL_}/2` } },
    },
    {
      ...request,
      action: 'webhook.rotate-secret',
      changes: { secret: { from: '***', to: '***' } },
    },
    {
      ...request,
      action: 'webhook.test',
      changes: { deliveryId: { from: null, to: tested.deliveryId } },
    },
    { ...request, action: 'webhook.redrive', changes: { redriven: { from: null, to: 0 } } },
    {
      target,
      action: 'webhook.delete',
      requestId: null,
      ip: null,
      actor: { kind: 'process' },
      changes: { url: { from: `${URL_}/2`, to: null }, secret: { from: '***', to: null } },
    },
  ])
  t.equal(rows.length, 6, 'what changes nothing is no change')
  const names = [URL_, ...Array.from({ length: 5 }, () => `${URL_}/2`)]
  t.same(
    rows.map((row) => row.target.name),
    names,
    'a webhook without a label is named by its URL',
  )
  t.same(Object.keys(rows[1]?.changes ?? {}), ['url'])
  const text = JSON.stringify(rows)
  for (const shown of [hook.secret, rotated.secret]) t.notOk(text.includes(shown))
})

t.test('managementBasePath: null serves no management API', async (t) => {
  const { app, register } = await startHost(t, { managementBasePath: null })
  t.equal((await app.inject({ url: '/_webhooks' })).statusCode, 404)
  t.ok(await register(URL_))
})
