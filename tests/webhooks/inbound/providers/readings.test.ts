// Requests that their holder has changed where nothing is signed, and those of the other kinds that
// one preset takes.
import { createHash, createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import type { InboundSource } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { hostOf } from './counting-host.ts'

const ORIGIN = 'https://h.example'
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const given = { path: '/a', secretName: 'S' }
const hmac = (text: string, algorithm = 'sha256', encoding: 'hex' | 'base64' = 'hex', key = 'k') =>
  createHmac(algorithm, key).update(text).digest(encoding)
const seconds = () => String(Math.floor(Date.now() / 1000))

function senderTo(t: Test, source: InboundSource, secrets: Record<string, string> = { S: 'k' }) {
  const { app, published, payloads } = hostOf(t, source, secrets)
  const send = async (
    body: string,
    headers: Record<string, string> = {},
    { type = JSON_TYPE, url = '/a' } = {},
  ) => {
    const all = { 'content-type': type, ...headers }
    return (await app.inject({ method: 'POST', url, headers: all, payload: body })).statusCode
  }
  return { send, published, payloads, last: (): unknown => JSON.parse(payloads.at(-1)!) }
}

t.test('Twilio: only the form or the body that was signed is an event', async (t) => {
  const source = providers.twilio({ ...given, publicOrigin: ORIGIN })
  const { send, published, last } = senderTo(t, source)
  const signature = (text: string) => ({ 'x-twilio-signature': hmac(text, 'sha1', 'base64') })
  const fields = { AccountSid: 'AC1', MessageStatus: 'sent', To: '+1' }
  const text = Object.entries(fields).flat().join('')
  const form = new URLSearchParams(fields).toString()
  const its = signature(`${ORIGIN}/a?x=1${text}`)
  const at = { url: '/a?x=1' }
  t.equal(await send(form, its, { ...at, type: FORM }), 200)
  t.equal(
    await send(form, its, { ...at, type: 'Application/X-WWW-Form-Urlencoded; charset=utf-8' }),
    200,
  )
  t.strictSame(published, ['twilio.sent'], 'the repeat is none')
  t.strictSame(last(), fields)
  for (const type of [JSON_TYPE, 'text/plain', 'multipart/form-data; boundary=x', 'x/y']) {
    t.equal(
      await send('{"MessageStatus":"forged"}', its, { url: `/a?x=1${text}`, type }),
      401,
      type,
    )
    t.equal(await send(form, signature(`${ORIGIN}/a`), { type }), 401, `a bare URL, ${type}`)
  }
  t.equal(await send('', its, { url: `/a?x=1${text}`, type: FORM }), 401, 'all fields in the query')
  const rest = 'MessageStatus=sent&To=%2B1'
  t.equal(await send(rest, its, { url: '/a?x=1AccountSidAC1', type: FORM }), 401, 'one of them')

  const json = '{"type":"delivered"}'
  const url = `/a?bodySHA256=${createHash('sha256').update(json).digest('hex')}`
  t.equal(await send(json, signature(ORIGIN + url), { url }), 200)
  t.equal(await send('{}', signature(ORIGIN + url), { url }), 401)
  t.equal(await send(json, signature(ORIGIN + url), { url, type: FORM }), 415)
  t.equal(await send(json, signature(ORIGIN + url), { url: `${url}&bodySHA256=x` }), 401)
})

t.test('Twilio: what may be the end of the URL or a field is refused', async (t) => {
  const source = providers.twilio({ ...given, path: '/a/:account', publicOrigin: ORIGIN })
  const { send, published } = senderTo(t, source)
  const signed = (target: string, text: string) => ({
    'x-twilio-signature': hmac(`${ORIGIN}${target}${text}`, 'sha1', 'base64'),
  })
  const its = signed('/a/acme2?x=12', 'AccountSidAC1MessageStatussentTo+1')
  const form = (text: string, url: string) => send(text, its, { type: FORM, url })
  const whole = 'AccountSid=AC1&MessageStatus=sent&To=%2B1'
  t.equal(await form(whole, '/a/acme2?x=12'), 200)
  // The end of the query, or of the path, as the name of a field.
  t.equal(await form(`2${whole}`, '/a/acme2?x=1'), 401)
  t.equal(await form(`%3Fx%3D12${whole}`, '/a/acme2'), 401)
  t.equal(await form(`2%3Fx%3D12${whole}`, '/a/acme'), 401)
  // The first fields at the end of the path.
  const rest = 'MessageStatus=sent&To=%2B1'
  t.equal(
    await send(rest, signed('/a/acme2AccountSidAC1', 'MessageStatussentTo+1'), {
      type: FORM,
      url: '/a/acme2AccountSidAC1',
    }),
    401,
  )
  // A field that Twilio has not: the text is the same, and so is the event.
  const custom = signed('/a/acme2?x=', 'Able1Baker2')
  t.equal(await send('Able=1&Baker=2', custom, { type: FORM, url: '/a/acme2?x=' }), 200)
  t.equal(await send('Baker=2', custom, { type: FORM, url: '/a/acme2?x=Able1' }), 200)
  t.strictSame(published, ['twilio.sent', 'twilio.event'])
  // The path of a source may have the name of a field.
  const named = signed('/a/CallStatus', 'CallStatusringing')
  t.equal(await send('CallStatus=ringing', named, { type: FORM, url: '/a/CallStatus' }), 200)
})

t.test('the fields of a form are read from a form alone', async (t) => {
  const gitea = senderTo(t, providers.gitea(given))
  for (const comment of ['one &payload=x&', 'two &payload=x&']) {
    const body = JSON.stringify({ comment })
    const its = { 'x-gitea-event': 'issue_comment', 'x-gitea-signature': hmac(body) }
    t.equal(await gitea.send(body, its), 200)
  }
  t.equal(gitea.published.length, 2, 'another text is another event')

  const twilio = senderTo(t, providers.twilio({ ...given, publicOrigin: ORIGIN }))
  const json = '{"type":"delivered","text":"&MessageStatus=failed&"}'
  const url = `/a?bodySHA256=${createHash('sha256').update(json).digest('hex')}`
  const signature = { 'x-twilio-signature': hmac(ORIGIN + url, 'sha1', 'base64') }
  t.equal(await twilio.send(json, signature, { url }), 200)
  t.strictSame(twilio.published, ['twilio.delivered'])

  const shop = senderTo(t, providers.woocommerce(given))
  const long = JSON.stringify({ description: '&nbsp;'.repeat(10_001) })
  const order = {
    'x-wc-webhook-topic': 'product.updated',
    'x-wc-webhook-signature': hmac(long, 'sha256', 'base64'),
  }
  t.equal(await shop.send(long, order), 200)
  t.strictSame(shop.published, ['woocommerce.product.updated'])
})

t.test('a header that is not signed makes no second event of one name', async (t) => {
  const github = senderTo(t, providers.github(given))
  const its = { 'x-hub-signature-256': `sha256=${hmac('{}')}` }
  const events = ['pull_request', 'pull:request', 'pull request', 'pull\xe9request']
  for (const event of events) {
    t.equal(await github.send('{}', { ...its, 'x-github-event': event }), 200, event)
  }
  t.equal(await github.send('{}', its), 200, 'without the header')
  t.equal(await github.send('{}', its), 200)
  t.strictSame(github.published, ['github.pull_request', 'github.event'])

  const shopify = senderTo(t, providers.shopify(given))
  const body = '{"topic":"Product","action":"update"}'
  const signature = { 'shopify-hmac-sha256': hmac(body, 'sha256', 'base64') }
  for (const topic of ['', 'orders/paid', 'orders/create']) {
    const headers = { ...signature, ...(topic && { 'x-shopify-topic': topic }) }
    t.equal(await shopify.send(body, headers), 200, topic)
  }
  t.strictSame(shopify.published, ['shopify.Product.update'])
})

t.test('Twilio: a rule with a key of its own signs with SHA-256', async (t) => {
  const source = providers.twilio({ path: '/a', secretName: ['S', 'K'], publicOrigin: ORIGIN })
  const { send, published } = senderTo(t, source, { S: 'k', K: 'shared' })
  const settings = 'x-twilio-webhooks-signature-settings'
  const sign = (key: string, algorithm: string) =>
    hmac(`${ORIGIN}/aCallStatusringing`, algorithm, 'base64', key)
  const ring = (signature: string, its?: string) =>
    send(
      'CallStatus=ringing',
      { 'x-twilio-signature': signature, ...(its && { [settings]: its }) },
      { type: FORM },
    )
  t.equal(await ring(sign('shared', 'sha256'), 'key=KY1,algorithm=HMAC_SHA256'), 200)
  t.equal(await ring(sign('k', 'sha1')), 200)
  t.equal(await ring(sign('shared', 'sha256')), 401, 'without the header')
  t.equal(await ring(sign('k', 'sha1'), 'key=KY1,algorithm=HMAC_SHA256'), 401)
  t.equal(await ring(sign('k', 'sha1'), 'key=KY1,algorithm=HMAC_SHA1'), 401, 'an unknown one')
  t.strictSame(published, ['twilio.ringing'])
})

t.test('Plivo and Mandrill: fields cannot be moved to where others are signed', async (t) => {
  const plivo = senderTo(t, providers.plivo({ ...given, publicOrigin: ORIGIN }))
  const nonce = { 'x-plivo-signature-v3-nonce': '123' }
  const text = `${ORIGIN}/a?BillRate0.5CallStatusbusy`
  const signed = { 'x-plivo-signature-v3': hmac(`${text}.123`, 'sha256', 'base64') }
  t.equal(
    await plivo.send('BillRate=0.5&CallStatus=busy', { ...signed, ...nonce }, { type: FORM }),
    200,
  )
  const moved = { ...signed, 'x-plivo-signature-v3-nonce': '5CallStatusbusy.123' }
  t.equal(await plivo.send('BillRate=0', moved, { type: FORM }), 401)
  t.equal(
    await plivo.send(
      'CallStatus=busy',
      { ...signed, ...nonce },
      { type: FORM, url: '/a?BillRate0.5' },
    ),
    401,
  )

  const mandrill = senderTo(t, providers.mandrill({ ...given, publicOrigin: ORIGIN }))
  const events = '[{"event":"open","_id":"1"},{"event":"click","_id":"1"}]'
  const body = `mandrill_events=${encodeURIComponent(events)}`
  const its = {
    'x-mandrill-signature': hmac(`${ORIGIN}/amandrill_events${events}`, 'sha1', 'base64'),
  }
  t.equal(await mandrill.send(`${body}&event=x`, its, { type: FORM }), 200)
  t.strictSame(mandrill.published, ['mandrill.open', 'mandrill.click'])
  t.strictSame(
    mandrill.payloads.map((one) => JSON.parse(one)),
    JSON.parse(events),
  )
  const split = { url: `/amandrill_events${events.slice(0, 20)}`, type: FORM }
  t.equal(await mandrill.send('mandrill_events=[]', its, split), 404)
})

t.test('HubSpot 1 and 2: a longer text with its hash is no event', async (t) => {
  const secret = 'k'
  const body = '[{"eventId":1,"subscriptionType":"contact.creation"}]'
  const longer = Buffer.concat([
    Buffer.from(body),
    Buffer.from([0x80, 0, 0xff]),
    Buffer.from('&a=1'),
  ])
  const hash = (text: Buffer | string) =>
    createHash('sha256').update(secret).update(text).digest('hex')
  const { app, published } = hostOf(t, providers.hubspotV1(given), { S: secret })
  for (const type of [FORM, 'text/plain', JSON_TYPE, '']) {
    for (const text of [longer, Buffer.from(`${body}&subscriptionType=x`)]) {
      const headers = { 'x-hubspot-signature': hash(text), ...(type && { 'content-type': type }) }
      const answer = await app.inject({ method: 'POST', url: '/a', headers, payload: text })
      t.ok([400, 415].includes(answer.statusCode), type)
    }
  }
  t.strictSame(published, [])
})

t.test('Contentful: what is read is among what is signed, and is not folded', async (t) => {
  const { send, published } = senderTo(t, providers.contentful(given), { S: 'k' })
  const names = [
    'x-contentful-idempotency-key',
    'x-contentful-signed-headers',
    'x-contentful-timestamp',
    'x-contentful-topic',
  ]
  const headersAt = (ms: number, of = names): Record<string, string> => ({
    'x-contentful-idempotency-key': 'k1',
    'x-contentful-signed-headers': of.join(','),
    'x-contentful-timestamp': String(ms),
    'x-contentful-topic': 'Entry.publish',
  })
  const textOf = (headers: Record<string, string>, of = names) =>
    of.map((name) => `${name}:${headers[name]}`).join(';')
  const signed = (headers: Record<string, string>, of = names) => ({
    ...headers,
    'x-contentful-signature': hmac(`POST\n/a\n${textOf(headers, of)}\n{}`),
  })
  const now = headersAt(Date.now())
  t.equal(await send('{}', signed(now)), 200)
  t.equal(await send('{}', signed(headersAt(Date.now() - 86_400_000))), 401, 'of yesterday')
  for (const left of names) {
    const of = names.filter((name) => name !== left)
    const headers = headersAt(Date.now(), of)
    t.equal(await send('{}', signed(headers, of)), 401, `${left} is sent and not signed`)
  }
  const folded = {
    ...signed(now),
    'x-contentful-idempotency-key': textOf(now).slice('x-contentful-idempotency-key:'.length),
    'x-contentful-signed-headers': 'x-contentful-idempotency-key',
    'x-contentful-topic': 'Entry.delete',
  }
  t.equal(await send('{}', folded), 401)
  t.strictSame(published, ['contentful.Entry.publish'])
})

t.test('Hook0: a signature over the body alone gives no type and no id', async (t) => {
  const { send, published } = senderTo(t, providers.hook0(given))
  const at = seconds()
  const names = 'x-event-id x-event-type'
  const v0 = `v0=${hmac(`${at}.{}`)}`
  const v1 = `v1=${hmac(`${at}.${names}.e1.user.created.{}`)}`
  const its = { 'x-event-id': 'e1', 'x-event-type': 'user.created' }
  const whole = `t=${at},${v0},h=${names},${v1}`
  t.equal(await send('{}', { ...its, 'x-hook0-signature': whole }), 200)
  const other = { 'x-event-id': 'e2', 'x-event-type': 'user.deleted' }
  t.equal(await send('{}', { ...other, 'x-hook0-signature': `t=${at},${v0}` }), 401)
  const shifted = { 'x-event-id': 'e1.user', 'x-event-type': 'created' }
  t.equal(await send('{}', { ...shifted, 'x-hook0-signature': whole }), 401)
  t.equal(await send('{}', { 'x-event-id': 'e3', 'x-hook0-signature': `t=${at},${v0}` }), 200)
  t.equal(await send('{}', { 'x-event-id': 'e4', 'x-hook0-signature': `t=${at},${v0}` }), 200)
  t.strictSame(published, ['hook0.user.created', 'hook0.event'])
})

t.test('Svix: the id of the other family of headers makes no new event', async (t) => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef')
  const { send, published } = senderTo(t, providers.svix(given), {
    S: `whsec_${key.toString('base64')}`,
  })
  const at = seconds()
  const text = createHmac('sha256', key).update(`m1.${at}.{}`).digest('base64')
  const its = { 'webhook-id': 'm1', 'webhook-timestamp': at, 'webhook-signature': `v1,${text}` }
  t.equal(await send('{}', its), 200)
  t.equal(await send('{}', { ...its, 'svix-id': 'x' }), 401)
  t.equal(await send('{}', { ...its, 'svix-id': 'y', 'svix-signature': 'v1,x' }), 401)
  t.equal(published.length, 1)
})

