import t from 'tap'
import type { InboundSource } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { eventsOf, hostOf, type Host } from './host.ts'
import { sign } from './received.ts'

const base: InboundSource = {
  path: '/hooks/a',
  publishAs: (_request, _body, item) => `a.${(item as { type: string }).type}`,
  verify: () => true,
  split: (body) => (body as { items: unknown[] }).items,
  deduplicationKey: (_request, _body, item) => (item as { id?: string }).id ?? null,
}

const post = ({ app }: Host, body: unknown, url = '/hooks/a') =>
  app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

t.test('a split that returns no item where there should be one is a 500', async (t) => {
  const host = await hostOf(t, {
    a: { ...base, publishAs: 'a', deduplicationKey: () => null, split: () => [1, undefined] },
  })
  t.match((await post(host, {})).json(), { code: 'SVC_WEBHOOKS_INBOUND_FAILED' })
  t.match(
    host.log.find(({ source }) => source === 'a'),
    { reason: 'split must return a list of items, and its element [1] is none' },
  )
  t.strictSame(await eventsOf(host.app), [], 'nothing of the batch is published')
})

t.test('a batch is published as one event each, and its repeats one by one', async (t) => {
  const host = await hostOf(t, { a: base })
  const items = [
    { type: 'x', id: '1' },
    { type: 'y', id: '2' },
    { type: 'y', id: '2' },
  ]
  const first = (await post(host, { items })).json<{
    status: string
    eventId: string
    eventIds: string[]
  }>()
  t.equal(first.status, 'accepted')
  t.equal(first.eventIds.length, 2, 'an item that stands in it twice is one event')
  t.equal(first.eventId, first.eventIds[0])
  t.strictSame((await post(host, { items })).json(), { status: 'duplicate' })
  const more = (await post(host, { items: [items[0], { type: 'z', id: '3' }] })).json<{
    eventIds: string[]
  }>()
  t.equal(more.eventIds.length, 1, 'the new one alone')
  const events = await eventsOf(host.app)
  t.strictSame(events.map(({ name }) => name).toSorted(), ['a.x', 'a.y', 'a.z'])
  t.strictSame(events.find(({ name }) => name === 'a.y')?.payload, '{"type":"y","id":"2"}')
})

t.test('the events of a batch are published together or not at all', async (t) => {
  const host = await hostOf(t, { a: base })
  const failed = await post(host, { items: [{ type: 'x', id: '1' }, { type: 'not a name' }] })
  t.equal(failed.statusCode, 500)
  t.strictSame(await eventsOf(host.app), [])
  const again = await post(host, { items: [{ type: 'x', id: '1' }] })
  t.equal(again.json<{ status: string }>().status, 'accepted', 'no key was used up')
})

t.test('an empty batch is accepted and publishes nothing', async (t) => {
  const host = await hostOf(t, { a: base })
  const answer = await post(host, { items: [] })
  t.strictSame(answer.json(), { status: 'accepted', eventId: null, eventIds: [] })
  t.strictSame(await eventsOf(host.app), [])
})

t.test('a split that returns no list is the host’s mistake', async (t) => {
  const host = await hostOf(t, { a: { ...base, split: () => null as never } })
  t.equal((await post(host, { items: [] })).statusCode, 500)
})

t.test(
  'deduplication keys are kept apart by the parameters of the path and by tenant',
  async (t) => {
    const source: InboundSource = {
      path: '/hooks/:connection/a',
      publishAs: 'a',
      verify: () => true,
      deduplicationKey: () => 'k',
      tenant: (request) => request.headers['x-tenant'] ?? null,
    }
    const host = await hostOf(t, { a: source })
    const ask = async (connection: string, tenant?: string) => {
      const headers = tenant === undefined ? {} : { 'x-tenant': tenant }
      const url = `/hooks/${connection}/a`
      return (await host.app.inject({ method: 'POST', url, headers, body: 'x' })).json<{
        status?: string
        statusCode?: number
      }>()
    }
    for (const [connection, tenant] of [['1'], ['2'], ['1', 'acme'], ['1', 'globex']] as const) {
      t.match(await ask(connection, tenant), { status: 'accepted' })
      t.match(await ask(connection, tenant), { status: 'duplicate' })
    }
    t.match(await ask('1', 'no tenant'), { statusCode: 500 })
    const { rows } = await host.app.svc.database.query<{ tenant: string | null }>(
      'select nullif(split_part(id, chr(31), 1), id) as tenant from svc."__svc.events"',
    )
    const tenants = rows.map(({ tenant }) => tenant ?? 'none').toSorted()
    t.strictSame(tenants, ['acme', 'globex', 'none', 'none'], 'the events are those of the tenants')
  },
)

t.test(
  'each connection of a source has a secret of its own, and one may follow another',
  async (t) => {
    const source = providers.github({
      path: '/hooks/:connection/github',
      secretName: (request) => {
        const { connection } = request.params as { connection: string }
        return connection === 'unknown' ? null : [`${connection}_NEW`, `${connection}_OLD`]
      },
    })
    const secrets = { A_NEW: 'a new', A_OLD: 'a old', B_OLD: 'b old' }
    const host = await hostOf(t, { github: source }, { secrets })
    let delivery = 0
    const push = async (connection: string, key: string) => {
      const answer = await host.app.inject({
        method: 'POST',
        url: `/hooks/${connection}/github`,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'push',
          'x-github-delivery': String(delivery++),
          'x-hub-signature-256': `sha256=${sign('{}', key).toString('hex')}`,
        },
        body: '{}',
      })
      return answer.statusCode
    }
    t.equal(await push('A', 'a new'), 200)
    t.equal(await push('A', 'a old'), 200)
    t.equal(await push('A', 'b old'), 401, 'the secret of another connection')
    t.equal(await push('B', 'b old'), 200, 'one that is not set is passed over')
    t.equal(await push('C', 'a new'), 500, 'none is set')
    t.equal(await push('unknown', 'a new'), 401)
  },
)

t.test('a batch without items cannot be replayed, and the audit has no replay', async (t) => {
  const host = await hostOf(t, { a: base }, { inboundLog: { rawBodies: true } })
  t.equal((await post(host, { items: [] })).statusCode, 200)
  const { webhooks, audit } = host.app.svc
  const [request] = await webhooks.listInbound()
  await t.rejects(webhooks.replayInbound(request!.id), { code: 'SVC_WEBHOOKS_NOT_REPLAYABLE' })
  t.strictSame(await audit.list(), [])
})
