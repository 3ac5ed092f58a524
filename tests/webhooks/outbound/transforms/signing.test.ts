// Transforms that make the body and the signature of another system, whose receivers are live.
import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import type { ReceivedRequest, Receiver } from '@svc/testing'
import { openReceiver } from '../../../support/receiver.ts'
import type { Sign, SignInput, Transform, TransformInput } from '@svc/webhooks'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { until } from '../../../support/until.ts'
import { startHost, type Host, type HostOptions } from '../../support/host.ts'

const events = ['order.created']
const hmacOf = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')

async function start(t: Test, options: HostOptions) {
  const receiver = await openReceiver(t)
  return { receiver, ...(await startHost(t, options)) }
}

/** What a delivery to `/` is sent, now. */
async function sent(
  { app }: Pick<Host, 'app'>,
  receiver: Receiver,
  payload: unknown = { id: 7 },
): Promise<ReceivedRequest> {
  const { length } = receiver.received
  await app.svc.events.publish('order.created', payload)
  return (await receiver.waitFor(length + 1))[length]!
}

t.test('a transform signs as GitHub does, beside our own signature', async (t) => {
  const given: object[] = []
  const { receiver, ...host } = await start(t, {
    transforms: {
      github: ({ event, payload, deliveryId }) => ({
        body: payload,
        headers: { 'X-GitHub-Event': event, 'X-GitHub-Delivery': deliveryId },
        sign: (input) => {
          given.push(input)
          return { 'X-Hub-Signature-256': `sha256=${input.hmac(input.body)}` }
        },
      }),
    },
  })
  const { app } = host
  const { secret } = await app.svc.webhooks.register({
    url: receiver.url,
    events,
    transform: 'github',
  })
  receiver.secret = secret
  const request = await sent(host, receiver, { id: 7, text: 'Zürich 🔑' })
  t.equal(request.raw, '{"id":7,"text":"Zürich 🔑"}')
  t.match(request.headers, {
    'content-type': 'application/json',
    'x-github-event': 'order.created',
    'x-github-delivery': request.headers['x-svc-delivery-id'] as string,
    'x-hub-signature-256': `sha256=${hmacOf(secret, request.raw)}`,
  })
  t.equal(request.verified, true, 'a receiver that has moved verifies the same delivery')
  t.match(given, [{ body: request.raw, timestamp: Number(request.headers['x-svc-timestamp']) }])
})

t.test('during a rotation the old secret signs as well, as Stripe does', async (t) => {
  const stripe: Sign = ({ body, timestamp, hmacs }) => {
    const all = hmacs(`${timestamp}.${body}`).map((one) => `v1=${one}`)
    return { 'Stripe-Signature': [`t=${timestamp}`, ...all].join(',') }
  }
  const { receiver, ...host } = await start(t, {
    transforms: { stripe: ({ payload }) => ({ body: payload, sign: stripe }) },
  })
  const { webhooks } = host.app.svc
  const { id, secret } = await webhooks.register({ url: receiver.url, events, transform: 'stripe' })
  const secrets = [secret]
  const isSigned = ({ headers, raw }: ReceivedRequest) => {
    const timestamp = headers['x-svc-timestamp']
    const v1 = secrets.map((one) => `v1=${hmacOf(one, `${timestamp}.${raw}`)}`).join()
    t.equal(headers['stripe-signature'], `t=${timestamp},${v1}`)
  }
  isSigned(await sent(host, receiver))
  for (let n = 0; n < 2; n++) {
    secrets.unshift((await webhooks.rotateSecret({ id })).secret)
    isSigned(await sent(host, receiver))
  }
})

t.test('what signs replaces each header but those of HTTP and of the body', async (t) => {
  const { receiver, ...host } = await start(t, {
    standardWebhooks: true,
    transforms: {
      all: () => ({
        body: 'text',
        headers: { 'X-Given': 'transform' },
        sign: async () => ({
          'X-Svc-Signature': 'sign',
          'X-SVC-EVENT': 'sign',
          'webhook-id': 'sign',
          'user-agent': 'sign',
          'X-Given': 'sign',
          'X-Own': 'sign',
        }),
      }),
    },
  })
  const headers = { 'x-own': 'webhook', 'x-given': 'webhook', 'X-Other': 'webhook' }
  await host.app.svc.webhooks.register({ url: receiver.url, events, headers, transform: 'all' })
  const request = await sent(host, receiver)
  const signed = ['x-svc-signature', 'x-svc-event', 'webhook-id', 'user-agent', 'x-given', 'x-own']
  for (const name of signed) t.equal(request.headers[name], 'sign', name)
  t.match(request.headers, { 'x-other': 'webhook', 'content-type': 'text/plain; charset=utf-8' })
  t.ok(request.headers['webhook-signature'])
})