t.test('QStash: a message for another URL is refused', async (t) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (sub: string, jti = 'j1', changes: object = {}) => {
    const now = Math.floor(Date.now() / 1000)
    const body = createHash('sha256').update('{}').digest('base64url')
    const claims = {
      iss: 'Upstash',
      sub,
      exp: now + 300,
      nbf: now,
      iat: now,
      jti,
      body,
      ...changes,
    }
    const head = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
    return {
      'upstash-signature': `${head}.${createHmac('sha256', 'k').update(head).digest('base64url')}`,
    }
  }
  const { send, published } = senderTo(t, providers.qstash(given))
  t.equal(await send('{}', token('https://any.example/a')), 200)
  t.equal(await send('{}', { ...token('https://any.example/a'), 'upstash-message-id': 'm2' }), 200)
  t.equal(await send('{}', token('https://any.example/low-risk')), 401)
  t.equal(await send('{}', token('https://any.example/a?b=1')), 401)
  t.equal(await send('{}', token('/a')), 401)
  t.equal(await send('{}', token('https://any.example/a', 'j2', { exp: undefined })), 401, 'no exp')
  t.equal(published.length, 1)
  const whole = senderTo(t, providers.qstash({ ...given, publicOrigin: ORIGIN }))
  t.equal(await whole.send('{}', token(`${ORIGIN}/a`)), 200)
  t.equal(await whole.send('{}', token('https://other.example/a')), 401)
})

