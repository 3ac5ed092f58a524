// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
// What verifies requests of other senders than those of the presets: helpers, JWTs, timestamps.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { basicAuth, bearerToken, headerToken, hmac, type Verify } from '@svc/webhooks'
import { sentOf, Sent, verifierOf } from '@svc/providers/internal'
import { ProviderClient } from '../../packages/providers/src/provider-client.ts'
import { millisecondsOf } from '../../packages/providers/src/engine/timestamps.ts'
import { fuzz, spoilt } from './fuzz.ts'
import { nearly, noise, requestWith } from './signature-texts.ts'

const nowhere = new ProviderClient(async () => ({ statusCode: 404, body: '' }))
const SECRET = 'a-secret-that-nobody-guesses'
const NOW = 1_700_000_000
const hexOf = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')
const BODY = '{"a":"Zürich"}'

interface Helper {
  verify: Verify
  /** The header of the genuine request. */
  genuine: string
  /** Whether a header is right for a body, by the rules of the format. */
  isRight: (text: string, body: string) => boolean
}

const isBearer = (text: string) =>
  text.slice(0, 7).toLowerCase() === 'bearer ' && text.slice(7).replace(/^ +/, '') === SECRET

const HELPERS: Helper[] = [
  {
    verify: hmac({ signatureHeader: 'x-s', secretName: 'S', prefix: 'sha256=' }),
    genuine: `sha256=${hexOf(BODY)}`,
    isRight: (text, body) =>
      text.startsWith('sha256=') && text.slice(7).toLowerCase() === hexOf(body),
  },
  {
    verify: hmac({
      signatureHeader: 'x-s',
      secretName: 'S',
      extractSignature: { signature: 'v1', timestamp: 't' },
      computePayload: (body, timestamp) => `${timestamp}.${body}`,
      toleranceSeconds: 300,
    }),
    genuine: `t=${NOW},v1=${hexOf(`${NOW}.${BODY}`)}`,
    isRight: (text, body) => {
      const fields = text.split(',').map((one) => one.split(/=(.*)/s).map((part) => part.trim()))
      const valuesOf = (wanted: string) =>
        fields.filter(([name]) => name === wanted).map(([, value = '']) => value)
      const [timestamp = '', ...others] = valuesOf('t')
      const isTimely = /^[0-9]{1,13}$/.test(timestamp) && Math.abs(Number(timestamp) - NOW) <= 300
      const right = hexOf(`${timestamp}.${body}`)
      return (
        others.length === 0 && isTimely && valuesOf('v1').some((one) => one.toLowerCase() === right)
      )
    },
  },
  {
    verify: basicAuth({ username: 'sender', passwordSecretName: 'S' }),
    genuine: `Basic ${Buffer.from(`sender:${SECRET}`).toString('base64')}`,
    isRight: (text) => {
      const [, base64] = /^basic +([a-z0-9+/]+={0,2})$/i.exec(text) ?? []
      return Buffer.from(base64 ?? '', 'base64').toString() === `sender:${SECRET}`
    },
  },
  { verify: bearerToken({ secretName: 'S' }), genuine: `Bearer ${SECRET}`, isRight: isBearer },
  {
    verify: bearerToken({ secretName: 'S', header: 'x-s' }),
    genuine: SECRET,
    isRight: (text) => text === SECRET || isBearer(text),
  },
  {
    verify: headerToken({ secretName: 'S', header: 'x-s' }),
    genuine: SECRET,
    isRight: (text) => text === SECRET,
  },
]