t.test('without our own signatures a delivery still says what it is', async (t) => {
  const seed = `whsk_${Buffer.alloc(32, 1).toString('base64')}`
  const { receiver, ...host } = await start(t, {
    headerPrefix: 'X-Acme-',
    standardWebhooks: true,
    ed25519: { secretName: 'SEED' },
    core: { secrets: () => seed },
    transforms: {
      old: {
        run: ({ payload }) => ({
          body: payload,
          sign: ({ hmac, body }) => ({ 'X-Old': hmac(body) }),
        }),
        ownSignatures: false,
      },
      both: { run: ({ payload }) => ({ body: payload }), ownSignatures: true },
    },
  })
  const { webhooks } = host.app.svc
  const { id } = await webhooks.register({ url: receiver.url, events, transform: 'old' })
  const { secret } = await webhooks.rotateSecret({ id })
  const namesOf = ({ headers }: ReceivedRequest) =>
    Object.keys(headers)
      .filter((name) => /^(?:x|webhook)-/.test(name))
      .toSorted()
  const request = await sent(host, receiver)
  t.same(namesOf(request), ['x-acme-attempt', 'x-acme-delivery-id', 'x-acme-event', 'x-old'])
  t.equal(request.headers['x-old'], hmacOf(secret, request.raw))
  await webhooks.update({ id, transform: 'both' })
  t.ok(namesOf(await sent(host, receiver)).includes('webhook-signature'))
})

t.test(
  'a transform knows the event, the attempt and the time, however the delivery came',
  async (t) => {
    const given: TransformInput[] = []
    const database = await freshDatabase(t)
    const transforms = {
      told: (input: TransformInput) => {
        given.push(structuredClone(input))
        input.publishedAt.setTime(0)
        return { body: input }
      },
    }
    const { receiver, ...host } = await start(t, { database, transforms })
    const { events: bus, webhooks } = host.app.svc
    const { id } = await webhooks.register({ url: receiver.url, events, transform: 'told' })
    const other = await webhooks.register({
      url: `${receiver.url}2`,
      events,
      transform: 'told',
    })
    receiver.answer(({ headers, url }) =>
      headers['x-svc-attempt'] === '1' && url === '/' ? 500 : 200,
    )

    await bus.publish('order.created', { n: 1 }, { id: 'small', tenant: 'acme' })
    await bus.publish('order.created', { text: 'x'.repeat(100_000) }, { id: 'large' })
    await receiver.waitFor(6)
    const { items } = await bus.search({ name: 'order.created' })
    const timeOf = (eventId: string | null) => items.find((one) => one.id === eventId)!.publishedAt
    t.equal(given.length, 6)
    for (const { eventId, publishedAt } of given) {
      t.equal(publishedAt.toISOString(), timeOf(eventId), `${eventId}`)
    }
    const small = given.filter(({ eventId }) => eventId === 'small')
    t.same(small.map(({ attempt }) => attempt).toSorted(), [1, 1, 2])
    t.ok(small.every(({ tenant }) => tenant === 'acme'))
    for (const { headers, body } of receiver.received) {
      t.equal(String(body.timestamp), headers['x-svc-timestamp'])
    }

    // Its job is younger than its event.
    const isSmall = ({ url, body }: ReceivedRequest) => url === '/2' && body.eventId === 'small'
    const delivery = {
      webhookId: other.id,
      deliveryId: receiver.received.find(isSmall)!.body.deliveryId as string,
    }
    await until(
      () => webhooks.listDeliveries(delivery),
      (rows) => rows.length > 0,
    )
    await webhooks.redeliver(delivery)
    await receiver.waitFor(7)
    t.match(given[6], { eventId: 'small', tenant: 'acme' })
    t.equal(given[6]!.publishedAt.toISOString(), timeOf('small'))

    const before = Date.now()
    await webhooks.test(id)
    await receiver.waitFor(9)
    const tested = given.slice(7)
    t.ok(tested.every(({ eventId }) => eventId === null))
    t.equal(
      tested[0]!.publishedAt.getTime(),
      tested[1]!.publishedAt.getTime(),
      'when it was asked for',
    )
    t.ok(tested[0]!.publishedAt.getTime() >= before - 1000)
  },
)