t.test(
  'Mercado Pago: the id of the body is the signed one, and one signature is one event',
  async (t) => {
    const { send, published } = senderTo(t, providers.mercadoPago(given))
    const its = (ts: string, id = 'id:123;') => ({
      'x-request-id': 'r',
      'x-signature': `ts=${ts},v1=${hmac(`${id}request-id:r;ts:${ts};`)}`,
    })
    const at = { url: '/a?data.id=123&type=payment' }
    const body = (id: number, data = '123') =>
      JSON.stringify({ action: 'payment.updated', id, data: { id: data } })
    const now = String(Date.now())
    t.equal(await send(body(1), its(now), at), 200)
    t.equal(await send(body(2), its(now), at), 200)
    t.equal(published.length, 1)
    t.equal(await send(body(3), its(seconds()), at), 200, 'in seconds')
    t.equal(await send(body(4, '999'), its(now), at), 401)
    t.equal(await send(body(5), its('1600000000'), at), 401)
    t.equal(await send(body(6), its('1600000000000'), at), 401)
    t.equal(await send(body(7), its(now, '')), 401, 'without an id that is signed')
    const folded = { url: `/a?data.id=${encodeURIComponent('123;request-id:r')}` }
    const without = { 'x-signature': its(now)['x-signature'] }
    t.equal(await send(body(8, '123;request-id:r'), without, folded), 401, 'two values in one')
  },
)

