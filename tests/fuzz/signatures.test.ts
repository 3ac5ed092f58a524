import fc from 'fast-check'
import t from 'tap'
import { basicAuth, bearerToken, headerToken, hmac, type InboundRequest } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { reasonOf } from '../../packages/webhooks/src/inbound/verify/checks.ts'
import { ProviderClient } from '../../packages/webhooks/src/inbound/provider-client.ts'
import { parseJwt } from '../../packages/webhooks/src/inbound/providers/engine/jws.ts'
import { millisecondsOf } from '../../packages/webhooks/src/inbound/verify/timestamps.ts'
import { requestOf, vectors, type Vector } from '../webhooks/inbound/vectors.ts'
import { lookupOf, optionsFor, presetOf } from '../webhooks/inbound/presets.ts'
import { fuzz, spoilt, textOf, words } from './fuzz.ts'

const nowhere = new ProviderClient(async () => ({ statusCode: 404, body: '' }))
const requestWith = (headers: Record<string, string>, body = '{}') =>
  ({
    method: 'POST',
    url: '/hooks',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    rawBody: Buffer.from(body),
    params: {},
    query: {},
  }) as unknown as InboundRequest

const SECRET = 'a-secret-that-nobody-guesses'
const noise = textOf(
  'sha256=',
  'sha1=',
  't=',
  'v1=',
  ',',
  '=',
  ' ',
  '.',
  'Bearer ',
  'Basic ',
  'v0:',
  'v1,',
  ...words('eyJhbGciOiJub25lIn0 AAAA ff 1700000000 {} " ; null %'),
)

t.test('no made-up header passes a helper’s verification', (t) => {
  const helpers = [
    hmac({ signatureHeader: 'x-s', secretName: 'S', prefix: 'sha256=' }),
    hmac({
      signatureHeader: 'x-s',
      secretName: 'S',
      extractSignature: { signature: 'v1', timestamp: 't' },
      computePayload: (body, timestamp) => `${timestamp}.${body}`,
      toleranceSeconds: 300,
    }),
    basicAuth({ username: 'sender', passwordSecretName: 'S' }),
    bearerToken({ secretName: 'S' }),
    bearerToken({ secretName: 'S', header: 'x-s' }),
    headerToken({ secretName: 'S', header: 'x-s' }),
  ]
  return fuzz(
    t,
    fc.tuple(fc.nat(helpers.length - 1), noise, noise),
    async ([which, text, body]) => {
      const request = requestWith({ 'x-s': text, authorization: text }, body)
      const verify = helpers[which]!
      if ((await verify(request, body, () => SECRET, nowhere)) !== false) throw new Error(text)
      if (reasonOf(request)?.includes(SECRET)) throw new Error('the reason holds the secret')
    },
  )
})

/** Those that tell the sender by a token, and do not sign the body. */
const signsBody = async (vector: Vector): Promise<boolean> =>
  !(await accepts({ ...vector, body: `${vector.body} ` }))

async function accepts(vector: Vector): Promise<boolean> {
  const { verify } = presetOf(vector)(optionsFor(vector))
  const body = vector.certificate ?? ''
  const certificate = new ProviderClient(async () => ({ statusCode: 200, body }), Date.now, [body])
  const request = requestOf(vector)
  return (await verify(request, vector.body, lookupOf(vector), certificate)) === true
}

/** Their senders sign the names and values of a form with nothing between. */
const SIGN_FIELDS_JOINED = ['plivo', 'twilio']
/** So where a name ends is not signed: `Text=Hello` and `TextHello=` are one text. */
const isSameToSender = (vector: Vector, body: string): boolean =>
  SIGN_FIELDS_JOINED.includes(vector.provider) && joinedFields(vector.body) === joinedFields(body)

const joinedFields = (body: string): string =>
  [...new Set([...new URLSearchParams(body)].map(([name, value]) => name + value))]
    .toSorted()
    .join('')

const genuine = [
  ...Map.groupBy(
    vectors.filter(({ valid }) => valid),
    ({ provider }) => provider,
  ).values(),
].map(([first]) => first as Vector)

t.test('no preset accepts a genuine request whose body was changed', async (t) => {
  const signed: Vector[] = []
  for (const vector of genuine) {
    t.intercept(Date, 'now', { value: () => (vector.now ?? 0) * 1000 })
    if (await signsBody(vector)) signed.push(vector)
  }
  t.ok(signed.length > 30, `${signed.length} presets with a genuine request sign the body`)
  const changed = fc
    .nat(signed.length - 1)
    .map((index) => signed[index]!)
    .chain((vector) =>
      spoilt(vector.body)
        .filter((body) => !isSameToSender(vector, body))
        .map((body) => ({ ...vector, body })),
    )
  await fuzz(t, changed, async (vector) => {
    t.intercept(Date, 'now', { value: () => (vector.now ?? 0) * 1000 })
    if (await accepts(vector)) throw new Error(`${vector.id} is accepted`)
  })
})

t.test('no preset accepts headers that are made up', (t) => {
  const made = fc.tuple(fc.nat(genuine.length - 1), noise, noise).map(([index, text, other]) => {
    const vector = genuine[index]!
    const names = Object.keys(vector.headers)
    const headers = Object.fromEntries(
      names.map((name, place) => [name, place % 2 === 0 ? text : other]),
    )
    return { ...vector, headers, body: other }
  })
  return fuzz(t, made, async (vector) => {
    t.intercept(Date, 'now', { value: () => (vector.now ?? 0) * 1000 })
    if (await accepts(vector)) throw new Error(`${vector.id} is accepted`)
  })
})

t.test('no preset throws, whatever the request', (t) => {
  const sources = providers.list().map(({ id }) => {
    const vector = { provider: id, headers: {}, body: '', secret: SECRET } as unknown as Vector
    return presetOf(vector)(optionsFor(vector))
  })
  const body = fc.oneof(fc.json({ maxDepth: 4 }), noise)
  return fuzz(t, fc.tuple(fc.nat(sources.length - 1), body), ([which, text]) => {
    const { publishAs, deduplicationKey } = sources[which]!
    const request = requestWith({ 'content-type': 'application/json' }, text)
    if (typeof publishAs === 'function') publishAs(request, text)
    if (typeof deduplicationKey === 'function') deduplicationKey(request, text)
  })
})

t.test('invalid JWTs and timestamps are not read', (t) =>
  fuzz(
    t,
    fc.oneof(noise, textOf('.', 'e30', 'eyJ', '=', '-', '_', '2026-11-22T00:00:00Z')),
    (text) => {
      const jwt = parseJwt(text)
      if (jwt && text.split('.').length !== 3) throw new Error(`${text} counts as a JWT`)
      for (const unit of ['seconds', 'milliseconds', 'rfc3339'] as const) {
        const ms = millisecondsOf(text, unit)
        if (ms !== undefined && !Number.isFinite(ms)) throw new Error(`${text} is ${ms}`)
      }
    },
  ),
)
