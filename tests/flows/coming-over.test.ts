/** The guides for those who send webhooks already: their scripts, and receivers that stay as they are. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { svcCore } from '@svc/core'
import { verifyDelivery } from '@svc/receiver'
import type { ReceivedRequest, Receiver } from '@svc/testing'
import { svcWebhooks, type SvcWebhooksOptions, type Transform } from '@svc/webhooks'
import { Webhook as SvixWebhook } from 'svix'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { folderOf, runProgram } from '../support/program.ts'
import { listening } from '../support/listening.ts'
import { newHost } from '../support/new-host.ts'
import { openReceiver } from '../support/receiver.ts'

const PAYLOAD = { id: 7, item: 'book', text: 'Zürich 🔑' }

/** Runs a script of the examples to its end. */
async function run(t: Test, name: string, environment: Record<string, string>) {
  const text = readFileSync(join(import.meta.dirname, '../../examples', name), 'utf8')
  const program = runProgram(t, await folderOf(t, { [name]: text }), name, environment)
  return { code: await program.ended(), printed: program.printed }
}

/** The host that sends from now on. */
async function startHost(t: Test, database: string, options: SvcWebhooksOptions) {
  const app = newHost(t)
  await app.register(svcCore, { database: { connectionString: database, max: 4 } })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created', 'order.shipped'],
    allowedNetworks: ['127.0.0.0/8', '::1/128'],
    ...options,
  })
  await app.ready()
  return app.svc
}

async function open(t: Test): Promise<Receiver> {
  const receiver = await openReceiver(t)
  // A script has no allowedNetworks: it may register a name, and no address of this machine.
  return { ...receiver, url: receiver.url.replace('127.0.0.1', 'localhost') }
}

/** An API that answers what it is given by its paths, to whoever has the token. */
async function openApi(t: Test, answers: Record<string, unknown>): Promise<string> {
  const server = createServer(({ url = '', headers }, response) => {
    const answer = answers[url]
    const status = headers.authorization !== 'Bearer token' ? 401 : answer === undefined ? 404 : 200
    response.writeHead(status).end(JSON.stringify(answer ?? {}))
  })
  return `http://127.0.0.1:${await listening(t, server)}`
}

const hmacOf = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')

const isSame = (given: string, expected: string): boolean =>
  given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))

/** How receivers of GitHub, of Stripe and of Outpost verify, as their guides say. */
const verifiers = {
  github: ({ headers, raw }: ReceivedRequest, secret: string) =>
    isSame(String(headers['x-hub-signature-256']), `sha256=${hmacOf(secret, raw)}`),
  stripe({ headers, raw }: ReceivedRequest, secret: string) {
    const fields = String(headers['stripe-signature'])
      .split(',')
      .map((field) => field.split('='))
    const [, timestamp = ''] = fields.find(([name]) => name === 't') ?? []
    const isTimely = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300
    const expected = hmacOf(secret, `${timestamp}.${raw}`)
    return isTimely && fields.some(([name, value = '']) => name === 'v1' && isSame(value, expected))
  },
  outpost({ headers, raw }: ReceivedRequest, secret: string) {
    const header = String(headers['x-outpost-signature'])
    const candidates = header.startsWith('v0=') ? header.slice('v0='.length).split(',') : []
    return candidates.some((candidate) => isSame(candidate, hmacOf(secret, raw)))
  },
}

const isOurs = ({ headers, raw: body }: ReceivedRequest, secret: string): boolean => {
  try {
    verifyDelivery({ headers, body, secret })
    return true
  } catch {
    return false
  }
}

// As in the guide.
const github: Transform = ({ event, deliveryId, payload }) => ({
  body: payload,
  headers: { 'X-GitHub-Event': event, 'X-GitHub-Delivery': deliveryId },
  sign: ({ body, hmacs }) => ({ 'X-Hub-Signature-256': `sha256=${hmacs(body).at(-1)}` }),
})
const stripe: Transform = ({ payload }) => ({
  body: payload,
  sign({ body, timestamp, hmacs }) {
    const signatures = hmacs(`${timestamp}.${body}`).map((signature) => `v1=${signature}`)
    return { 'Stripe-Signature': [`t=${timestamp}`, ...signatures].join() }
  },
})