t.test('a helper accepts the right header of a body, and nothing near it', async (t) => {
  t.intercept(Date, 'now', { value: () => NOW * 1000 })
  const verdicts = { accepted: 0, refused: 0 }
  const given = fc
    .constantFrom(...HELPERS)
    .chain((helper) => fc.tuple(fc.constant(helper), nearly(helper.genuine), nearly(BODY)))
  await fuzz(t, given, async ([{ verify, isRight }, text, body]) => {
    const request = requestWith({ 'x-s': text, authorization: text }, body)
    const isAccepted = await verify(request, body, () => SECRET, nowhere)
    if (isAccepted !== isRight(text, body)) throw new Error(`it is ${String(isAccepted)}`)
    if (sentOf(request, body).reason?.includes(SECRET))
      throw new Error('the reason holds the secret')
    verdicts[isAccepted ? 'accepted' : 'refused']++
  })
  t.ok(verdicts.accepted > 0 && verdicts.refused > 0, JSON.stringify(verdicts))
})

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const SIGNED = `${part({ alg: 'HS256', kid: 'é' })}.${part({ iat: 1, sub: 'ü' })}`
const JWT = `${SIGNED}.${createHmac('sha256', SECRET).update(SIGNED).digest('base64url')}`

t.test('a JWT is accepted as its sender wrote it, and nothing near it is', async (t) => {
  const verifier = verifierOf(
    [{ algorithm: 'jwt', in: 'header:x-s', algorithms: ['HS256'], key: 'secret', timeless: true }],
    {},
  )
  const pieces = fc.array(fc.oneof(fc.json().map(part), fc.constantFrom('', '=', 'e30', 'A')), {
    minLength: 2,
    maxLength: 4,
  })
  const run = fc.nat(16_000).map((length) => `${'='.repeat(length)}x.e30.AAAA`)
  const given = fc.oneof(
    nearly(JWT),
    pieces.map((all) => all.join('.')),
    run,
  )
  let accepted = 0
  await fuzz(t, given, async (text) => {
    const sent = new Sent(requestWith({ 'x-s': text }, BODY), BODY)
    const isAccepted = await verifier.verify({ sent, options: {} }, [{ name: 'S', value: SECRET }])
    // Some senders write the padding that RFC 7515 leaves out.
    const isRight = text.startsWith(`${SIGNED}.`) && text.replace(/={0,2}$/, '') === JWT
    if (isAccepted !== isRight) throw new Error(`it is ${String(isAccepted)}`)
    if (isAccepted) accepted++
  })
  t.ok(accepted > 0, `${accepted} are accepted`)
})

t.test('a timestamp is read as the time that it names, and nothing else as one', async (t) => {
  const iso = fc
    .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    .map((date) => date.toISOString())
  const digits = fc.integer({ min: 0, max: 2 ** 40 }).map(String)
  const given = fc.oneof(iso, digits, iso.chain(spoilt), digits.chain(spoilt), noise)
  let read = 0
  await fuzz(t, given, (text) => {
    const isDigits = /^[0-9]{1,13}$/.test(text)
    const wanted = { seconds: Number(text) * 1000, milliseconds: Number(text) }
    for (const unit of ['seconds', 'milliseconds'] as const) {
      const ms = millisecondsOf(text, unit)
      if (ms !== (isDigits ? wanted[unit] : undefined)) throw new Error(`${text} is ${ms}`)
    }
    const ms = millisecondsOf(text, 'rfc3339')
    if (ms === undefined) return
    // Date.UTC takes a year below 100 for one of the last century.
    if (text.startsWith('00')) return
    read++
    const [, whole = '', zone = ''] = /^(.{19})(?:\.\d+)?(.+)$/.exec(text) ?? []
    const [sign, hours = 0, minutes = 0] = /^z$/i.test(zone)
      ? ['+']
      : [zone[0], zone.slice(1, 3), zone.slice(4)]
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
    const fields = whole.split(/[-T:]/i).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    const expected =
      Date.UTC(fields[0], fields[1] - 1, ...(fields.slice(2) as [number, number, number, number])) -
      offset
    if (Math.floor(ms / 1000) * 1000 !== expected) throw new Error(`${text} is ${ms}`)
  })
  t.ok(read > 0, `${read} are read`)
})
