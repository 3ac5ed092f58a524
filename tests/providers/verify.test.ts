// @svc/providers as an application without Fastify and Postgres uses it.
import { createHmac, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import {
  providers,
  type PlainRequest,
  type Provider,
  type ProviderId,
  type Verification,
} from '@svc/providers'
import { signed, type SignedRequest } from '@svc/testing'
import type { Preset } from '../../packages/providers/src/preset.ts'
import { presets } from '../../packages/providers/src/presets/all.ts'
import { NEEDS, needsOf, ORIGIN } from './needs.ts'
import { jwt, keysFor } from '../webhooks/inbound/providers/sign.ts'

const URL_ = `${ORIGIN}/hooks`

const make = (id: ProviderId, options: object): Provider =>
  (providers[id] as (options: object) => Provider)(options)

function providerWith(id: ProviderId, preset: Preset, secret: string): Provider {
  const { verifyTokenSecretName: verifyToken, ...needs } = needsOf(preset)
  return make(id, { secret, ...needs, ...(verifyToken !== undefined && { verifyToken }) })
}

type Plain = Omit<PlainRequest, 'headers'> & { headers: Record<string, string> }

const plain = ({ url = '/hooks', headers, payload }: SignedRequest): Plain => ({
  method: 'POST',
  url: new URL(url, ORIGIN).href,
  headers,
  body: payload,
})

const web = ({ method, url, headers, body }: PlainRequest): Request =>
  new Request(url, { method, headers: headers as Record<string, string>, body: body as string })

const secret = 'a secret of GitHub'
const push = (body: unknown = { ref: 'main' }) => plain(signed('github', body, { secret }))

t.test('what is known of a request: its event, its id, its payload', async (t) => {
  const github = providers.github({ secret })
  const request = push({ ref: 'main', n: 1 })
  t.strictSame(await github.verify(request), {
    ok: true,
    event: 'github.push',
    id: request.headers['x-github-delivery'],
    payload: { ref: 'main', n: 1 },
  })
  const stripe = signed('stripe', { id: 'evt_1', type: 'invoice.paid' }, { secret: 'whsec_x' })
  t.match(await providers.stripe({ secret: 'whsec_x' }).verify(plain(stripe)), {
    event: 'stripe.invoice.paid',
    id: 'evt_1',
  })
  const figma = { event_type: 'FILE_UPDATE', passcode: 'x' }
  t.match(
    await providers.figma({ secret: 'x' }).verify(plain(signed('figma', figma, { secret: 'x' }))),
    { id: null, payload: { passcode: '***' } },
    'a token in the body is masked',
  )
})

t.test(
  'of a batch the payload is whole, and the event is that which all items share',
  async (t) => {
    const line = providers.line({ secret })
    const of = (...types: string[]) => {
      const events = types.map((type, n) => ({ type, webhookEventId: `id-${n}` }))
      return line.verify(plain(signed('line', { events }, { secret })))
    }
    t.match(await of('follow'), { event: 'line.follow', id: 'id-0' })
    t.match(await of('follow', 'follow'), {
      event: 'line.follow',
      id: null,
      payload: { events: [{ type: 'follow' }, { type: 'follow' }] },
    })
    t.match(await of('follow', 'message'), { event: 'line.event', id: null })
    t.match(await of(), { event: 'line.event', id: null })
  },
)

t.test('the secret is a text, a list, or what a function says of the request', async (t) => {
  const request = push()
  const ok = async (given: Parameters<typeof providers.github>[0]['secret']) =>
    (await providers.github({ secret: given }).verify(request)).ok
  t.equal(await ok(secret), true)
  t.equal(await ok(['the next', secret]), true)
  t.equal(await ok(['the next']), false)
  t.equal(await ok(() => secret), true)
  t.equal(await ok(async (asked) => (asked === request ? [secret, 'x'] : 'x')), true)
  t.strictSame(await providers.github({ secret: () => null }).verify(request), {
    ok: false,
    reason: 'there is no secret for this request',
    retry: false,
  })
  await t.rejects(
    ok(() => ''),
    { name: 'TypeError' },
    'an empty one is a fault of the host',
  )
  await t.rejects(
    ok(() => {
      throw new Error('the vault is sealed')
    }),
    { message: 'the vault is sealed' },
  )
})

t.test('nothing that a sender does makes it throw', async (t) => {
  const github = providers.github({ secret })
  const { headers } = push()
  const sign = (body: string | Buffer) => ({
    ...headers,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  })
  const bodies: [what: string, body: string | Buffer, more?: Record<string, string | string[]>][] =
    [
      ['no JSON', '{'],
      ['nothing', ''],
      ['a number', '1'],
      ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
      ['compressed', '{}', { 'content-encoding': 'gzip' }],
      ['of two charsets', 'a=1', { 'content-type': 'text/plain; charset=a; charset=b' }],
      ['of another type', '{}', { 'content-type': 'text/plain' }],
      [
        'of too many fields',
        'a&'.repeat(10_002),
        { 'content-type': 'application/x-www-form-urlencoded' },
      ],
      ['signed twice', '{}', { 'x-hub-signature-256': ['sha256=00', 'sha256=11'] }],
    ]
  for (const [what, body, more = {}] of bodies) {
    const request = { method: 'POST', url: '/', headers: { ...sign(body), ...more }, body }
    t.match(await github.verify(request), { ok: false, retry: false, reason: /./ }, what)
  }
  t.equal((await github.verify({ method: 'POST', url: '', headers: {}, body: '' })).ok, false)
  const deep = `{"passcode":"x","a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const figma = providers.figma({ secret: 'x' })
  t.match(await figma.verify({ method: 'POST', url: '/', headers: {}, body: deep }), { ok: false })
  t.match(await github.verify({ ...push(), url: '/hooks#a' }), { ok: false, reason: /"#"/ })
  const stopped = new ReadableStream({ start: (to) => to.error(new Error('reset')) })
  const arriving = new Request(URL_, { method: 'POST', body: stopped, duplex: 'half' })
  t.match(await github.verify(arriving), { ok: false, retry: false })
})

t.test('a signed text is a payload where it does not claim to be JSON', async (t) => {
  const sign = (body: string, more = {}) => ({
    method: 'POST',
    url: URL_,
    headers: {
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-github-event': 'ping',
      ...more,
    },
    body,
  })
  const github = providers.github({ secret })
  const text = { ok: true, event: 'github.ping', id: null, payload: 'Hello, World!' }
  t.strictSame(await github.verify(sign('Hello, World!')), text)
  t.strictSame(await github.verify(web(sign('Hello, World!'))), text)
  t.match(await github.verify(web(sign('{"a":1}'))), { payload: { a: 1 } })
  const json = { 'content-type': 'application/json' }
  t.match(await github.verify(sign('Hello, World!', json)), { ok: false })
  t.match(await github.verify(sign('null')), { ok: false }, 'JSON that is no event')
})

t.test('a name of JavaScript in a body is a name like others', async (t) => {
  const body = '{"__proto__":{"polluted":1},"constructor":{"prototype":2}}'
  const github = await providers.github({ secret }).verify({ ...push(body), body })
  t.match(github, { ok: true })
  const fields = '__proto__=1&toString=2&payload=%7B%22__proto__%22%3A%7B%22polluted%22%3A1%7D%7D'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const timestamp = String(Math.floor(Date.now() / 1000))
  const v0 = createHmac('sha256', secret).update(`v0:${timestamp}:${fields}`).digest('hex')
  const slack = await providers.slack({ secret }).verify({
    method: 'POST',
    url: URL_,
    headers: {
      ...headers,
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${v0}`,
    },
    body: fields,
  })
  t.match(slack, { ok: true })
  for (const verified of [github, slack]) {
    const payload = verified.ok ? (verified.payload as Record<string, unknown>) : {}
    t.ok(Object.hasOwn(payload, '__proto__'))
    t.equal(payload['polluted'], undefined)
  }
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

