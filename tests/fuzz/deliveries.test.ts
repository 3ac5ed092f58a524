// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { verifyDelivery } from '@svc/receiver'
import {
  createAddressFilter,
  literalAddress,
  urlProblem,
} from '../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import { ResponseText } from '../../packages/webhooks/src/outbound/http/post.ts'
import { outcomeOfAnswer } from '../../packages/webhooks/src/outbound/delivery/attempt.ts'
import { signingHeaders } from '../../packages/webhooks/src/outbound/delivery/request.ts'
import { headerNames } from '../../packages/webhooks/src/outbound/settings/header-names.ts'
import { assertSecret } from '../../packages/webhooks/src/outbound/settings/secret.ts'
import { assertCustomHeaders } from '../../packages/webhooks/src/outbound/settings/custom-headers.ts'
import { fuzz, spoilt, textOf, throwsOnly, words } from './fuzz.ts'

const isBlocked = createAddressFilter([])

const loopback = fc.constantFrom(
  ...words('127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 [::1] [::ffff:127.0.0.1]'),
  ...words('169.254.169.254 [::ffff:a9fe:a9fe] [64:ff9b::a9fe:a9fe] 10.0.0.1 [fd00::1]'),
  ...words('0 0.0.0.0 [::] １２７.０.０.１ 127。0。0。1 [2002:7f00:1::] 127.0.0.1.'),
)

t.test('no spelling of a private address can be registered', (t) => {
  const url = fc.tuple(
    fc.constantFrom('http://', 'https://', 'HTTP://', 'http:', 'http:/', 'http:\\\\'),
    loopback,
    fc.constantFrom('', ':80', ':443', ':065535'),
    fc.oneof(fc.constantFrom('', '/', '/hook', '?a', '#b'), fc.webPath()),
  )
  return fuzz(t, url, (parts) => {
    const problem = urlProblem(parts.join(''), isBlocked)
    if (problem === null) throw new Error(`${parts.join('')} is let through`)
  })
})

t.test('a URL that can be registered is http or https to a public address or a name', (t) => {
  const text = textOf(
    'http://',
    'https://',
    'file:',
    '//',
    '@',
    ':',
    '[',
    ']',
    '%',
    '127.0.0.1',
    '.',
    '#',
    '\\',
    'example.com',
    '\u3002',
    '\u00ad',
    '0x7f',
    '::1',
    ' ',
    '\t',
    '\u2028',
  )
  return fuzz(t, fc.oneof(text, fc.webUrl()), (given) => {
    if (urlProblem(given, isBlocked) !== null) return
    const { protocol, hostname, username } = new URL(given)
    const address = literalAddress(hostname)
    const isRight =
      /^https?:$/.test(protocol) && username === '' && (address === null || !isBlocked(address))
    if (!isRight) throw new Error(`${given} is let through`)
  })
})

t.test('every text that is not an address is blocked', (t) =>
  fuzz(t, fc.oneof(fc.ipV4(), fc.ipV6(), textOf('1', '.', ':', 'f', '%', '/')), (text) => {
    if (!isBlocked(text) && !/^[0-9a-f.:]+(?:%.*)?$/is.test(text)) throw new Error(text)
    const mapped = `::ffff:${text}`
    if (/^\d+(?:\.\d+){3}$/.test(text) && isBlocked(text) !== isBlocked(mapped)) {
      throw new Error(`${text} and ${mapped} differ`)
    }
  }),
)

t.test('what a receiver answers leads to one of the outcomes, and to no wait without end', (t) => {
  const answer = fc.record({
    statusCode: fc.oneof(fc.constant(null), fc.integer({ min: 200, max: 999 })),
    failure: fc.constantFrom(null, 'reset' as const, 'timeout' as const),
    retryAfter: fc.oneof(
      fc.constant(null),
      textOf('1', '9', ' ', '-', 'e', 'GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 'Sun', ':'),
    ),
    responseBody: fc.constant(null),
  })
  return fuzz(t, answer, (result) => {
    const rules = { retryDelayMaxSeconds: 3600, deactivateOnGone: true }
    const step = outcomeOfAnswer(result, {}, rules, new Date())
    const isDelivered = result.failure === null && Math.floor((result.statusCode ?? 0) / 100) === 2
    if ((step.kind === 'completed') !== isDelivered) throw new Error(step.kind)
    const waitMs = step.kind === 'failed' ? (step.retryAfterMs ?? 0) : 0
    if (!(waitMs >= 0 && waitMs <= 3_600_000)) throw new Error(`waits ${waitMs} ms`)
  })
})

t.test('the kept part of an answer can be stored by Postgres', (t) =>
  fuzz(t, fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 5 }), (chunks) => {
    const text = new ResponseText()
    for (const chunk of chunks) text.add(Buffer.from(chunk))
    const kept = text.toString()
    if (kept.includes('\0') || !kept.isWellFormed() || kept.length > 1100) throw new Error(kept)
  }),
)