t.test('the default transform is that of webhooks that name none', async (t) => {
  const { receiver, ask, ...host } = await start(t, {
    transforms: { legacy: ({ event }) => ({ body: { legacy: event } }) },
    defaultTransform: 'legacy',
  })
  const { events: bus, webhooks } = host.app.svc
  const register = (path: string, more = {}) =>
    webhooks.register({ url: `${receiver.url}${path}`, events, ...more })
  const own = await register('own')
  await register('tenant', { tenant: 'acme' })
  await register('none', { transform: 'none' })
  await register('payload', { transform: 'payload' })
  await bus.publish('order.created', null, { tenant: 'acme' })
  const bodyOf = (path: string) => receiver.received.find(({ url }) => url === `/${path}`)
  await receiver.waitFor(4)
  t.match(bodyOf('own'), { raw: '{"legacy":"order.created"}' })
  t.match(bodyOf('tenant'), { raw: '{"legacy":"order.created"}' })
  t.match(bodyOf('none'), { body: { event: 'order.created', payload: null } })
  t.match(bodyOf('payload'), { raw: 'null', headers: { 'content-type': 'application/json' } })

  await webhooks.test(own.id)
  t.match((await receiver.waitFor(5))[4], { raw: '{"legacy":"webhook.test"}' })
  t.equal((await webhooks.get(own.id)).transform, null)

  const url = 'https://receiver.example/'
  const typed = { 'content-type': 'text/xml' }
  const refused = { status: 400, body: { code: 'SVC_WEBHOOKS_INVALID_HEADER' } }
  t.match(await ask('POST', '', { url, events, transform: 'none', headers: typed }), refused)
  t.match(await ask('POST', '', { url, events, transform: 'nope' }), {
    status: 400,
    body: { code: 'SVC_WEBHOOKS_UNKNOWN_TRANSFORM', message: /"nope".*legacy, none/ },
  })
  await t.rejects(
    webhooks.as({ tenant: 'acme' }).register({ url, events, transform: 'none' }),
    { code: 'SVC_WEBHOOKS_TRANSFORM_NOT_ALLOWED' },
    'who may set none of ours may not set this either',
  )
})

t.test('events of ours are not for the default transform', async (t) => {
  const { receiver, ...host } = await start(t, {
    transforms: { legacy: () => ({ body: 'legacy' }) },
    defaultTransform: 'legacy',
    core: { worker: { maxAttempts: 1 } },
  })
  const { webhooks } = host.app.svc
  receiver.answer(({ url }) => (url === '/dead' ? 500 : 200))
  await webhooks.register({ url: `${receiver.url}dead`, events })
  await webhooks.register({ url: `${receiver.url}told`, events: ['svc.delivery.dead'] })
  await host.app.svc.events.publish('order.created', {})
  const [dead, told] = await receiver.waitFor(2)
  t.equal(dead!.raw, 'legacy')
  t.match(told, { url: '/told', body: { event: 'svc.delivery.dead' } })
})