t.test('what was not signed is refused with an error of the host', async (t) => {
  const github = providers.github({ secret })
  const { headers, ...sent } = push()
  const arrived = { ...sent, headers: { ...headers, 'content-length': '14' } }
  for (const body of [{ ref: 'main' }, {}, [1, 2], 5, null, undefined] as never[]) {
    await t.rejects(github.verify({ ...arrived, body }), {
      name: 'TypeError',
      message: /"body" must/,
    })
  }
  for (const parsed of [{ ref: 'main' }, [], 5] as never[]) {
    await t.rejects(github.verify({ ...push(), body: parsed }), { name: 'TypeError' })
  }
  const read = web(push())
  await read.text()
  await t.rejects(github.verify(read), { name: 'TypeError' }, 'a host has read it already')
})

t.test('a request without a body is refused, whatever a parser leaves of it', async (t) => {
  const github = providers.github({ secret })
  const { headers, ...request } = push()
  for (const length of [{}, { 'content-length': '0' }] as Record<string, string>[]) {
    // Of Express 5, of Express 4, of others.
    for (const body of [undefined, {}, null] as never[]) {
      const sent = { ...request, headers: { ...headers, ...length }, body }
      t.match(await github.verify(sent), { ok: false, retry: false, reason: /signature/ })
    }
  }
})

