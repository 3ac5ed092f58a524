// In a process of its own: a test sets the clock ahead, and ids never go back.
import t from 'tap'
import { hmac, type InboundRequest, type InboundSource } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { until } from '../../support/until.ts'
import { hostOf, type Host } from './host.ts'
import { sign } from './received.ts'

interface Row {
  id: string
  source: string
  tenant: string | null
  outcome: string
  reason: string | null
  headers?: Record<string, string>
  body?: string
}

const rowsOf = async ({ app }: Host): Promise<Row[]> =>
  (await app.inject('/_webhooks/inbound')).json()

/** The newest row of a source, once there is one. */
async function rowOf(host: Host, source: string): Promise<Row> {
  const find = async () => (await rowsOf(host)).find((row) => row.source === source)
  await until(async () => (await find()) !== undefined)
  return (await find()) as Row
}

const replay = ({ app }: Host, { id }: Row) =>
  app.inject({ method: 'POST', url: `/_webhooks/inbound/${id}/replay` })

/** The names and tenants of all events, oldest first. */
async function published({ app }: Host): Promise<[name: string, tenant: string | null][]> {
  const { rows } = await app.svc.database.query<{ name: string; tenant: string | null }>(
    'select name, tenant from svc."__svc.events" order by published_at, id',
  )
  return rows.map(({ name, tenant }) => [name, tenant])
}

const RAW = { inboundLog: { rawBodies: true } }
const open = { verify: () => true }

t.test('a replay publishes under the names, and for the tenant, of when it came', async (t) => {
  const sources: Record<string, InboundSource> = {
    bitbucket: providers.bitbucket({ path: '/hooks/bitbucket', secretName: 'SECRET' }),
    shop: {
      ...open,
      path: '/hooks/:tenant/shop',
      publishAs: (request) => `shop.${request.headers['x-shop-key']}`,
      tenant: (request) => (request.params as { tenant: string }).tenant,
    },
    batch: {
      ...open,
      path: '/hooks/batch',
      split: (body) => body as string[],
      publishAs: (request, _body, item) => `${request.headers['x-shop-token']}.${String(item)}`,
      deduplicationKey: (_request, _body, item) => String(item),
    },
  }
  const host = await hostOf(t, sources, { ...RAW, secrets: { SECRET: 'k' } })
  const post = async (url: string, headers: Record<string, string>, body = '"x"') => {
    const type = { 'content-type': 'application/json' }
    const answer = await host.app.inject({
      method: 'POST',
      url,
      headers: { ...type, ...headers },
      body,
    })
    t.equal(answer.statusCode, 200, answer.body)
  }
  await post(
    '/hooks/bitbucket',
    {
      'x-event-key': 'repo:push',
      'x-hub-signature': `sha256=${sign('{"x":1}', 'k').toString('hex')}`,
    },
    '{"x":1}',
  )
  await post('/hooks/acme/shop', { 'x-shop-key': 'paid' })
  await post('/hooks/batch', { 'x-shop-token': 'order' }, '["a","b","a"]')
  const first = await published(host)
  t.strictSame(first, [
    ['bitbucket.repo_push', null],
    ['shop.paid', 'acme'],
    ['order.a', null],
    ['order.b', null],
  ])

  t.match((await rowOf(host, 'bitbucket')).headers, {
    'x-event-key': 'repo:push',
    'x-hub-signature': '***',
  })
  t.match((await rowOf(host, 'shop')).headers, { 'x-shop-key': '***' })
  for (const source of Object.keys(sources)) {
    const answer = await replay(host, await rowOf(host, source))
    t.equal(answer.statusCode, 202, answer.body)
  }
  t.strictSame((await published(host)).slice(first.length), first)

  // Neither is kept where it is too long, or was not known.
  await host.app.svc.database.query(
    `update svc."__svc.webhooks.inbound_log" set event_names = null, request_parts = null`,
  )
  t.equal((await replay(host, await rowOf(host, 'bitbucket'))).statusCode, 202)
  t.strictSame((await published(host)).at(-1), first[0])
})