t.test('the JSON of a form is the payload', async (t) => {
  const json = '{"ref":"refs/heads/main","n":12345678901234567890}'
  const form = `payload=${encodeURIComponent(json)}`
  const github = senderTo(t, providers.github(given))
  const pushed = (text: string) => ({
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${hmac(text)}`,
  })
  t.equal(await github.send(form, pushed(form), { type: FORM }), 200)
  t.strictSame(github.payloads, [json])
  t.equal(await github.send('a=1', pushed('a=1'), { type: FORM }), 400)
  t.equal(await github.send('payload=x', pushed('payload=x'), { type: FORM }), 400)
  const title = `{"title":"&payload=${encodeURIComponent('{"ref":"x"}')}&"}`
  t.equal(
    await github.send(title, pushed(title), { type: FORM }),
    415,
    'JSON that looks like a form',
  )
  t.equal(await github.send(form, pushed(form)), 400)
  t.equal(await github.send(json, pushed(json), { type: 'text/plain' }), 415)

  for (const charset of ['shift_jis', 'utf-16le', 'iso-8859-1']) {
    const type = `${FORM}; charset=${charset}`
    t.equal(await github.send(form, pushed(form), { type }), 415, charset)
  }
  t.equal(await github.send(form, pushed(form), { type: `${FORM};charset="UTF-8"` }), 200)

  const gitea = senderTo(t, providers.gitea(given))
  const its = { 'x-gitea-event': 'push', 'x-gitea-signature': hmac(json) }
  t.equal(await gitea.send(`${form}&ref=x`, its, { type: FORM }), 200)
  t.equal(await gitea.send(json, its), 200)
  t.strictSame(gitea.payloads, [json], 'once, in either form')

  const slack = senderTo(t, providers.slack(given))
  const at = seconds()
  const acted = `payload=${encodeURIComponent('{"type":"block_actions"}')}`
  for (const text of [acted, 'command=%2Fdeploy&text=now']) {
    const headers = {
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${hmac(`v0:${at}:${text}`)}`,
    }
    t.equal(await slack.send(text, headers, { type: FORM }), 200)
  }
  t.strictSame(
    slack.payloads.map((one) => JSON.parse(one)),
    [{ type: 'block_actions' }, { command: '/deploy', text: 'now' }],
  )
})