t.test('what is no request is named as such', async (t) => {
  const github = providers.github({ secret })
  const { method, url, headers, body } = push()
  for (const wrong of [
    undefined,
    null,
    body,
    {},
    { url, headers, body },
    { method, headers, body },
    { method, url, body },
    { method, url, headers: null, body },
  ] as never[]) {
    const error = { name: 'TypeError', message: /^the request must be a Request, or \{/ }
    await t.rejects(github.verify(wrong), error)
    await t.rejects(providers.slack({ secret }).handshake(wrong), error)
  }
})

t.test('headers may be those of the Fetch standard, and the method in any case', async (t) => {
  const { headers, ...request } = push()
  const given = new Headers(headers)
  const github = providers.github({ secret })
  t.equal((await github.verify({ ...request, headers: given })).ok, true)
  const meta = providers.meta({ secret, verifyToken: 'x' })
  const url = '/hooks?hub.mode=subscribe&hub.verify_token=x&hub.challenge=c'
  const get = { method: 'get', url, headers: {} } as PlainRequest
  t.equal((await meta.handshake(get))?.status, 200, 'a GET has no body')
})

t.test('a wrong option is named, with its provider, at the call', async (t) => {
  const cases: [id: ProviderId, options: unknown, complaint: RegExp][] = [
    ['github', undefined, /^providers\.github: the options must be an object/],
    ['github', {}, /"secret" must be a secret/],
    ['github', { secret: '' }, /"secret" must be/],
    ['github', { secret: [] }, /"secret" must be/],
    ['github', { secret, path: '/a' }, /there is no option "path"; there are: secret/],
    ['github', { secret, toleranceSeconds: 5 }, /"toleranceSeconds" has no effect, as GitHub/],
    ['stripe', { secret, toleranceSeconds: -1 }, /"toleranceSeconds" must be/],
    ['meta', { secret }, /"verifyToken" must be/],
    ['sns', { secret, topicArn: 'x' }, /there is no option "secret"/],
    ['twilio', { secret }, /"publicOrigin" must be/],
  ]
  for (const [id, options, message] of cases) {
    t.throws(() => make(id, options as object), { name: 'TypeError', message }, String(message))
  }
})

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = { ...pair.publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }
const pubsub = { serviceAccount: NEEDS.serviceAccount, audience: URL_ }

/** A message of Google Pub/Sub, whose keys are fetched. */
function message(kid: string): PlainRequest {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'https://accounts.google.com',
    aud: URL_,
    email: pubsub.serviceAccount,
    email_verified: true,
    iat: now,
    exp: now + 300,
  }
  const token = jwt({ alg: 'RS256', kid }, claims, { secret: '', private: pair.privateKey })
  return {
    method: 'POST',
    url: URL_,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"message":{"messageId":"7","data":""}}',
  }
}

