// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
// Alerts of GitHub's secret scanning: anyone can send one.
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { startHost } from '../auth/support/host.ts'
import { fuzz, patiently, spoilt, textOf } from './fuzz.ts'

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const second = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pemOf = ({ publicKey }: typeof pair) =>
  String(publicKey.export({ type: 'spki', format: 'pem' }))
const KEYS = new Map([
  ['current', pair],
  ['next', second],
])

interface Alert {
  identifier: string | string[] | undefined
  signature: string | string[] | undefined
  type: string
  body: Buffer
}

const visible = (text: string) => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '')
const maybe = (one: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 12, arbitrary: one },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.array(one, { minLength: 2, maxLength: 2 }) },
  )

/** Lists that are nearly alerts. `token` is none of a key of the host's. */
const field = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('svc_nothing', '', '\0', '\ud800', 'x'.repeat(3000), 0, null, true),
  fc.jsonValue({ maxDepth: 1 }),
)
const alert = fc.dictionary(fc.constantFrom('token', 'type', 'url', 'source', '__proto__'), field)
const right = {
  token: 'svc_nothing',
  type: 'svc_api_key',
  url: 'https://github.com/a',
  source: 'content',
}
const longList = fc
  .constantFrom(999, 1000, 1001)
  .map((length) => JSON.stringify(Array.from({ length }, () => right)))
const listed = fc
  .array(
    alert.map((one) => ({ ...right, ...one })),
    { maxLength: 3 },
  )
  .map((all) => JSON.stringify(all))
const json = fc.oneof(
  { weight: 20, arbitrary: listed },
  { weight: 20, arbitrary: fc.json() },
  { weight: 20, arbitrary: spoilt(JSON.stringify([right])) },
  // Each of its keys is looked up.
  { weight: 1, arbitrary: longList },
)
const bodies = fc.oneof(
  { weight: 8, arbitrary: json.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((all) => Buffer.from(all)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[', '{"a":', '').map((one) => Buffer.from(one.repeat(20_000))),
  },
)

const signatureFor = (body: Buffer): fc.Arbitrary<string> => {
  const right = sign('sha256', body, pair.privateKey).toString('base64')
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(right) },
    { weight: 3, arbitrary: spoilt(right).map(visible) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        sign('sha256', body, second.privateKey).toString('base64'),
        sign('sha256', body, stranger.privateKey).toString('base64'),
        sign('sha256', Buffer.concat([body, body, Buffer.from(' ')]), pair.privateKey).toString(
          'base64',
        ),
        sign('sha256', body, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }).toString(
          'base64',
        ),
        Buffer.from(right, 'base64').toString('hex'),
        Buffer.from('3006020100020100', 'hex').toString('base64'),
        Buffer.alloc(72).toString('base64'),
        '',
      ),
    },
    { weight: 1, arbitrary: textOf('M', 'EUCI', '=', ',', right).map(visible) },
  )
}

const alerts: fc.Arbitrary<Alert> = bodies.chain((body) =>
  fc.record({
    body: fc.oneof({ weight: 8, arbitrary: fc.constant(body) }, { weight: 1, arbitrary: bodies }),
    signature: maybe(signatureFor(body)),
    identifier: maybe(
      fc.oneof(
        { weight: 8, arbitrary: fc.constant('current') },
        {
          weight: 2,
          arbitrary: fc.constantFrom('next', 'Current', 'current,next', '__proto__', ''),
        },
        { weight: 1, arbitrary: textOf('current', 'constructor').map(visible) },
      ),
    ),
    type: fc.oneof(
      { weight: 6, arbitrary: fc.constant('application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'text/plain',
          'multipart/form-data',
          'application/json; charset=utf-7',
        ),
      },
    ),
  }),
)

/**
 * Judged by Node alone. Node joins headers that come twice, and what the sender calls base64 may be
 * spelt as loosely as Node reads it: a signature with something behind it is a signature still.
 */
