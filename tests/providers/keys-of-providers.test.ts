// Requests that are signed with keys of the provider, and headers that the customer chooses.
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
} from 'node:crypto'
import t from 'tap'
import { providers, type PlainRequest } from '@svc/providers'
import { CHAIN } from './needs.ts'
import { jwt, X5C } from '../webhooks/inbound/providers/sign.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (headers: Record<string, string>, body: string, url = '/hooks'): PlainRequest => ({
  method: 'POST',
  url,
  headers: { ...JSON_TYPE, ...headers },
  body,
})

/** A server of one key set. */
function keyServer(keys: object[]) {
  const asked: string[] = []
  const server = {
    keys,
    asked,
    fetch: async (url: string | URL | Request) => {
      asked.push(new Request(url).url)
      return Response.json({ keys: server.keys })
    },
  }
  return server
}

const ed25519 = (kid: string) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' },
  }
}

t.test('Turnkey: headers name version, algorithm and key', async (t) => {
  // The key, the id and the body of the tests of @turnkey/crypto.
  const seed = Buffer.from([...Array(32).keys()])
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const jwk = { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'webhook-key-1' }
  const body = '{"type":"activity.created","data":{"id":"act_123"}}'
  const server = keyServer([ed25519('another').jwk, jwk])
  const turnkey = providers.turnkey({ fetch: server.fetch })
  const signedAt = (ms: number, more: Record<string, string> = {}) => {
    const text = `v1.ed25519.webhook-key-1.${ms}.evt_123.${body}`
    return post(
      {
        'x-turnkey-timestamp': String(ms),
        'x-turnkey-event-id': 'evt_123',
        'x-turnkey-signature-key-id': 'webhook-key-1',
        'x-turnkey-signature-algorithm': 'ed25519',
        'x-turnkey-signature-version': 'v1',
        'x-turnkey-signature': sign(null, Buffer.from(text), privateKey).toString('hex'),
        ...more,
      },
      body,
    )
  }
  t.match(await turnkey.verify(signedAt(Date.now())), {
    ok: true,
    event: 'turnkey.activity.created',
    id: 'evt_123',
  })
  t.strictSame(server.asked, ['https://api.turnkey.com/public/v1/discovery/webhooks/jwks'])
  const refused: Record<string, PlainRequest> = {
    old: signedAt(Date.now() - 301_000),
    'of another key': signedAt(Date.now(), { 'x-turnkey-signature-key-id': 'another' }),
    'of an unknown key': signedAt(Date.now(), { 'x-turnkey-signature-key-id': 'none' }),
    'of another version': signedAt(Date.now(), { 'x-turnkey-signature-version': 'v2' }),
    'of another algorithm': signedAt(Date.now(), { 'x-turnkey-signature-algorithm': 'none' }),
    'another event': signedAt(Date.now(), { 'x-turnkey-event-id': 'evt_124' }),
  }
  for (const [what, request] of Object.entries(refused)) {
    t.match(await turnkey.verify(request), { ok: false, retry: false }, what)
  }
  t.equal(server.asked.length, 1, 'an unknown key asks once a minute')
})

t.test('fal: any key of the set, and a new one after a minute', async (t) => {
  let now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const [first, second] = [ed25519('1'), ed25519('2')]
  const server = keyServer([ed25519('0').jwk, first.jwk])
  const fal = providers.fal({ fetch: server.fetch })
  const body = '{"request_id":"r-1","status":"OK","payload":{}}'
  const requestBy = ({ privateKey }: typeof first, text = body) => {
    const seconds = String(Math.floor(now / 1000))
    const digest = createHash('sha256').update(body).digest('hex')
    const signed = Buffer.from(`r-1\nu-1\n${seconds}\n${digest}`)
    return post(
      {
        'x-fal-webhook-request-id': 'r-1',
        'x-fal-webhook-user-id': 'u-1',
        'x-fal-webhook-timestamp': seconds,
        'x-fal-webhook-signature': sign(null, signed, privateKey).toString('hex'),
      },
      text,
    )
  }
  t.match(await fal.verify(requestBy(first)), { ok: true, event: 'fal.OK', id: 'r-1' })
  t.equal((await fal.verify(requestBy(first, '{"status":"OK"}'))).ok, false, 'another body')
  t.equal((await fal.verify(requestBy(second))).ok, false)
  t.equal(server.asked.length, 1)
  server.keys = [second.jwk]
  now += 61_000
  t.equal((await fal.verify(requestBy(second))).ok, true)
  t.strictSame(server.asked.length, 2)
})