interface KeyServer {
  provider: Provider
  /** How often it was asked. */
  asked: string[]
  answer: () => Response | Promise<Response>
}

function keyServer(answer: KeyServer['answer']): KeyServer {
  const server: KeyServer = {
    provider: providers.googlePubSub({
      ...pubsub,
      fetch: async (url, init) => {
        server.asked.push(`${init?.method} ${new Request(url).url} ${init?.redirect}`)
        return server.answer()
      },
    }),
    asked: [],
    answer,
  }
  return server
}

const keySet = (kid = 'k1', headers = {}) => Response.json({ keys: [{ ...jwk, kid }] }, { headers })
const away = (verification: Verification) =>
  !verification.ok && verification.retry ? 'away' : verification.ok

t.test('keys of a provider are fetched with the option fetch, and kept', async (t) => {
  const server = keyServer(() => keySet())
  for (let n = 0; n < 3; n++) {
    t.match(await server.provider.verify(message('k1')), {
      ok: true,
      event: 'googlePubSub.message',
    })
  }
  t.strictSame(server.asked, ['GET https://www.googleapis.com/oauth2/v3/certs manual'])
})

t.test('an answer is kept for as long as the provider allows, at most an hour', async (t) => {
  let now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const cases: [cacheControl: string, keptSeconds: number][] = [
    ['public, max-age=30', 30],
    ['max-age=86400', 3600],
    ['no-store', 1],
    ['', 3600],
  ]
  for (const [cacheControl, seconds] of cases) {
    const server = keyServer(() => keySet('k1', { 'cache-control': cacheControl }))
    await server.provider.verify(message('k1'))
    now += seconds * 1000 - 1
    await server.provider.verify(message('k1'))
    t.equal(server.asked.length, 1, cacheControl)
    now += 2
    await server.provider.verify(message('k1'))
    t.equal(server.asked.length, 2, cacheControl)
  }
})

t.test('a key server that is away is no fault of the sender', async (t) => {
  const endless = () =>
    new Response(new ReadableStream({ pull: (to) => to.enqueue(Buffer.alloc(64 * 1024)) }))
  const answers: [what: string, answer: KeyServer['answer'], verdict: 'away' | boolean][] = [
    ['does not answer', () => Promise.reject(new TypeError('fetch failed')), 'away'],
    ['answers 503', () => new Response(null, { status: 503 }), 'away'],
    ['answers without an end', endless, 'away'],
    ['redirects', () => Response.redirect('https://127.0.0.1/'), 'away'],
    ['has nothing', () => new Response(null, { status: 404 }), 'away'],
    ['answers what is no JSON', () => new Response('<html>'), 'away'],
    ['answers what is no key set', () => Response.json({ error: 'busy' }), 'away'],
    ['answers other keys', () => Response.json({ keys: [null, 5, {}] }), false],
  ]
  for (const [what, answer, verdict] of answers) {
    t.equal(away(await keyServer(answer).provider.verify(message('k1'))), verdict, what)
  }
  t.equal(away(await keyServer(() => keySet()).provider.verify(message('k1'))), true)
})

t.test('what is no key set is not kept, and the former one is used meanwhile', async (t) => {
  let now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const page = () => new Response('<html>', { headers: { 'cache-control': 'max-age=3600' } })
  const server = keyServer(page)
  t.equal(away(await server.provider.verify(message('k1'))), 'away')
  server.answer = () => keySet()
  t.equal(away(await server.provider.verify(message('k1'))), true)
  server.answer = page
  now += 3_601_000
  t.equal(away(await server.provider.verify(message('k1'))), true)
})

