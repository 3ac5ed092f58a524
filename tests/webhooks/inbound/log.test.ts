// In a process of its own: a test sets the clock ahead, and ids never go back.
import t from 'tap'
import type { InboundSource } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { until } from '../../support/until.ts'
import { eventsOf, hostOf, type Host } from './host.ts'
import { sign } from './received.ts'

interface Row {
  id: string
  at: string
  source: string
  outcome: string
  reason: string | null
  eventId: string | null
  ip: string | null
  bytes: number
  durationMs: number
  headers?: Record<string, string>
  body?: string
}

const github = (): InboundSource =>
  providers.github({ path: '/hooks/github', secretName: 'GITHUB_SECRET' })

const secrets = { GITHUB_SECRET: 'k' }
const body = '{"ref":"refs/heads/main","n":12345678901234567890}'

/** The body of a push: a repeat is recognised by it. */
const bodyOf = (id: string): string => (id === '1' ? body : body.replace('{', `{"id":"${id}",`))

const push = ({ app }: Host, id: string, key = 'k') =>
  app.inject({
    method: 'POST',
    url: '/hooks/github?a=1',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${sign(bodyOf(id), key).toString('hex')}`,
      authorization: 'Bearer of-a-proxy',
    },
    body: bodyOf(id),
  })

const listed = async ({ app }: Host, query = ''): Promise<Row[]> => {
  const answer = await app.inject(`/_webhooks/inbound${query}`)
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json()
}

t.test('inbound requests are listed with their outcome, newest first', async (t) => {
  const host = await hostOf(t, { github: github() }, { secrets: { ...secrets } })
  const first = (await push(host, '1')).json<{ eventId: string }>()
  await push(host, '1')
  await push(host, '2', 'forged')
  host.secrets['GITHUB_SECRET'] = null
  await push(host, '3')
  await until(async () => (await listed(host)).length === 4)

  const rows = await listed(host)
  t.strictSame(
    rows.map(({ outcome }) => outcome),
    ['failed', 'refused', 'duplicate', 'accepted'],
  )
  t.match(rows[3], { source: 'github', eventId: first.eventId, reason: null, bytes: body.length })
  t.match(rows[2], { eventId: null })
  t.match(rows[1], { reason: 'no signature matches' })
  t.match(rows[0], { reason: /SECRET_MISSING/ })
  t.match(rows[3]?.ip, /^127\.0\.0\.1$/)
  t.type(rows[3]?.durationMs, 'number')
  t.ok(Math.abs(Date.now() - Date.parse(rows[3]?.at ?? '')) < 60_000)
  t.notOk('body' in rows[3]!, 'without rawBodies neither body nor headers')

  t.equal((await listed(host, '?outcome=refused')).length, 1)
  t.equal((await listed(host, '?source=github&limit=2')).length, 2)
  t.equal((await listed(host, '?source=other')).length, 0)
  t.strictSame(await listed(host, `?until=${rows[3]?.at}`), [])
  t.equal((await listed(host, `?since=${rows[3]?.at}`)).length, 4)
  t.strictSame(
    (await listed(host, `?after=${rows[1]?.id}`)).map(({ id }) => id),
    [rows[2]?.id, rows[3]?.id],
  )
  const wrong = await host.app.inject('/_webhooks/inbound?outcome=lost')
  t.equal(wrong.statusCode, 400)

  const replay = await host.app.inject({
    method: 'POST',
    url: `/_webhooks/inbound/${rows[3]?.id}/replay`,
  })
  t.equal(replay.statusCode, 409, 'its body was not kept')
})

t.test(
  'of requests that are committed together each is logged for what became of it',
  async (t) => {
    const host = await hostOf(t, { github: github() }, { secrets: { ...secrets } })
    // A filter is asked before the events are written, in a statement of its own.
    const webhook = {
      events: ['*'],
      url: 'https://example.com/',
      filter: { payload: { ref: 'refs/tags/v1' } },
    }
    const made = await host.app.inject({ method: 'POST', url: '/_webhooks', payload: webhook })
    t.equal(made.statusCode, 201, made.body)
    await push(host, 'known')

    const ids = Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? 'known' : `new ${n}`))
    const answers = await Promise.all(ids.map((id) => push(host, id)))
    const rows = await listed(host)
    const eventIds = answers.flatMap((answer) => answer.json<{ eventId?: string }>().eventId ?? [])
    t.equal(rows.length, 31)
    t.equal(eventIds.length, 20)
    const accepted = rows.filter(({ outcome }) => outcome === 'accepted')
    t.strictSame(new Set(accepted.slice(0, 20).map(({ eventId }) => eventId)), new Set(eventIds))
    const repeats = rows.filter(({ outcome }) => outcome === 'duplicate')
    t.equal(repeats.length, 10)
    t.ok(repeats.every(({ eventId }) => eventId === null))
    t.ok(rows.every(({ durationMs }) => durationMs >= 0 && durationMs < 60_000))
  },
)

t.test(
  'a request whose body was kept is published once more, and nothing is verified',
  async (t) => {
    const host = await hostOf(
      t,
      { github: github() },
      { secrets: { ...secrets }, inboundLog: { keepDays: 1, rawBodies: true } },
    )
    const { eventId: first } = (await push(host, '1')).json<{ eventId: string }>()
    const [row] = await listed(host)
    t.equal(row?.body, body)
    t.match(row?.headers, { 'x-github-event': 'push', authorization: '***' })
    t.equal(row?.headers?.['x-hub-signature-256'], '***')

    host.secrets['GITHUB_SECRET'] = null
    const url = `/_webhooks/inbound/${row?.id}/replay`
    const answer = await host.app.inject({ method: 'POST', url })
    t.equal(answer.statusCode, 202)
    const { eventId } = answer.json<{ eventId: string }>()
    t.not(eventId, first)
    const events = await eventsOf(host.app)
    t.strictSame(
      events.map((event) => [event.name, event.id, event.payload]),
      [
        ['github.push', first, body],
        ['github.push', eventId, body],
      ],
    )
    const [entry] = await host.app.svc.audit.list({ action: 'inbound.replay' })
    t.match(entry, {
      target: { kind: 'inbound', id: row?.id },
      changes: { eventId: { from: first, to: eventId } },
    })
  },
)

t.test('a key with a tenant lists and replays only requests for its tenant', async (t) => {
  let caller: { tenant: string } | null = null
  const host = await hostOf(
    t,
    {
      a: {
        path: '/hooks/:tenant/a',
        publishAs: 'a',
        verify: () => true,
        tenant: (request) => (request.params as { tenant: string }).tenant,
      },
    },
    {
      inboundLog: { rawBodies: true },
      before: (app) =>
        app.addHook('onRequest', async (request) => void Object.assign(request, { auth: caller })),
    },
  )
  for (const tenant of ['acme', 'globex']) {
    await host.app.inject({ method: 'POST', url: `/hooks/${tenant}/a`, body: 'x' })
  }
  const tenants = async (query = '') =>
    (await listed(host, query)).map((one) => (one as Row & { tenant: string }).tenant)
  t.strictSame(await tenants(), ['globex', 'acme'])
  t.strictSame(await tenants('?tenant=acme'), ['acme'])
  t.strictSame(await tenants('?tenant='), [])
  const [foreign, own] = await listed(host)

  caller = { tenant: 'acme' }
  t.strictSame(await tenants(), ['acme'])
  t.strictSame(await tenants('?tenant=globex'), [])
  const replay = async (id = '') =>
    (await host.app.inject({ method: 'POST', url: `/_webhooks/inbound/${id}/replay` })).statusCode
  t.equal(await replay(foreign?.id), 404)
  t.equal(await replay(own?.id), 202)
})

t.test('a refused request is not replayed, and an unknown one is a 404', async (t) => {
  const host = await hostOf(
    t,
    { github: github() },
    { secrets: { ...secrets }, inboundLog: { rawBodies: true } },
  )
  await push(host, '1', 'forged')
  await until(async () => (await listed(host)).length === 1)
  const [row] = await listed(host)
  const replay = async (id = '') =>
    (await host.app.inject({ method: 'POST', url: `/_webhooks/inbound/${id}/replay` })).statusCode
  t.equal(await replay(row?.id), 409)
  t.equal(await replay('019e0000-0000-7000-8000-000000000000'), 404)
  t.equal(await replay('x'), 404)
  t.strictSame(await eventsOf(host.app), [])
})

t.test(
  'of many that are refused one in a second is logged, and each that is accepted',
  async (t) => {
    const host = await hostOf(t, { github: github() }, { secrets: { ...secrets } })
    await host.app.ready()
    t.intercept(Date, 'now', { value: () => 1_800_000_000_000 })
    for (let n = 0; n < 20; n++) await push(host, String(n), 'forged')
    await Promise.all(Array.from({ length: 20 }, (_, n) => push(host, String(n))))
    await until(async () => (await listed(host, '?outcome=refused')).length > 0)
    t.equal((await listed(host, '?outcome=refused')).length, 1)
    t.equal((await listed(host, '?outcome=accepted')).length, 20)
  },
)

t.test('a host that wants no log writes none, and has no routes for it', async (t) => {
  const host = await hostOf(t, { github: github() }, { secrets: { ...secrets }, inboundLog: false })
  t.equal((await push(host, '1')).statusCode, 200)
  t.equal((await host.app.inject('/_webhooks/inbound')).statusCode, 404)
  const { rows } = await host.app.svc.database.query(
    'select count(*)::int as n from svc."__svc.webhooks.inbound_log"',
  )
  t.strictSame(rows, [{ n: 0 }])
})