t.test('from a table of one’s own: its receivers stay as they are', async (t) => {
  const database = await freshDatabase(t)
  const svc = await startHost(t, database, { transforms: { github, stripe } })
  const [ofGithub, ofStripe, ofRotated] = [await open(t), await open(t), await open(t)]
  await svc.database.query(
    `create table hooks (id serial primary key, customer text not null, url text not null,
       events text[] not null, format text not null, secret text not null, previous_secret text,
       enabled boolean not null default true)`,
  )
  const add = (url: string, format: string, secret: string, more: object = {}) =>
    svc.database.query(
      `insert into hooks (customer, url, events, format, secret, previous_secret, enabled)
       select 'acme', $1, '{order.created}', $2, $3, given ->> 'previous',
              coalesce((given ->> 'enabled')::boolean, true)
         from (select $4::json as given) as more`,
      [url, format, secret, JSON.stringify(more)],
    )
  await add(ofGithub.url, 'github', 'acme-secret-of-github')
  await add(ofStripe.url, 'stripe', 'acme-secret-of-stripe')
  await add(ofRotated.url, 'stripe', 'acme-new-secret!', { previous: 'acme-old-secret!' })
  await add('https://old.example/', 'github', 'acme-switched-off', { enabled: false })
  const script = () => run(t, 'webhooks-from-own-table.ts', { DATABASE_URL: database })

  t.match(await script(), { code: 0, printed: '4 webhooks came over\n' })
  const came = await svc.webhooks.list()
  t.match(await script(), { code: 0, printed: '0 webhooks came over\n' })
  t.same(await svc.webhooks.list(), came, 'it was run twice')
  t.same(
    came.filter(({ active }) => !active).map(({ url }) => url),
    ['https://old.example/'],
  )
  const { rows } = await svc.database.query('select moved_to from hooks order by id')
  t.same(
    rows.map((row: { moved_to: string }) => row.moved_to),
    came.map(({ id }) => id).toReversed(),
  )

  await add('https://good.example/', 'github', 'acme-secret-of-github')
  await add('https://bad.example/', 'github', 'too short', { previous: 'acme-old-secret!' })
  const refused = await script()
  t.not(refused.code, 0)
  t.match(refused.printed, /hook 6 is refused.*input\/secret must NOT have fewer than 16 char/s)
  t.equal((await svc.webhooks.list()).length, 4, 'none of both')
  await svc.database.query(`update hooks set secret = 'long-enough-by-now' where moved_to is null`)
  t.match(await script(), { code: 0, printed: '2 webhooks came over\n' })

  await svc.events.publish('order.created', PAYLOAD, { tenant: 'acme' })
  const [toGithub] = await ofGithub.waitFor(1)
  const [toStripe] = await ofStripe.waitFor(1)
  const [toRotated] = await ofRotated.waitFor(1)
  t.equal(toGithub!.raw, JSON.stringify(PAYLOAD), 'no envelope')
  t.match(toGithub!.headers, {
    'content-type': 'application/json',
    'x-github-event': 'order.created',
    'x-github-delivery': /^[0-9a-f-]{36}$/,
  })
  t.ok(verifiers.github(toGithub!, 'acme-secret-of-github'))
  t.ok(verifiers.stripe(toStripe!, 'acme-secret-of-stripe'))
  for (const secret of ['acme-new-secret!', 'acme-old-secret!']) {
    t.ok(verifiers.stripe(toRotated!, secret), 'the rotation that was under way goes on')
  }
  t.notOk(verifiers.stripe(toRotated!, 'acme-secret-of-stripe'))

  const idOf = ({ url }: Receiver) => came.find((webhook) => webhook.url === url)!.id
  const { secret: next } = await svc.webhooks.rotateSecret({ id: idOf(ofGithub) })
  const { secret: own } = await svc.webhooks.rotateSecret({ id: idOf(ofStripe) })
  await svc.events.publish('order.created', PAYLOAD, { tenant: 'acme' })
  const [, both] = await ofGithub.waitFor(2)
  t.ok(verifiers.github(both!, 'acme-secret-of-github'), 'an old receiver')
  t.ok(isOurs(both!, next), 'a new receiver, of the same delivery')
  const [, listed] = await ofStripe.waitFor(2)
  for (const secret of [own, 'acme-secret-of-stripe']) t.ok(verifiers.stripe(listed!, secret))
  t.ok(isOurs(listed!, own))
})

