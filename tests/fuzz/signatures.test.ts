// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
import fc from 'fast-check'
import t from 'tap'
import { providers } from '@svc/webhooks/providers'
import { ProviderClient } from '../../packages/providers/src/provider-client.ts'
import { requestOf, vectors, type Vector } from '../webhooks/inbound/vectors.ts'
import { lookupOf, optionsFor, presetOf } from '../webhooks/inbound/presets.ts'
import { fuzz, spoilt, throwsOnly } from './fuzz.ts'
import { noise, requestWith } from './signature-texts.ts'

/** Those that tell the sender by a token, and do not sign the body. */
const signsBody = async (vector: Vector): Promise<boolean> =>
  !(await accepts({ ...vector, body: `${vector.body} ` }))

async function accepts(vector: Vector): Promise<boolean> {
  const { verify } = presetOf(vector)(optionsFor(vector))
  const body = vector.keySet ?? vector.certificate ?? ''
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

/** Headers by which presets tell the type of an event or a repeat. */
const TYPE_HEADERS = [...new Set(genuine.flatMap(({ headers }) => Object.keys(headers)))]

t.test('no preset throws or makes a wrong name of an event, whatever the request', (t) => {
  const sources = providers.list().map(({ id }) => {
    const vector = { provider: id, headers: {}, body: '', secret: 'any' } as unknown as Vector
    return presetOf(vector)(optionsFor(vector))
  })
  const body = fc.oneof(
    fc.json({ maxDepth: 4 }),
    noise,
    fc.constantFrom(...genuine.map((one) => one.body)).chain(spoilt),
  )
  const type = fc.constantFrom('application/json', 'application/x-www-form-urlencoded', '')
  const headers = fc.dictionary(fc.constantFrom(...TYPE_HEADERS), noise, { maxKeys: 5 })
  const given = fc.tuple(fc.nat(sources.length - 1), body, type, headers)
  return fuzz(t, given, ([which, text, contentType, others]) => {
    const { publishAs, deduplicationKey, split } = sources[which]!
    const request = requestWith({ ...others, 'content-type': contentType }, text)
    let parsed: unknown
    throwsOnly(['SyntaxError'], () => (parsed = JSON.parse(text)))
    for (const item of split ? split(parsed) : [undefined]) {
      const name = typeof publishAs === 'function' ? publishAs(request, text, item) : publishAs
      if (!/^[A-Za-z0-9_.\-/]{1,200}$/.test(String(name)))
        throw new Error(`the name ${String(name)}`)
      const key = deduplicationKey?.(request, text, item) ?? null
      if (key !== null && typeof key !== 'string') throw new Error(`the key ${String(key)}`)
    }
  })
})