t.test('what failed after it was verified is replayed as it came, for its tenant', async (t) => {
  let isBroken = true
  const seen: object[] = []
  const look = (request: InboundRequest): string => {
    const { params, query, url, originalUrl, hostname, protocol, id, method } = request
    seen.push(structuredClone({ params: { ...(params as object) }, query: { ...query } }), {
      url,
      originalUrl,
      hostname,
      protocol,
      id,
      method,
    })
    t.ok(request.server.svc.webhooks)
    request.log.debug('the functions of a source may log')
    if (isBroken) throw new Error('the tenants are away')
    return 'acme'
  }
  const of = (path: string): InboundSource => ({ ...open, path, publishAs: 'a', tenant: look })
  const long = 'x'.repeat(2000)
  const urls: Record<string, string> = {
    '/hooks/w/*': '/hooks/w/one/two%20three',
    '/hooks/p/:a-:b': '/hooks/p/one-two',
    '/hooks/r/:id(^\\d+$)': '/hooks/r/17',
    '/hooks/q': `/hooks/q?a=1&a=2&long=${long}&last=1`,
  }
  const sources = Object.fromEntries(Object.keys(urls).map((path) => [path, of(path)]))
  // The plan of this one was there: the name is what its publish failed by.
  let name = 'no name'
  sources['named'] = {
    ...open,
    path: '/hooks/named',
    publishAs: () => name,
    tenant: () => 'globex',
  }
  const host = await hostOf(t, sources, RAW)
  for (const url of [...Object.values(urls), '/hooks/named']) {
    const answer = await host.app.inject({ method: 'POST', url, body: 'x' })
    t.equal(answer.statusCode, 500)
  }
  const atReceipt = seen.splice(0)
  isBroken = false
  name = 'mended'
  for (const path of Object.keys(urls)) {
    const row = await rowOf(host, path)
    t.match(row, { outcome: 'failed', tenant: null, body: 'x' })
    t.equal((await replay(host, row)).statusCode, 202)
  }
  t.strictSame(seen, atReceipt)
  const named = await rowOf(host, 'named')
  t.match(named, { outcome: 'failed', tenant: 'globex' })
  t.equal((await replay(host, named)).statusCode, 202)
  t.strictSame(await published(host), [
    ...Object.keys(urls).map(() => ['a', 'acme']),
    ['mended', 'globex'],
  ])
  const [entry] = await host.app.svc.audit.list({ action: 'inbound.replay', tenant: 'acme' })
  t.equal(entry?.target.kind, 'inbound')
})

t.test(
  'what failed before it was verified is not replayed, and does not fill the log',
  async (t) => {
    const github = providers.github({ path: '/hooks/github', secretName: 'GITHUB_SECRET' })
    const host = await hostOf(t, { github }, { ...RAW, secrets: { GITHUB_SECRET: null } })
    await host.app.ready()
    t.intercept(Date, 'now', { value: () => 1_800_000_000_000 })
    const forged = { method: 'POST', url: '/hooks/github', body: 'x'.repeat(100_000) } as const
    for (let n = 0; n < 20; n++) t.equal((await host.app.inject(forged)).statusCode, 500)

    const row = await rowOf(host, 'github')
    t.equal((await rowsOf(host)).length, 1)
    t.match(row, { outcome: 'failed', reason: /GITHUB_SECRET is not set/ })
    t.notOk('body' in row)
    t.ok(row.headers, 'the headers tell who it was')
    const failed = host.log.filter(({ msg }) => msg === 'inbound webhook failed')
    t.equal(failed.length, 20)
    t.equal(failed.filter((line) => 'stack' in line).length, 1, 'one stack in a second')

    const answer = await replay(host, row)
    t.equal(answer.statusCode, 409)
    t.match(answer.json(), {
      code: 'SVC_WEBHOOKS_NOT_REPLAYABLE',
      message: /before it was verified/,
    })
    t.strictSame(await published(host), [])
  },
)

t.test(
  'no refusal, and no other source, hides the row of a handshake or of a failure',
  async (t) => {
    const signed = { verify: hmac({ signatureHeader: 'x-signature', secretName: 'SECRET' }) }
    const names = async () => 'SECRET'
    const sources: Record<string, InboundSource> = {
      a: { ...signed, path: '/a', publishAs: 'a', respond: () => ({ body: 'hello' }) },
      b: { ...signed, path: '/b', publishAs: 'b' },
      promise: {
        path: '/promise',
        publishAs: 'c',
        verify: hmac({ signatureHeader: 'x-signature', secretName: names as never }),
      },
      split: { ...open, path: '/split', publishAs: 'd', split: () => 1 as never },
      tenant: { ...open, path: '/tenant', publishAs: 'e', tenant: () => 'no tenant' },
      thrower: {
        ...open,
        path: '/thrower',
        publishAs: () => {
          throw new Error('a word of the body')
        },
      },
    }
    const host = await hostOf(t, sources, { secrets: { SECRET: 'k' } })
    await host.app.ready()
    t.intercept(Date, 'now', { value: () => 1_800_000_000_000 })
    const post = (url: string) => host.app.inject({ method: 'POST', url, body: '1' })
    for (const url of ['/a', '/a', '/b', '/promise', '/promise', '/split', '/tenant', '/thrower'])
      await post(url)
    for (let n = 0; n < 2; n++) t.equal((await host.app.inject('/a')).body, 'hello')
    await post('/split')

    await until(async () => (await rowsOf(host)).length >= 8)
    // All of one moment, so in no order.
    const rows = (await rowsOf(host)).map((row) => `${row.source} ${row.outcome}: ${row.reason}`)
    t.match(rows.toSorted(), [
      'a accepted: handshake',
      'a refused: the header x-signature is missing',
      'b refused: the header x-signature is missing',
      /^promise failed: .*secretName returned a promise/,
      /^split failed: .*split must return a list/,
      /^split failed: .*split must return a list/,
      /^tenant failed: .*tenant must return 1 to 64/,
      'thrower failed: SVC_WEBHOOKS_INBOUND_FAILED: publishAs threw an error',
    ])
    t.equal(rows.length, 8)
    const greeted = (await rowsOf(host)).find(({ reason }) => reason === 'handshake')
    t.match((await replay(host, greeted!)).json(), {
      message: /handshake, which publishes no event/,
    })
  },
)