t.test('from Svix: receivers with its library stay as they are', async (t) => {
  const database = await freshDatabase(t)
  const svc = await startHost(t, database, {
    standardWebhooks: true,
    defaultTransform: 'payload',
  })
  const receiver = await open(t)
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const times = { createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' }
  const endpoint = (id: string, url: string, more: object = {}) => ({
    id,
    url,
    description: '',
    metadata: {},
    version: 1,
    rateLimit: null,
    uid: null,
    disabled: false,
    filterTypes: null,
    channels: null,
    throttleRate: null,
    ...times,
    ...more,
  })
  const page = (data: object[], iterator: string | null = null) => ({
    data,
    iterator,
    prevIterator: null,
    done: iterator === null,
  })
  const apps = '/api/v1/app'
  const details = (place: string, key: string, headers = {}, sensitive: string[] = []) => ({
    [`${apps}/${place}/secret`]: { key },
    [`${apps}/${place}/headers`]: { headers, sensitive },
  })
  const answers = {
    [`${apps}?limit=250`]: page([{ id: 'app_1', uid: 'acme', name: 'Acme', metadata: {} }], 'a/b='),
    [`${apps}?limit=250&iterator=a%2Fb%3D`]: page([{ id: 'app_2', name: 'Beta', metadata: {} }]),
    [`${apps}/app_1/endpoint?limit=250`]: page([
      endpoint('ep_1', receiver.url, {
        filterTypes: ['order.created'],
        throttleRate: 50,
        metadata: { team: 'a' },
        description: 'Of Acme',
      }),
      endpoint('ep_2', 'https://channels.example/', { channels: ['eu'] }),
      endpoint('ep_3', 'https://sensitive.example/'),
      endpoint('ep_4', 'https://key-pair.example/'),
    ]),
    ...details('app_1/endpoint/ep_1', secret, { 'X-Team': 'a' }),
    ...details('app_1/endpoint/ep_2', secret),
    ...details('app_1/endpoint/ep_3', secret, {}, ['authorization']),
    ...details('app_1/endpoint/ep_4', `whsk_${Buffer.alloc(32).toString('base64')}`),
    [`${apps}/app_2/endpoint?limit=250`]: page([
      endpoint('ep_5', 'https://off.example/', { disabled: true }),
    ]),
    ...details('app_2/endpoint/ep_5', secret.slice('whsec_'.length)),
  }
  const environment = { DATABASE_URL: database, SVIX_TOKEN: 'token' }
  const script = (api: string) => run(t, 'webhooks-from-svix.ts', { ...environment, SVIX_URL: api })
  // The API breaks off before the last endpoint is read.
  const broken: Record<string, unknown> = { ...answers }
  delete broken[`${apps}/app_2/endpoint/ep_5/headers`]
  t.not((await script(await openApi(t, broken))).code, 0)
  t.same(await svc.webhooks.list(), [], 'none of them')

  const api = await openApi(t, answers)
  const first = await script(api)
  t.equal(first.code, 0, first.printed)
  t.match(first.printed, /2 webhooks came over/)
  for (const id of ['ep_2', 'ep_3', 'ep_4']) t.match(first.printed, new RegExp(`left out.*${id}`))
  t.match((await script(api)).printed, /0 webhooks came over/)
  const [off, acme] = await svc.webhooks.list()
  t.match(off, { url: 'https://off.example/', active: false, tenant: 'app_2', events: ['*'] })
  t.equal((await svc.webhooks.get(off!.id)).secret, secret)
  t.match(await svc.webhooks.get(acme!.id), {
    url: receiver.url,
    tenant: 'acme',
    events: ['order.created'],
    active: true,
    secret,
    description: 'Of Acme',
    metadata: { team: 'a', svix: 'ep_1' },
    headers: { 'X-Team': 'a' },
    rateLimit: { limit: 50, perSeconds: 1 },
  })

  await svc.events.publish('order.created', PAYLOAD, { tenant: 'acme' })
  const [request] = await receiver.waitFor(1)
  const { headers, raw } = request!
  t.equal(raw, JSON.stringify(PAYLOAD))
  const verify = (key: string) => () =>
    new SvixWebhook(key).verify(raw, headers as Record<string, string>)
  t.doesNotThrow(verify(secret))
  t.throws(verify(`whsec_${Buffer.alloc(24).toString('base64')}`))
  t.equal(headers['x-team'], 'a')
})

t.test('from Outpost: receivers that verify by its guide stay as they are', async (t) => {
  const database = await freshDatabase(t)
  const svc = await startHost(t, database, {
    transforms: {
      outpost: ({ event, eventId, deliveryId, payload, timestamp }) => ({
        body: JSON.stringify(payload),
        contentType: 'application/json',
        headers: {
          'X-Outpost-Event-Id': eventId ?? deliveryId,
          'X-Outpost-Topic': event,
          'X-Outpost-Timestamp': new Date(timestamp * 1000).toISOString().replace('.000', ''),
        },
        sign: ({ body, hmacs }) => ({ 'X-Outpost-Signature': `v0=${hmacs(body).join()}` }),
      }),
    },
    defaultTransform: 'outpost',
  })
  const receiver = await open(t)
  const [secret, previous] = ['whsec_bmV3LXNlY3JldC1vZi1hY21l', 'whsec_b2xkLXNlY3JldC1vZi1hY21l']
  const destination = (id: string, url: string, more: object = {}) => ({
    id,
    type: 'webhook',
    topics: '*',
    filter: null,
    disabled_at: null,
    metadata: null,
    config: { url },
    credentials: { secret },
    delivery_metadata: null,
    target: url,
    ...more,
  })
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const api = await openApi(t, {
    '/tenants?limit=100': { models: [{ id: 'acme' }], pagination: { next: 'MTcw+w==' } },
    '/tenants?limit=100&next=MTcw%2Bw%3D%3D': {
      models: [{ id: 'beta' }],
      pagination: { next: null },
    },
    '/tenants/acme/destinations': [
      destination('des_1', receiver.url, {
        topics: ['order.created', 'order.shipped'],
        config: { url: receiver.url, custom_headers: '{"x-api-key":"abc"}' },
        credentials: {
          secret,
          previous_secret: previous,
          previous_secret_invalid_at: inAnHour,
        },
        delivery_metadata: { region: 'eu' },
        metadata: { team: 'a' },
      }),
      destination('des_2', 'https://filter.example/', { filter: { data: { id: 7 } } }),
      destination('des_3', 'https://pattern.example/', { topics: ['order.*'] }),
      destination('des_4', 'queue', { type: 'aws_sqs', config: { queue_url: 'q' } }),
    ],
    '/tenants/beta/destinations': [
      destination('des_5', 'https://off.example/', { disabled_at: inAnHour, topics: ['*'] }),
    ],
  })
  const environment = { DATABASE_URL: database, OUTPOST_URL: api, API_KEY: 'token' }
  const script = () => run(t, 'webhooks-from-outpost.ts', environment)
  const first = await script()
  t.equal(first.code, 0, first.printed)
  t.match(first.printed, /2 webhooks came over/)
  for (const id of ['des_2', 'des_3', 'des_4'])
    t.match(first.printed, new RegExp(`left out.*${id}`))
  t.match((await script()).printed, /0 webhooks came over/)
  const [off, acme] = await svc.webhooks.list()
  t.match(off, { url: 'https://off.example/', active: false, tenant: 'beta', events: ['*'] })
  t.match(await svc.webhooks.get(acme!.id), {
    url: receiver.url,
    tenant: 'acme',
    events: ['order.created', 'order.shipped'],
    secret,
    headers: { 'x-api-key': 'abc' },
    metadata: { team: 'a', outpost: 'des_1' },
  })

  await svc.events.publish('order.created', PAYLOAD, { tenant: 'acme', id: 'evt_1' })
  const [request] = await receiver.waitFor(1)
  t.same(request!.body, PAYLOAD)
  t.match(request!.headers, {
    'content-type': 'application/json',
    'x-outpost-event-id': 'evt_1',
    'x-outpost-topic': 'order.created',
    'x-outpost-timestamp': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    'x-outpost-region': 'eu',
    'x-api-key': 'abc',
  })
  for (const one of [secret, previous]) t.ok(verifiers.outpost(request!, one))
  t.ok(isOurs(request!, secret), 'with our own signature beside')
})