t.test('Discourse: JSON is JSON with the content type of a form', async (t) => {
  const { send, payloads } = senderTo(t, providers.discourse(given))
  const body = '{"ping":"OK"}'
  const its = {
    'x-discourse-event-type': 'ping',
    'x-discourse-event-signature': `sha256=${hmac(body)}`,
  }
  t.equal(await send(body, its, { type: FORM }), 200)
  t.strictSame(payloads, [body])
})

t.test('Shopify: Events and webhooks are one preset', async (t) => {
  const { send, published } = senderTo(t, providers.shopify(given))
  const event = '{"topic":"Product","action":"update","handle":"a","fields_changed":[]}'
  const events = (text: string, id: string) => ({
    'shopify-hmac-sha256': hmac(text, 'sha256', 'base64'),
    'shopify-webhook-id': id,
  })
  t.equal(await send(event, events(event, '1')), 200)
  t.equal(await send(event, events(event, '2')), 200)
  t.equal(await send(`${event} `, events(event, '3')), 401)
  const order = '{"id":1,"note":"&financial_status=paid&x="}'
  const its = {
    'x-shopify-topic': 'orders/create',
    'x-shopify-hmac-sha256': hmac(order, 'sha256', 'base64'),
  }
  t.equal(await send(order, its, { type: FORM }), 415)
  t.equal(await send(order, its), 200)
  t.equal(await send(order, { ...its, 'x-shopify-topic': 'orders/paid' }), 200)
  t.strictSame(published, [
    'shopify.Product.update',
    'shopify.orders/create',
    'shopify.orders/paid',
  ])
})

t.test(
  'a secret in a body is not in what is published, and nothing else of it changes',
  async (t) => {
    const graph = senderTo(t, providers.microsoftGraph(given), { S: 'state' })
    const items = { value: [{ id: '1', changeType: 'created', clientState: 'state', n: 1.5 }] }
    t.equal(await graph.send(JSON.stringify(items)), 202)
    t.strictSame(graph.last(), { id: '1', changeType: 'created', clientState: '***', n: 1.5 })

    const figma = senderTo(t, providers.figma(given), { S: 'pass' })
    t.equal(
      await figma.send('{"passcode":"x","passcode":"pass","n":12345678901234567890,"e":1E2}'),
      200,
    )
    t.strictSame(figma.payloads, ['{"passcode":"***","n":12345678901234567890,"e":1E2}'])

    const mailgun = senderTo(t, providers.mailgun(given))
    const at = seconds()
    const signature = { timestamp: at, token: 'b00b', signature: hmac(`${at}b00b`) }
    t.equal(
      await mailgun.send(JSON.stringify({ signature, 'event-data': { event: 'opened' } })),
      200,
    )
    t.match(mailgun.last(), { signature: { token: 'b00b', signature: '***' } })
  },
)
