import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import Fastify from 'fastify'
import t from 'tap'
import { providers } from '@svc/webhooks/providers'
import { eventsOf, hostOf } from './host.ts'
import { body, errorBody, good, json, post, refusals, secrets, source } from './one-source.ts'
import { sign } from './received.ts'

t.test(
  'a request that is not verified is a 401 without details, and a log line with the reason',
  async (t) => {
    const host = await hostOf(t, { a: source }, { secrets })
    const response = await post(host, { 'x-signature': sign(body, 'other').toString('hex') })
    t.equal(response.statusCode, 401)
    t.equal(response.headers['www-authenticate'], 'Bearer')
    t.strictSame(
      response.json(),
      errorBody(
        401,
        'SVC_WEBHOOKS_NOT_VERIFIED',
        'Unauthorized',
        'the request could not be verified',
      ),
    )
    await post(host, {})
    t.match(refusals(host), [
      { level: 40, source: 'a', reason: 'no signature matches', statusCode: 401 },
      { level: 40, source: 'a', reason: 'the header x-signature is missing', statusCode: 401 },
    ])
    t.equal(refusals(host).length, 2)
    t.notMatch(JSON.stringify(host.log), new RegExp(`${good}|whsec_a-long-key`))
    t.strictSame(await eventsOf(host.app), [])
  },
)

t.test('with emptyErrors an error has no body, as with the preset of Xero', async (t) => {
  const host = await hostOf(
    t,
    {
      a: { ...source, emptyErrors: true },
      xero: providers.xero({ path: '/hooks/xero', secretName: 'KEY' }),
    },
    { secrets },
  )
  const wrong = await post(host, {})
  t.strictSame([wrong.statusCode, wrong.body], [401, ''])
  t.equal(wrong.headers['content-type'], undefined)
  const batch = '{"events":[]}'
  const xero = (key: string) =>
    host.app.inject({
      method: 'POST',
      url: '/hooks/xero',
      headers: { ...json, 'x-xero-signature': sign(batch, key).toString('base64') },
      body: batch,
    })
  const refused = await xero('other')
  t.strictSame([refused.statusCode, refused.body], [401, ''])
  t.equal(refused.headers['set-cookie'], undefined)
  const accepted = await xero('whsec_a-long-key')
  t.strictSame([accepted.statusCode, accepted.body], [200, ''])
})

t.test('verification comes first: an unverified body is not even parsed', async (t) => {
  const host = await hostOf(t, { a: source }, { secrets })
  t.equal((await post(host, {}, '{')).statusCode, 401)
})

t.test('a verified body that claims to be JSON and is not is a 400', async (t) => {
  const host = await hostOf(t, { a: source }, { secrets })
  const response = await post(
    host,
    { 'x-signature': sign('{', 'whsec_a-long-key').toString('hex') },
    '{',
  )
  t.match(response.json(), errorBody(400, 'SVC_WEBHOOKS_BODY_NOT_JSON', 'Bad Request', /not JSON$/))
  t.match(refusals(host), [{ level: 40, source: 'a', reason: 'the body cannot be parsed' }])
  t.strictSame(await eventsOf(host.app), [])
})

t.test('a form with too many fields is a 413', async (t) => {
  const host = await hostOf(t, { a: source }, { secrets })
  const form = 'a&'.repeat(10_001)
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-signature': sign(form, 'whsec_a-long-key').toString('hex'),
  }
  const response = await post(host, headers, form)
  t.match(
    response.json(),
    errorBody(413, 'SVC_WEBHOOKS_TOO_MANY_FIELDS', 'Payload Too Large', /at most 10000 fields/),
  )
  t.match(refusals(host), [{ level: 40, source: 'a', statusCode: 413 }])
})

t.test('a body over the limit is a 413, with or without a valid signature', async (t) => {
  const host = await hostOf(t, { a: source }, { secrets, bodyLimitBytes: 100 })
  const long = `"${'x'.repeat(98)}"`
  const signed = { 'x-signature': sign(long, 'whsec_a-long-key').toString('hex') }
  t.equal((await post(host, signed, long)).statusCode, 200, 'the limit itself is inside')
  const response = await post(host, {}, `${long} `)
  t.match(
    response.json(),
    errorBody(413, 'SVC_WEBHOOKS_BODY_TOO_LARGE', 'Payload Too Large', /large/),
  )
  t.match(refusals(host), [{ source: 'a', statusCode: 413, reason: 'SVC_WEBHOOKS_BODY_TOO_LARGE' }])
})

/** Earlier ones take it for an unknown type: it is refused as not verified. */
const refusesMalformedTypes = Number(/^5\.(\d+)/.exec(Fastify().version)?.[1] ?? 99) >= 7

t.test('a malformed content type is a 415', { skip: !refusesMalformedTypes }, async (t) => {
  const host = await hostOf(t, { a: source }, { secrets })
  const response = await post(host, { 'content-type': 'what?' })
  t.match(
    response.json(),
    errorBody(
      415,
      'SVC_WEBHOOKS_CONTENT_TYPE_INVALID',
      'Unsupported Media Type',
      /Content-Type.*application\/json/,
    ),
  )
  t.match(refusals(host), [{ source: 'a', statusCode: 415 }])
})

t.test('only the verdict true is authentic', async (t) => {
  let verdict: unknown
  const host = await hostOf(t, { a: { ...source, verify: () => verdict as boolean } })
  for (verdict of [
    false,
    undefined,
    null,
    1,
    'true',
    {},
    [],
    Promise.resolve(false),
    Promise.resolve(1),
  ]) {
    t.equal((await post(host, {})).statusCode, 401, JSON.stringify(verdict))
  }
  for (verdict of [true, Promise.resolve(true)]) {
    t.equal((await post(host, {})).statusCode, 200)
  }
  t.match(refusals(host)[0], { reason: 'verify returned false' })
  t.match(refusals(host)[1], { reason: 'verify returned a value of type undefined' })
})

t.test('every request is counted once, by source and outcome', async (t) => {
  const counted: unknown[] = []
  const count = (message: unknown) => void counted.push(message)
  subscribe('svc.webhooks.inbound', count)
  t.teardown(() => unsubscribe('svc.webhooks.inbound', count))
  const host = await hostOf(
    t,
    {
      a: {
        ...source,
        deduplicationKey: () => 'k',
        respond: ({ method }) => (method === 'GET' ? {} : null),
      },
    },
    { secrets },
  )
  for (const signature of [good, good, 'forged']) await post(host, { 'x-signature': signature })
  await post(host, { 'content-type': 'what?' })
  await host.app.inject('/hooks/a')
  host.secrets['KEY'] = null
  await post(host, { 'x-signature': good })
  const ofMalformed = refusesMalformedTypes ? 'malformed' : 'refused'
  const outcomes = ['accepted', 'duplicate', 'refused', ofMalformed, 'answered', 'failed']
  t.strictSame(
    counted,
    outcomes.map((outcome) => ({ source: 'a', outcome })),
  )
})
