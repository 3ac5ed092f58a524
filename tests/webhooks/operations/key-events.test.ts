/** Events about API keys, for callers who may not read keys. */
import t, { type Test } from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { untilCount } from '../../support/until.ts'
import { startGuarded } from '../support/guarded-host.ts'

const EVENT = 'svc.key.created'
const REFUSED = {
  status: 403,
  body: { code: 'SVC_WEBHOOKS_KEY_EVENTS_NOT_ALLOWED', message: /"auth:manage"/ },
}

async function startHost(t: Test) {
  const { ask, ...host } = await startGuarded(t, { worker: { maxAttempts: 1 } })
  const asker = (key: string) => async (method: string, path: string, payload?: object) => {
    const { status, body } = await ask(key, method, path, payload)
    return { status, body: JSON.parse(body) }
  }
  return { ...host, asker }
}

for (const tenant of ['acme', null]) {
  t.test(`${tenant ?? 'the operator'}: events about keys need a scope for keys`, async (t) => {
    const { app, keyOf, asker } = await startHost(t)
    const receiver = await openReceiver(t, { answer: 400 })
    const url = receiver.url
    const { id } = await app.svc.webhooks.register({ url, events: [EVENT], tenant })
    const manages = asker(await keyOf(tenant, ['webhooks:manage']))
    const [dead] = await untilCount(1, () => app.svc.webhooks.listDeadLetters(id))
    const changes = [
      ['POST', '', { url, events: ['order.created', EVENT] }],
      ['PATCH', `/${id}`, { events: [EVENT] }],
      ['PATCH', `/${id}`, { url: 'https://elsewhere.example' }],
      ['PATCH', `/${id}`, { events: ['order.created'] }],
      ['PATCH', `/${id}`, { filter: { 'payload.label': { $startsWith: 'x' } } }],
      ['PATCH', `/${id}`, { filter: null }],
      ['POST', `/${id}/redrive`, {}],
      ['POST', `/${id}/recover`, { what: 'dead', since: '2020-01-01T00:00:00Z', dryRun: true }],
      ['GET', `/${id}/recoveries`, undefined],
    ] as const
    const lists = ['/deliveries', '/dead-letters', `/${id}/deliveries`, `/${id}/dead-letters`]

    for (const [method, path, change] of changes) {
      t.match(await manages(method, path, change), REFUSED, `${method} ${JSON.stringify(change)}`)
    }
    for (const list of lists) t.strictSame(await manages('GET', list), { status: 200, body: [] })
    t.strictSame((await app.svc.webhooks.get(id)).events, [EVENT], 'nothing was changed')
    t.equal((await manages('PATCH', `/${id}`, { label: 'Keys' })).status, 200)
    const again = `/${id}/deliveries/${dead?.deliveryId}/redeliver`
    t.equal((await manages('POST', again)).status, 404, 'a delivery that it does not see')
    const { points } = (await manages('GET', `/stats?webhookId=${id}`)).body
    t.notMatch(JSON.stringify(points), /"(failed|dead)":[1-9]/)
    t.equal((await manages('POST', '', { url, events: ['*', 'svc.delivery.dead'] })).status, 201)

    for (const scopes of [['webhooks:manage', 'auth:manage'], ['admin']]) {
      const asks = asker(await keyOf(tenant, scopes))
      for (const list of lists) t.ok((await asks('GET', list)).body.length > 0, list)
      const made = await asks('POST', '', { url, events: [EVENT] })
      t.match(made, { status: 201, body: { events: [EVENT] } }, scopes.join())
      t.equal((await asks('PATCH', `/${made.body.id}`, { url, events: [EVENT] })).status, 200)
    }
    const sees = asker(await keyOf(tenant, ['admin']))
    t.equal((await sees('POST', again)).status, 202)
    t.equal(dead?.event, EVENT)
  })
}

t.test('code of the host is restricted only where it says so', async (t) => {
  const { app } = await startHost(t)
  const { webhooks } = app.svc
  const input = { url: 'https://acme.example', events: [EVENT] }
  const { id } = await webhooks.as({ tenant: 'acme' }).register(input)
  const without = webhooks.as({ tenant: 'acme', keyEvents: false })
  const refused = { code: 'SVC_WEBHOOKS_KEY_EVENTS_NOT_ALLOWED', statusCode: 403 }
  await t.rejects(without.register(input), refused)
  await t.rejects(without.update({ id, url: 'https://elsewhere.example' }), refused)
  t.match(await without.update({ id, label: 'Keys' }), { label: 'Keys' })
})