/** RFC 7515, appendix F. */
function detached(header: object, payload: string, sign_: (text: Buffer) => Buffer): string {
  const part = (text: string) => Buffer.from(text).toString('base64url')
  const head = part(JSON.stringify(header))
  return `${head}..${sign_(Buffer.from(`${head}.${part(payload)}`)).toString('base64url')}`
}

t.test('Fireblocks: a JWS without its payload, by the keys of a region', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = keyServer([{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS512' }])
  const body = '{"id":"n-1","eventType":"transaction.created","workspaceId":"w"}'
  const by = (hash: string) => (text: Buffer) => sign(hash, text, privateKey)
  const request = (jws: string, text = body) => post({ 'fireblocks-webhook-signature': jws }, text)
  const genuine = detached({ alg: 'RS512', kid: 'k1' }, body, by('sha512'))
  const fireblocks = providers.fireblocks({ fetch: server.fetch })
  t.match(await fireblocks.verify(request(genuine)), {
    ok: true,
    event: 'fireblocks.transaction.created',
    id: 'n-1',
  })
  await providers.fireblocks({ region: 'eu2', fetch: server.fetch }).verify(request(genuine))
  t.strictSame(server.asked, [
    'https://keys.fireblocks.io/.well-known/jwks.json',
    'https://eu2-keys.fireblocks.io/.well-known/jwks.json',
  ])
  t.throws(() => providers.fireblocks({ region: 'evil.example/' as never }), TypeError)
  const refused: Record<string, PlainRequest> = {
    'another body': request(genuine, `${body} `),
    'of another algorithm': request(detached({ alg: 'RS256', kid: 'k1' }, body, by('sha256'))),
    'of no algorithm': request(detached({ alg: 'none', kid: 'k1' }, body, () => Buffer.alloc(0))),
    'that holds its payload': request(
      genuine.replace('..', `.${Buffer.from(body).toString('base64url')}.`),
    ),
    'with extensions': request(
      detached({ alg: 'RS512', kid: 'k1', b64: false, crit: ['b64'] }, body, by('sha512')),
    ),
  }
  for (const [what, one] of Object.entries(refused)) {
    t.match(await fireblocks.verify(one), { ok: false, retry: false }, what)
  }
})

t.test('Neon: a JWS without its payload, which is the time and the body', async (t) => {
  const { privateKey, jwk } = ed25519('01dec52b-4666-40f7-87ed-6423552eecaf')
  const server = keyServer([jwk, ed25519('another').jwk])
  const authUrl = 'https://ep-1.neonauth.eu-west-1.aws.neon.tech/neondb/auth'
  const neon = providers.neon({ authUrl, fetch: server.fetch })
  const body = '{"event_id":"e-1","event_type":"user.created"}'
  const signedAt = (ms: number, more: Record<string, string> = {}, text = body) => {
    const payload = `${ms}.${Buffer.from(body).toString('base64url')}`
    const jws = detached({ alg: 'EdDSA', typ: 'JWS', kid: '01dec52b' }, payload, (signed) =>
      sign(null, signed, privateKey),
    )
    return post(
      {
        'x-neon-signature': jws,
        'x-neon-signature-kid': jwk.kid,
        'x-neon-timestamp': String(ms),
        ...more,
      },
      text,
    )
  }
  t.match(await neon.verify(signedAt(Date.now())), { event: 'neon.user.created', id: 'e-1' })
  t.strictSame(server.asked, [`${authUrl}/.well-known/jwks.json`])
  const later = String(Date.now() + 1000)
  for (const request of [
    signedAt(Date.now() - 301_000),
    signedAt(Date.now(), { 'x-neon-timestamp': later }),
    signedAt(Date.now(), { 'x-neon-signature-kid': 'another' }),
    signedAt(Date.now(), {}, `${body} `),
  ]) {
    t.match(await neon.verify(request), { ok: false, retry: false })
  }
  for (const wrong of ['http://a.example', 'https://a.example/?x=', 'https://a@b.example', '']) {
    t.throws(() => providers.neon({ authUrl: wrong }), TypeError, wrong)
  }
})

t.test('App Store: a chain to a root of the provider, judged when it was signed', async (t) => {
  const keys = { secret: '', private: createPrivateKey(CHAIN.leafKey) }
  const claims = (more: object = {}) => ({
    notificationType: 'DID_RENEW',
    subtype: 'BILLING_RECOVERY',
    notificationUUID: 'n-1',
    signedDate: Date.now(),
    data: { bundleId: 'com.example', appAppleId: 1234, environment: 'Production' },
    big: '@',
    ...more,
  })
  const signed = (payload: object, x5c: readonly string[] = X5C, alg = 'ES256') =>
    post({}, JSON.stringify({ signedPayload: jwt({ alg, x5c }, payload, keys) }))
  const rootCertificates = [CHAIN.root]
  const appStore = providers.appStore({ bundleId: 'com.example', rootCertificates })
  t.match(await appStore.verify(signed(claims())), {
    ok: true,
    event: 'appStore.DID_RENEW.BILLING_RECOVERY',
    id: 'n-1',
    payload: { notificationType: 'DID_RENEW', data: { bundleId: 'com.example' } },
  })
  const der = Buffer.from(X5C[2]!, 'base64')
  for (const root of [CHAIN.root, X5C[2]!, der, [X5C[0]!, der]]) {
    const made = providers.appStore({ bundleId: 'com.example', rootCertificates: root })
    t.equal((await made.verify(signed(claims()))).ok, true)
  }
  const unmarked = CHAIN.unmarked.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  const refused: Record<string, PlainRequest> = {
    'another bundle': signed(claims({ data: { bundleId: 'com.example.other' } })),
    'no bundle': signed(claims({ data: {} })),
    'no chain': signed(claims(), []),
    'the leaf alone': signed(claims(), X5C.slice(0, 1)),
    'without the root': signed(claims(), X5C.slice(0, 2)),
    'in another order': signed(claims(), X5C.toReversed()),
    'a root as the intermediate': signed(claims(), [X5C[0]!, X5C[2]!, X5C[2]!]),
    'what may not sign': signed(claims(), [unmarked, X5C[1]!, X5C[2]!]),
    'no certificate': signed(claims(), ['AAAA', X5C[1]!, X5C[2]!]),
    'before it was valid': signed(claims({ signedDate: Date.UTC(2020, 1) })),
    'after it was valid': signed(claims({ signedDate: Date.UTC(2200, 1) })),
    'no date': signed(claims({ signedDate: undefined })),
    'no signature': post({}, '{"signedPayload":"a.b"}'),
    nothing: post({}, '{}'),
  }
  for (const [what, request] of Object.entries(refused)) {
    t.match(await appStore.verify(request), { ok: false, retry: false }, what)
  }
  t.equal(
    (await providers.appStore({ bundleId: 'com.example' }).verify(signed(claims()))).ok,
    false,
  )

  const mine = providers.appStore({ bundleId: 'com.example', appAppleId: 1234, rootCertificates })
  t.equal((await mine.verify(signed(claims()))).ok, true)
  const sandbox = { bundleId: 'com.example', environment: 'Sandbox' }
  t.equal((await mine.verify(signed(claims({ data: sandbox })))).ok, false, 'of the sandbox')
  t.equal((await appStore.verify(signed(claims({ data: sandbox })))).ok, true)
  const summary = { bundleId: 'com.example', appAppleId: 1234 }
  t.equal((await mine.verify(signed(claims({ data: undefined, summary })))).ok, true, 'a summary')

  const yesterday = signed(claims({ signedDate: Date.now() - 86_400_000 + 120_000 }))
  const strict = providers.appStore({
    bundleId: 'com.example',
    rootCertificates,
    toleranceSeconds: 60,
  })
  t.equal((await strict.verify(signed(claims()))).ok, true)
  t.equal((await strict.verify(yesterday)).ok, false, 'older than the host wants')
  const then = signed(claims())
  t.intercept(Date, 'now', { value: () => Date.UTC(2130, 0) })
  t.equal((await appStore.verify(then)).ok, true, 'its certificates are over')
  t.throws(() => providers.appStore({ bundleId: 'a', rootCertificates: 'AAAA' }), TypeError)
  t.throws(() => providers.appStore({ bundleId: 'a', rootCertificates: [] }), TypeError)
})

const secret = 'a secret of the customer'
const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('hex')

t.test('Vapi: the header that the customer has chosen, with an HMAC or the secret', async (t) => {
  const body = '{"message":{"type":"status-update"}}'
  const usual = providers.vapi({ secret })
  const own = providers.vapi({ secret, header: 'X-Acme-Signature' })
  const ok = async (vapi: typeof usual, headers: Record<string, string>) =>
    (await vapi.verify(post(headers, body))).ok
  t.equal(await ok(usual, { 'x-vapi-signature': hmac(body) }), true)
  t.equal(await ok(usual, { 'x-vapi-secret': secret }), true)
  t.equal(await ok(usual, { authorization: `Bearer ${secret}` }), true)
  t.equal(await ok(own, { 'x-acme-signature': hmac(body) }), true)
  t.equal(await ok(own, { 'x-acme-signature': secret }), true)
  t.equal(await ok(own, { 'x-acme-signature': `Bearer ${secret}` }), true)
  t.equal(await ok(own, { 'x-acme-signature': hmac(`${body} `) }), false)
  t.equal(await ok(own, { 'x-acme-signature': 'other', 'x-vapi-secret': secret }), false)
  t.equal(await ok(own, { 'x-vapi-signature': hmac(body) }), false)
  t.equal(await ok(own, {}), false)
  t.throws(() => providers.vapi({ secret, header: 'a b' }), TypeError)
})

t.test('AssemblyAI and Deepgram: a secret where the customer has put it', async (t) => {
  const done = '{"transcript_id":"t-1","status":"completed"}'
  const assemblyai = providers.assemblyai({ secret, header: 'X-My-Secret' })
  t.match(await assemblyai.verify(post({ 'x-my-secret': secret }, done)), {
    event: 'assemblyai.completed',
  })
  t.equal((await assemblyai.verify(post({ 'x-webhook-secret': secret }, done))).ok, false)

  const basic = `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`
  const result = '{"metadata":{"request_id":"r-1"}}'
  const extra = `{"metadata":{"request_id":"r-1","extra":{"callback_secret":"${secret}"}}}`
  const plain = providers.deepgram({ secret })
  const named = providers.deepgram({ secret, username: 'user' })
  t.match(await named.verify(post({ authorization: basic }, result)), { ok: true, id: 'r-1' })
  t.equal((await plain.verify(post({ authorization: basic }, result))).ok, false, 'no username')
  const nobody = `Basic ${Buffer.from(`undefined:${secret}`).toString('base64')}`
  t.equal((await plain.verify(post({ authorization: nobody }, result))).ok, false)
  t.match(await plain.verify(post({}, extra)), {
    ok: true,
    payload: { metadata: { extra: { callback_secret: '***' } } },
  })
  t.equal((await plain.verify(post({ 'dg-token': secret }, result))).ok, true)
  t.equal((await plain.verify(post({ 'dg-token': 'other' }, result))).ok, false)
})

t.test('Auth0: an object, a list, or a line of JSON for each event', async (t) => {
  const auth0 = providers.auth0({ secret: 'Bearer x' })
  const event = (n: number, type = 's') => ({ log_id: `l-${n}`, data: { type } })
  const verify = (body: string) => auth0.verify(post({ authorization: 'Bearer x' }, body))
  const [one, two] = [event(1), event(2)].map((value) => JSON.stringify(value))
  t.match(await verify(one!), { event: 'auth0.s', id: 'l-1', payload: event(1) })
  t.match(await verify(`${one}\n${two}\n`), { event: 'auth0.s', payload: [event(1), event(2)] })
  t.match(await verify(`[${one},${two}]`), { event: 'auth0.s', payload: [event(1), event(2)] })
  t.match(await verify(`${one}\nno JSON`), { ok: false, retry: false })
  t.match(await verify(`${one}\n5`), { ok: false }, 'no object')
})

t.test('Recurly: a time and the signatures of two keys, one after the other', async (t) => {
  const body = '{"object_type":"account","event_type":"created"}'
  const ms = String(Date.now())
  const recurly = providers.recurly({ secret })
  const of = (header: string) => recurly.verify(post({ 'recurly-signature': header }, body))
  const other = 'ab'.repeat(32)
  t.match(await of(`${ms},${hmac(`${ms}.${body}`)}`), { event: 'recurly.account.created' })
  t.equal((await of(`${ms},${other},${hmac(`${ms}.${body}`)}`)).ok, true)
  t.equal((await of(`${ms},${other}`)).ok, false)
  t.equal((await of(`${hmac(`${ms}.${body}`)},${ms}`)).ok, false, 'in another order')
  const old = String(Date.now() - 301_000)
  t.equal((await of(`${old},${hmac(`${old}.${body}`)}`)).ok, false)
})

t.test('Braintree: XML in a form, and a challenge that signs nothing else', async (t) => {
  const xml =
    '<?xml version="1.0"?>\n<notification>\n  <timestamp type="datetime">2026-11-27T08:13:14Z</timestamp>\n' +
    '  <kind>subscription_canceled</kind>\n  <subject><subscription><id>a &amp; b</id>' +
    '<price type="integer">3</price><add-ons type="array"/><paid type="boolean">false</paid>' +
    '<note nil="true"/></subscription></subject></notification>'
  const key = createHash('sha1').update('the private key').digest()
  const sha1 = (text: string) => createHmac('sha1', key).update(text).digest('hex')
  const braintree = providers.braintree({ secret: 'the private key', publicKey: 'public_1' })
  const of = (text: string, signature: (payload: string) => string) => {
    // The library ends the payload with a line end.
    const payload = `${Buffer.from(text).toString('base64')}\n`
    const form = { bt_signature: signature(payload), bt_payload: payload }
    return braintree.verify({
      method: 'POST',
      url: '/hooks',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
  }
  const right = (payload: string) => `public_1|${sha1(payload)}`
  t.match(await of(xml, right), {
    ok: true,
    event: 'braintree.subscription_canceled',
    payload: {
      kind: 'subscription_canceled',
      subject: { subscription: { id: 'a & b', price: 3, 'add-ons': [], paid: false, note: null } },
    },
  })
  t.equal((await of(xml, (payload) => `other|aa&${right(payload)}`)).ok, true)
  t.equal((await of(xml, (payload) => `other|${sha1(payload)}`)).ok, false, 'of another key')
  t.equal((await of(xml, () => `public_1|${sha1('x')}`)).ok, false)
  for (const wrong of [
    '<!DOCTYPE a [<!ENTITY b "c">]><a><k>1</k></a>',
    '<a><b></a></b>',
    'x',
    '',
  ]) {
    t.equal((await of(wrong, right)).ok, false, wrong)
  }
  const challenge = (text: string) =>
    braintree.handshake({
      method: 'GET',
      url: `/hooks?bt_challenge=${text}`,
      headers: {},
      body: '',
    })
  const digits = '20f9f8ed05f77439fe955c977e4c8a53'
  // What webhookNotification.verify of braintree 3.40.0 answers.
  const answer = 'public_1|b11aa07fe673137b9e1f1b9382124981340e81ce'
  t.equal(await (await challenge(digits))?.text(), answer)
  const payload = encodeURIComponent(Buffer.from(xml).toString('base64'))
  for (const text of [payload, `${digits}0`, 'abc', '']) t.equal(await challenge(text), null, text)
})

t.test('Shopify: Events have their topic, action and id in headers of their own', async (t) => {
  const shopify = providers.shopify({ secret })
  const verify = (body: string, headers: Record<string, string>) => {
    const signature = createHmac('sha256', secret).update(body).digest('base64')
    return shopify.verify(post({ 'shopify-hmac-sha256': signature, ...headers }, body))
  }
  const headers = { 'shopify-topic': 'Product', 'shopify-webhook-id': 'w-1' }
  const both = { ...headers, 'shopify-action': 'update' }
  const named = { event: 'shopify.Product.update', id: 'w-1' }
  t.match(await verify('{"topic":"Product","action":"update"}', headers), named)
  t.match(await verify('{}', both), named)
  t.match(await verify('{}', headers), { event: 'shopify.Product', id: 'w-1' })
})

t.test('Daily: the test of a new URL is answered, with its proof if it has one', async (t) => {
  const key = Buffer.from('a key of Daily')
  const daily = providers.daily({ secret: key.toString('base64') })
  const body = '{"test":"test"}'
  const seconds = String(Math.floor(Date.now() / 1000))
  const right = createHmac('sha256', key).update(`${seconds}.${body}`).digest('base64')
  const of = (signature?: string) =>
    daily.handshake(
      post(
        signature === undefined
          ? {}
          : { 'x-webhook-timestamp': seconds, 'x-webhook-signature': signature },
        body,
      ),
    )
  t.equal((await of())?.status, 200)
  t.equal((await of(right))?.status, 200)
  t.equal(await of(Buffer.alloc(32).toString('base64')), null)
})
