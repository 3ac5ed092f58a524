import { createHmac } from 'node:crypto'
import t from 'tap'
import type { Place } from '../../../../packages/providers/src/preset.ts'
import { Sent } from '@svc/providers/internal'
import { holds } from '../../../../packages/providers/src/engine/conditions.ts'
import { findAt, type Reading } from '../../../../packages/providers/src/engine/places.ts'
import { firstOf, stringOf } from '../../../../packages/providers/src/engine/text.ts'
import { millisecondsOf } from '../../../../packages/providers/src/engine/timestamps.ts'
import { variantsOf } from '../../../../packages/providers/src/engine/url-variants.ts'
import { decoded } from '../../../../packages/providers/src/engine/algorithms.ts'
import { hmacKey } from '../../../../packages/providers/src/engine/keys.ts'
import type { Key } from '../../../../packages/providers/src/preset-schemes.ts'
import { received } from '../received.ts'

const body =
  '{"a":{"b":[{"c":"x"}],"n":1.5,"t":true,"o":{},"z":null},"name":"Zürich","__proto__":{"p":1}}'
const lines = [
  ['X-One', '1'],
  ['X-Two', 'a'],
  ['x-two', 'b'],
  ['X-Empty', ''],
] as const

function readingOf(changes: Partial<Reading> = {}, text = body, type = 'text/plain'): Reading {
  const sent = received([...lines, ['content-type', type]], text)
  const request = Object.assign(sent, { url: '/hooks?a=1&b=2&b=3&c=' })
  return { sent: new Sent(request, text), options: { webhookId: 'w' }, ...changes }
}

t.test('a value is read from a place only if it occurs there once', async (t) => {
  const reading = readingOf({
    item: { id: 7 },
    claims: { kid: 'k', aud: ['x'] },
    list: { text: 't=1, v1=a,v1=b,=c,d', separator: ',' },
  })
  const cases: [place: Place, value: string | undefined][] = [
    ['header:x-one', '1'],
    ['header:X-ONE', '1'],
    ['header:x-two', undefined],
    ['header:x-three', undefined],
    ['header:x-empty', ''],
    ['query:a', '1'],
    ['query:b', undefined],
    ['query:c', ''],
    ['query:d', undefined],
    ['json:a.b.0.c', 'x'],
    ['json:a.n', '1.5'],
    ['json:a.t', 'true'],
    ['json:a.o', undefined],
    ['json:a.z', undefined],
    ['json:a.b.length', undefined],
    ['json:name', 'Zürich'],
    ['json:name.0', undefined],
    ['json:constructor.name', undefined],
    ['json:toString', undefined],
    ['item:id', '7'],
    ['claim:kid', 'k'],
    ['claim:aud', undefined],
    ['field:t', '1'],
    ['field:v1', undefined],
    ['field:d', undefined],
    ['option:webhookId', 'w'],
    ['option:topicArn', undefined],
  ]
  for (const [place, value] of cases) t.equal(findAt(place)(reading), value, place)
  const fields = 'payload=%7B%22type%22%3A%22x%22%7D&a=1&b=1&b=2'
  const form = readingOf({}, fields, 'application/x-www-form-urlencoded')
  t.equal(findAt('form:a')(form), '1')
  t.equal(findAt('form:b')(form), undefined)
  t.equal(findAt('form:payload#type')(form), 'x')
  t.equal(findAt('form:a#type')(form), undefined)
  t.equal(findAt('form:a')(readingOf({}, fields)), undefined)
})

t.test('a text is built of values, and is absent where one of them is', async (t) => {
  const reading = readingOf({ timestamp: '17', secret: 'k', url: 'https://a.example/x' })
  const cases: [text: string, built: string | undefined][] = [
    ['plain: [text] }', 'plain: [text] }'],
    ['{timestamp}.{body}', `17.${body}`],
    ['{header:x-one}{header:x-three}', undefined],
    ['{header:x-three|}', ''],
    ['{header:x-three|none}', 'none'],
    ['a[b{header:x-one}c]d', 'ab1cd'],
    ['a[b{header:x-three}c]d', 'ad'],
    ['{method} {path} {url}', 'POST /hooks?a=1&b=2&b=3&c= https://a.example/x'],
    ['{hmac-hex:header:x-one}', createHmac('sha256', 'k').update('1').digest('hex')],
    ['{hmac-base64:header:x-one}', createHmac('sha256', 'k').update('1').digest('base64')],
    ['{hmac-hex:header:x-three}', undefined],
  ]
  for (const [text, built] of cases) t.equal(stringOf(text)(reading), built, text)
  t.equal(
    stringOf('{crc32}')(readingOf({}, '123456789')),
    '3421780262',
    'the check value of CRC-32',
  )
  t.equal(firstOf(['{header:x-three}', '{header:x-empty}', '{header:x-one}'])(reading), '1')
  t.equal(firstOf(undefined)(reading), undefined)
  t.throws(() => stringOf('{nowhere}'), /there is no place nowhere/)
  t.throws(() => stringOf('{unclosed'), /cannot be read/)
})