t.test('a key that is unknown while its server is away is not the fault of a sender', async (t) => {
  let now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const server = keyServer(() => keySet())
  t.equal(away(await server.provider.verify(message('k1'))), true)
  server.answer = () => new Response(null, { status: 503 })
  now += 61_000
  for (let n = 0; n < 5; n++) {
    t.equal(away(await server.provider.verify(message('k2'))), 'away')
    t.equal(away(await server.provider.verify(message('k1'))), true, 'another is known')
  }
  t.equal(server.asked.length, 2, 'it is asked once a minute')
  server.answer = () => keySet('k2')
  now += 61_000
  t.equal(away(await server.provider.verify(message('k2'))), true)
})

t.test('whatever hosts a stranger names, few are contacted in a minute', async (t) => {
  const asked = new Set<string>()
  const sns = providers.sns({
    topicArn: NEEDS.topicArn,
    fetch: async (url) => {
      asked.add(new URL(new Request(url).url).hostname)
      return new Response(null, { status: 404 })
    },
  })
  for (let n = 0; n < 100; n++) {
    const region = `aa-${String.fromCharCode(97 + (n % 26))}${'b'.repeat(n / 26)}-1`
    const forged = {
      Type: 'Notification',
      Message: 'm',
      MessageId: 'i',
      SignatureVersion: '2',
      Signature: 'AAAA',
      SigningCertURL: `https://sns.${region}.amazonaws.com/a.pem`,
      Timestamp: new Date().toISOString(),
      TopicArn: NEEDS.topicArn,
    }
    const body = JSON.stringify(forged)
    const verdict = away(await sns.verify({ method: 'POST', url: '/', headers: {}, body }))
    t.equal(verdict, n < 60 ? false : 'away')
  }
  t.equal(asked.size, 60)
})

t.test('a fetch that hangs is given up, also one that heeds no signal', async (t) => {
  t.intercept(AbortSignal, 'timeout', { value: () => AbortSignal.abort(new Error('late')) })
  const hangs = [
    () => new Promise<Response>(() => undefined),
    async () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) })),
  ]
  for (const hang of hangs) {
    t.equal(away(await keyServer(hang).provider.verify(message('k1'))), 'away')
  }
})

const textOf = async (response: Response | null) =>
  response && { status: response.status, text: await response.text() }

t.test('a handshake is answered, with the proof that the provider gives', async (t) => {
  const meta = providers.meta({ secret, verifyToken: 'a token' })
  const subscribe = (token: string) =>
    new Request(
      `${URL_}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=%3Cb%3E`.replace(
        '%20',
        '+',
      ),
    )
  const answer = await meta.handshake(subscribe('a+token'))
  t.match(answer?.headers.get('content-type'), 'text/plain')
  t.equal(answer?.headers.get('x-content-type-options'), 'nosniff')
  t.strictSame(await textOf(answer), { status: 200, text: '<b>' })
  t.equal(await meta.handshake(subscribe('other')), null, 'another token')

  const slack = providers.slack({ secret })
  const challenge = { type: 'url_verification', challenge: 'c1' }
  const asked = plain(signed('slack', challenge, { secret }))
  t.match((await textOf(await slack.handshake(asked)))?.text, 'c1')
  t.match((await textOf(await slack.handshake(web(asked))))?.text, 'c1')
  const forged = plain(signed('slack', challenge, { secret: 'another' }))
  t.equal(await slack.handshake(forged), null, 'not signed by Slack')
  const event = plain(signed('slack', { type: 'event_callback', event_id: 'e' }, { secret }))
  t.equal(await slack.handshake(event), null, 'an event')
  t.equal(await providers.github({ secret }).handshake(push()), null, 'GitHub has none')
})