function isSigned({ identifier, signature, body }: Alert): boolean {
  if (identifier === undefined || signature === undefined) return false
  const key = KEYS.get([identifier].flat().join(', ').trim())
  const bytes = Buffer.from([signature].flat().join(', '), 'base64')
  return key !== undefined && verify('sha256', body, key.publicKey, bytes)
}

/** GitHub sends lists of objects with these texts. */
function isListOfAlerts(body: Buffer): boolean {
  let list: unknown
  try {
    list = JSON.parse(body.toString())
  } catch {
    return false
  }
  const hasTexts = (one: Record<string, unknown> | null) =>
    ['token', 'type', 'url'].every((name) => typeof one?.[name] === 'string')
  return Array.isArray(list) && list.length <= 1000 && list.every(hasTexts)
}

t.test(
  'only an alert that Node finds signed is taken, and none is answered with a 500',
  async (t) => {
    const keys = [...KEYS].map(([key_identifier, one]) => ({ key_identifier, key: pemOf(one) }))
    const { app, makeKey } = await startHost(t, { auth: { githubLeaks: { keys } } })
    const { key } = await makeKey()
    const seen: Record<number, number> = {}
    await fuzz(
      t,
      alerts,
      async (given) => {
        const lines = {
          'content-type': given.type,
          'github-public-key-identifier': given.identifier,
          'github-public-key-signature': given.signature,
        }
        const headers = Object.fromEntries(
          Object.entries(lines).filter(([, value]) => value !== undefined),
        )
        const url = '/_auth/leaks/github'
        const { statusCode, body } = await patiently(() =>
          app.inject({ method: 'POST', url, headers: headers as never, payload: given.body }),
        )
        seen[statusCode] = (seen[statusCode] ?? 0) + 1
        const expected = !isSigned(given) ? 401 : isListOfAlerts(given.body) ? 200 : 400
        if (statusCode !== expected) throw new Error(`${statusCode}, not ${expected}: ${body}`)
      },
      { share: 0.5, longestMs: Infinity },
    )
    for (const status of [200, 400, 401]) t.ok(seen[status], `some are answered with ${status}`)
    t.match(await app.svc.auth.validateApiKey(key), { valid: true })
  },
)

t.test('a key is revoked by a signed alert alone', async (t) => {
  const keys = [{ key_identifier: 'current', key: pemOf(pair) }]
  const { app, makeKey } = await startHost(t, { auth: { githubLeaks: { keys } } })
  let leaked = await makeKey()
  let revoked = 0
  const url = '/_auth/leaks/github'
  const change = fc.record({ alert: fc.boolean(), text: fc.nat(2), seed: spoilt('x'.repeat(96)) })
  await fuzz(
    t,
    change,
    async ({ alert, text, seed }) => {
      const payload = JSON.stringify([{ ...right, token: leaked.key, url: seed }])
      const signature = sign('sha256', Buffer.from(payload), pair.privateKey).toString('base64')
      const wrong = [
        `${signature.slice(0, 20)}${signature[20] === 'A' ? 'B' : 'A'}${signature.slice(21)}`,
        '',
        seed,
      ]
      const headers = {
        'content-type': 'application/json',
        'github-public-key-identifier': 'current',
        'github-public-key-signature': alert ? signature : visible(wrong[text] ?? ''),
      }
      const { statusCode } = await patiently(() =>
        app.inject({ method: 'POST', url, headers, payload }),
      )
      const { valid } = await app.svc.auth.validateApiKey(leaked.key)
      if (valid === alert || statusCode !== (alert ? 200 : 401)) {
        throw new Error(`${statusCode}: the key is ${valid ? 'valid' : 'revoked'}`)
      }
      if (!alert) return
      revoked++
      leaked = await makeKey()
    },
    { share: 0.1, longestMs: Infinity },
  )
  t.ok(revoked > 0, `${revoked} keys are revoked`)
})