t.test('all conditions of a filter must hold', async (t) => {
  const reading = readingOf()
  t.equal(holds(undefined)(reading), true)
  t.equal(holds({ 'header:x-one': '1' })(reading), true)
  t.equal(holds({ 'header:x-one': ['0', '1'] })(reading), true)
  t.equal(holds({ 'header:x-one': '2' })(reading), false)
  t.equal(holds({ 'header:x-one': true, 'header:x-three': false })(reading), true)
  t.equal(holds({ 'header:x-one': false })(reading), false)
  t.equal(holds({ 'header:x-three': '' })(reading), false)
})

t.test('a timestamp is read strictly', async (t) => {
  const cases: [
    text: string,
    unit: 'seconds' | 'milliseconds' | 'rfc3339',
    ms: number | undefined,
  ][] = [
    ['17', 'seconds', 17_000],
    ['17', 'milliseconds', 17],
    ['1e9', 'seconds', undefined],
    ['-1', 'seconds', undefined],
    [' 1', 'seconds', undefined],
    ['', 'seconds', undefined],
    ['12345678901234', 'seconds', undefined],
    ['2020-01-01T00:00:00-07:00', 'rfc3339', 1_577_862_000_000],
    ['2020-01-01T07:00:00.123456789Z', 'rfc3339', 1_577_862_000_123],
    ['2020-01-01T07:00:00', 'rfc3339', undefined],
    ['2020-01-01', 'rfc3339', undefined],
    ['2020-99-01T07:00:00Z', 'rfc3339', undefined],
    ['1577862000', 'rfc3339', undefined],
  ]
  for (const [text, unit, ms] of cases) t.equal(millisecondsOf(text, unit), ms, `${unit} ${text}`)
})

t.test('a signed URL has the spellings that its preset declares', async (t) => {
  const url = "https://a.example/x?q=It's+a%3Ab"
  t.strictSame(variantsOf(url, undefined), [url])
  t.strictSame(variantsOf(url, { decode: ':' }), [url, "https://a.example/x?q=It's+a:b"])
  t.strictSame(variantsOf(url, { anyPort: true }), [url, "https://a.example:443/x?q=It's+a%3Ab"])
  t.strictSame(variantsOf('http://a.example:81/x', { anyPort: true }), [
    'http://a.example:81/x',
    'http://a.example/x',
    'http://a.example:80/x',
  ])
  t.ok(variantsOf(url, { normalised: true }).includes('https://a.example/x?q=It%27s+a%3Ab'))
  t.strictSame(variantsOf('no URL', { anyPort: true }), ['no URL'])
})

t.test('a signature is decoded only if all its characters are of the encoding', async (t) => {
  t.strictSame(decoded('00ff', 'hex'), Buffer.from([0, 255]))
  t.strictSame(decoded('00FF', 'hex'), Buffer.from([0, 255]))
  t.strictSame(decoded('AP8=', 'base64'), Buffer.from([0, 255]))
  t.strictSame(decoded('-_8', 'base64url'), Buffer.from([251, 255]))
  t.strictSame(decoded('-_8=', 'base64url'), Buffer.from([251, 255]))
  for (const text of ['', '0', '0g', '00 ', ' 00', '00f', '0x00']) {
    t.equal(decoded(text, 'hex'), undefined, JSON.stringify(text))
  }
  for (const text of ['', 'AP8', 'AP9=', 'AP8=\n', ' AP8=', 'AP8=x', '-_8=', '====', 'AP8==']) {
    t.equal(decoded(text, 'base64'), undefined, JSON.stringify(text))
  }
})

t.test('a secret that would be read in part only makes no key', async (t) => {
  const keyOf = (secret: string, key: Key) => hmacKey(secret, key, 'S').export()
  const hex = { encoding: 'hex' } as const
  const base64 = { encoding: 'base64', strip: 'whsec_' } as const
  t.strictSame(keyOf('00ff\n', hex), Buffer.from([0, 255]))
  for (const text of ['AP8', 'AP8=', ' AP8=\n', 'whsec_AP8=']) {
    t.strictSame(keyOf(text, base64), Buffer.from([0, 255]), JSON.stringify(text))
  }
  t.strictSame(keyOf('-_8', base64), Buffer.from([251, 255]))
  t.strictSame(keyOf('00 ff\n', {}), Buffer.from('00 ff\n'), 'a text is the key as it is')
  const wrong = { message: 'the secret S is not hex: set it as the provider shows it' }
  for (const text of ['0', '00zz', '00 ff', 'whsec_00ff']) t.throws(() => keyOf(text, hex), wrong)
  for (const text of ['AP8=AP8=', 'AP8===', '=AP8']) {
    t.throws(() => keyOf(text, base64), { message: /the secret S is not base64/ })
  }
})