t.test('a handshake that a provider signs is answered to no one else', async (t) => {
  const asked: [id: ProviderId, body: object, headers?: Record<string, string>][] = [
    ['slack', { type: 'url_verification', challenge: 'c' }],
    ['zoom', { event: 'endpoint.url_validation', payload: { plainToken: 'p' } }],
    ['discord', { type: 1, token: 't' }],
    ['discord', { type: 0 }],
    [
      'twitch',
      { challenge: 'c' },
      { 'twitch-eventsub-message-type': 'webhook_callback_verification' },
    ],
    ['front', {}, { 'x-front-challenge': 'c' }],
    ['daily', { test: 'test' }],
  ]
  const tested = [...new Set(asked.map(([id]) => id)), 'sns']
  const signing = (Object.entries(presets) as [string, Preset][]).flatMap(([id, { handshakes }]) =>
    handshakes?.some(({ method, signed: is }) => method === 'POST' && is !== false) ? [id] : [],
  )
  t.strictSame(tested.toSorted(), signing.toSorted(), 'that of SNS is in sns.test.ts')
  for (const [id, body, headers = {}] of asked) {
    const preset: Preset = presets[id]
    const own = keysFor(preset.schemes[0]!)
    const requestBy = ({ secret: text, private: key }: Pick<typeof own, 'secret' | 'private'>) => {
      const privateKey = key?.export({ type: 'pkcs8', format: 'pem' }).toString()
      const by = privateKey ? { privateKey } : { secret: text }
      return plain(signed(id, body, { headers, ...by }))
    }
    const provider = providerWith(id, preset, own.secret)
    const genuine = requestBy(own)
    const answer = await provider.handshake(genuine)
    t.ok(answer && answer.status < 300, `${id}: ${answer?.status}`)
    const other = own.private
      ? keysFor(preset.schemes[0]!)
      : { secret: `${own.secret.slice(0, -2)}00` }
    t.equal(await provider.handshake(requestBy(other)), null, `${id}: signed by another`)
    const changed = genuine.body.toString().replace(/\}$/, ' }')
    t.equal(await provider.handshake({ ...genuine, body: changed }), null, `${id}: another body`)
    t.equal(await provider.handshake({ ...genuine, method: 'GET' }), null, `${id}: a GET`)
  }
})

t.test(
  'an answer is signed with the secret of several that the request is signed with',
  async (t) => {
    const asked = { event: 'endpoint.url_validation', payload: { plainToken: 'p' } }
    const zoom = providers.zoom({ secret: ['the next', 'the present'] })
    for (const secret of ['the present', 'the next']) {
      const answer = await zoom.handshake(plain(signed('zoom', asked, { secret })))
      const encryptedToken = createHmac('sha256', secret).update('p').digest('hex')
      t.strictSame(await answer?.json(), { plainToken: 'p', encryptedToken })
    }
  },
)

t.test('a secret that a provider sends is kept by onHandshake, or refused', async (t) => {
  const kept: string[] = []
  const asana = (onHandshake?: (secret: string) => boolean | void) =>
    providers.asana({ secret: () => kept, onHandshake })
  const request: Plain = {
    method: 'POST',
    url: '/hooks',
    headers: { 'x-hook-secret': 'made by Asana', 'content-type': 'application/json' },
    body: '{}',
  }
  t.equal(await asana().handshake(request), null)
  t.equal(await asana(() => false).handshake(request), null)
  const answer = await asana((given) => void kept.push(given)).handshake(request)
  t.equal(answer?.headers.get('x-hook-secret'), 'made by Asana')
  t.strictSame(kept, ['made by Asana'])
  const headers = { ...request.headers, 'x-hook-secret': 'no header can be\nthis' }
  t.equal(await asana(() => true).handshake({ ...request, headers }), null)
})

t.test('the list has what each was checked against, and when', (t) => {
  for (const listed of providers.list()) {
    t.match(listed, {
      id: /^[a-z]/,
      name: /./,
      scheme: /./,
      docs: /^https:\/\//,
      checked: /^(?:vector|sdk|documentation)$/,
      checkedOn: /^\d{4}-\d\d-\d\d$/,
      source: /.{3}/,
    })
    t.type(providers[listed.id], 'function')
  }
  t.ok(providers.list().length >= 120)
  t.end()
})