t.test('what cannot be sent is a failed attempt, and the log says why', async (t) => {
  const log: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line)) }
  const signing = (sign: unknown) => () => ({ body: 'x', sign })
  const cases: Record<string, [transform: () => unknown, reason: RegExp]> = {
    throws: [
      () => {
        throw new Error('the rate is unknown')
      },
      /^the rate is unknown$/,
    ],
    'throws-text': [
      () => {
        // oxlint-disable-next-line typescript/only-throw-error, no-throw-literal -- a host may
        throw 'text'
      },
      /threw text, which is no error/,
    ],
    'throws-unreadable': [
      () => {
        const { proxy, revoke } = Proxy.revocable(new Error('gone'), {})
        revoke()
        throw proxy
      },
      /^the transform threw what no log can read$/,
    ],
    rejects: [() => Promise.reject(new Error('no rate')), /^no rate$/],
    hangs: [() => new Promise(() => {}), /took longer than 300 ms/],
    nothing: [() => undefined, /must return \{ body/],
    header: [() => ({ body: '', headers: { Host: 'a' } }), /header Host belongs to HTTP/],
    ours: [() => ({ body: '', headers: { 'X-Svc-Event': 'a' } }), /X-Svc-Event/],
    line: [
      () => ({ body: '', headers: { a: 'b\r\nc: d' } }),
      /header a must be a text of one line/,
    ],
    'sign-throws': [
      signing(() => {
        throw new Error('no key')
      }),
      /^no key$/,
    ],
    'sign-hangs': [signing(() => new Promise(() => {})), /took longer than 300 ms/],
    'sign-nothing': [signing(() => {}), /sign of a transform returns must be an object/],
    'sign-line': [signing(() => ({ a: 'b\nc' })), /header a must be a text of one line/],
    'sign-type': [signing(() => ({ 'content-type': 'a/b' })), /content-type/],
    'sign-host': [signing(() => ({ host: 'a' })), /host belongs to HTTP/],
    'sign-length': [signing(() => ({ 'Content-Length': '1' })), /Content-Length belongs to HTTP/],
    'sign-framing': [signing(() => ({ 'transfer-encoding': 'chunked' })), /belongs to HTTP/],
    'sign-md5': [
      signing(({ hmac }: SignInput) => ({ a: hmac('x', { algorithm: 'md5' as 'sha1' }) })),
      /one of the algorithms sha1/,
    ],
  }
  const { receiver, app } = await start(t, {
    logger: { level: 'warn', stream },
    transforms: Object.fromEntries(
      Object.entries(cases).map(([name, [transform]]) => [name, transform as Transform]),
    ),
  })
  for (const [name, [, reason]] of Object.entries(cases)) {
    const { id } = await app.svc.webhooks.register({
      url: receiver.url,
      events,
      transform: name,
      timeoutMs: 300,
    })
    const deliveryId = '018f4e5a-7b1c-7def-8abc-0123456789ab'
    const input = { webhookId: id, event: 'order.created', payload: {}, deliveryId, attempt: 1 }
    t.match(await app.svc.webhooks.deliver(input), { status: 'failed', error: 'transform' }, name)
    const told = log.filter(({ msg }) => /the transform of a webhook failed/.test(String(msg)))
    t.match(told.at(-1), { transform: name, webhookId: id, err: { message: reason } }, name)
  }
  t.same(receiver.received, [], 'nothing was sent')
})

t.test('a transform and its signature share the time of an attempt', async (t) => {
  const after = <Value>(ms: number, value: Value) =>
    new Promise<Value>((resolve) => setTimeout(resolve, ms, value))
  const { receiver, app } = await start(t, {
    transforms: {
      slow: () => after(200, { body: 'x', sign: () => after(200, { 'X-Late': '1' }) }),
    },
  })
  const deliver = async (timeoutMs: number) => {
    const { id } = await app.svc.webhooks.register({
      url: receiver.url,
      events,
      transform: 'slow',
      timeoutMs,
    })
    const deliveryId = '018f4e5a-7b1c-7def-8abc-0123456789ab'
    return app.svc.webhooks.deliver({
      webhookId: id,
      event: 'order.created',
      payload: {},
      deliveryId,
      attempt: 1,
    })
  }
  t.match(await deliver(300), { status: 'failed', error: 'transform' })
  t.match(await deliver(9000), { status: 'delivered' })
  t.equal(receiver.received.length, 1)
  t.equal(receiver.received[0]!.headers['x-late'], '1')
})

t.test('an answer repeats no secret of a signature, and may repeat an HMAC', async (t) => {
  const { receiver, app } = await start(t, {
    transforms: {
      keyed: ({ event, deliveryId }) => ({
        body: 'x',
        headers: { 'X-Event': event, 'X-Id': deliveryId },
        sign: ({ hmac }) => ({
          Authorization: 'Bearer abcdefgh12345',
          'X-Hmac': `v1=${hmac('x')}`,
        }),
      }),
    },
  })
  const echo = ({ headers }: Pick<ReceivedRequest, 'headers'>) =>
    `${headers['x-event']} ${headers['x-id']} ${headers['x-hmac']} ${headers.authorization}`
  receiver.answer((request) => ({ body: echo(request) }))
  const { id } = await app.svc.webhooks.register({ url: receiver.url, events, transform: 'keyed' })
  await app.svc.events.publish('order.created', {})
  const [row] = await until(
    () => app.svc.webhooks.listDeliveries(id),
    (rows) => rows.length > 0,
  )
  const [{ headers }] = receiver.received as [ReceivedRequest]
  t.equal(row!.responseBody, echo({ headers: { ...headers, authorization: '***' } }))
})