t.test('an accepted header cannot end another one, and is not a framing header', (t) => {
  const entry = fc.tuple(
    textOf(
      'x-',
      'acme-',
      'host',
      'Content-Length',
      'webhook-',
      'X-SVC-',
      ':',
      '\r\n',
      ' ',
      'ı',
      'K',
    ),
    textOf('a', '\r\n', '\n', '\0', 'é', '\u0100', '\t', ' '),
  )
  return fuzz(t, fc.array(entry, { maxLength: 25 }), (entries) => {
    throwsOnly(['SVC_WEBHOOKS_INVALID_HEADER'], () => {
      assertCustomHeaders(Object.fromEntries(entries), 'X-Acme-')
      for (const [name, value] of Object.entries(Object.fromEntries(entries))) {
        const isSplit = /[\r\n\0]/.test(name + value)
        const isOurs =
          /^(?:host|content-length|transfer-encoding|webhook-.*|x-(?:svc|acme)-.*)$/i.test(name)
        if (isSplit || isOurs) throw new Error(JSON.stringify([name, value]))
      }
    })
  })
})

t.test('with a secret that is accepted, our receiver verifies each of both signatures', (t) => {
  const body = Buffer.from('{"event":"order.created","payload":{},"deliveryId":"d"}')
  const message = { event: 'order.created', deliveryId: 'd', attempt: 1, body }
  const names = headerNames('X-Acme-')
  const bytes = fc.uint8Array({ minLength: 10, maxLength: 40 })
  const secrets = fc.oneof(
    textOf('whsec_', 'whpk_', 'whsk_', 'svcenc:v1:', '=', '+', 'AAAA', 'a', '!', '~'),
    bytes.map((key) => `whsec_${Buffer.from(key).toString('base64')}`),
    bytes.map((key) => `whsec_${Buffer.from(key).toString('base64url')}`),
  )
  return fuzz(t, secrets, (given) => {
    const secret = given.padEnd(16, 'x')
    throwsOnly(['SVC_WEBHOOKS_SECRET_REFUSED'], () => {
      assertSecret(secret)
      const signing = { secret, previousSecrets: [], standardWebhooks: true }
      const flat = signingHeaders(message, signing, Math.floor(Date.now() / 1000), names)
      const headers = new Headers()
      for (let at = 0; at < flat.length; at += 2) headers.set(flat[at]!, flat[at + 1]!)
      const delivery = { headers, body, secret, headerPrefix: 'X-Acme-' }
      verifyDelivery(delivery)
      headers.set(names.signature, `sha256=${'0'.repeat(64)}`)
      verifyDelivery(delivery)
    })
  })
})

t.test('a delivery with anything changed is refused', (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = JSON.stringify({ event: 'order.created', payload: { id: 7 }, deliveryId: 'd' })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const hex = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const genuine = { 'x-svc-timestamp': timestamp, 'x-svc-signature': `sha256=${hex}` }
  t.match(verifyDelivery({ headers: genuine, body, secret }), { deliveryId: 'd' })
  const changed = fc.oneof(
    spoilt(body).map((other) => ({ headers: genuine, body: other })),
    spoilt(timestamp).map((other) => ({ headers: { ...genuine, 'x-svc-timestamp': other }, body })),
    fc
      .oneof(spoilt(genuine['x-svc-signature']), textOf('sha256=', hex, ',', '0'))
      .filter((other) => other.toLowerCase() !== genuine['x-svc-signature'].toLowerCase())
      .map((other) => ({ headers: { ...genuine, 'x-svc-signature': other }, body })),
  )
  return fuzz(t, changed, (delivery) => {
    let verified: unknown
    throwsOnly(['InvalidDelivery'], () => {
      verified = verifyDelivery({ ...delivery, secret })
    })
    if (verified !== undefined) throw new Error('it is accepted')
  })
})
