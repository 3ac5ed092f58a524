/** Events about API keys, for callers who may not read keys. */
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { openReceiver } from '../../support/receiver.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { untilCount } from '../../support/until.ts'

const EVENT = 'svc.key.created'
const REFUSED = {
  status: 403,
  body: { code: 'SVC_WEBHOOKS_KEY_EVENTS_NOT_ALLOWED', message: /"auth:manage"/ },
}

async function startGuarded(t: Test) {
  const connectionString = await freshDatabase(t)
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(svcCore, {
    database: { connectionString, max: 4 },
    worker: { maxAttempts: 1 },
  })
  await app.register(svcAuth)
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created'],
    allowedNetworks: ['127.0.0.0/8'],
  })
  await app.ready()
  const keyOf = async (tenant: string | null, scopes: string[]) => {
    const email = `${Math.random()}@example.com`
    const user = await app.svc.auth.createUser({ email, name: 'User', tenant })
    return (await app.svc.auth.createApiKey({ userId: user.id, scopes })).key
  }
  const asker = (key: string) => async (method: string, path: string, payload?: object) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: `/_webhooks${path}`,
      headers: { 'x-api-key': key },
      ...(payload && { payload }),
    })
    return { status: answer.statusCode, body: answer.json() }
  }
  return { app, keyOf, asker }
}

for (const tenant of ['acme', null]) {
  t.test(`${tenant ?? 'the operator'}: events about keys need a scope for keys`, async (t) => {
    const { app, keyOf, asker } = await startGuarded(t)
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
  const { app } = await startGuarded(t)
  const { webhooks } = app.svc
  const input = { url: 'https://acme.example', events: [EVENT] }
  const { id } = await webhooks.as({ tenant: 'acme' }).register(input)
  const without = webhooks.as({ tenant: 'acme', keyEvents: false })
  const refused = { code: 'SVC_WEBHOOKS_KEY_EVENTS_NOT_ALLOWED', statusCode: 403 }
  await t.rejects(without.register(input), refused)
  await t.rejects(without.update({ id, url: 'https://elsewhere.example' }), refused)
  t.match(await without.update({ id, label: 'Keys' }), { label: 'Keys' })
})
