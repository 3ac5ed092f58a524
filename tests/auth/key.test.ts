import { createHash } from 'node:crypto'
import t from 'tap'
import {
  checksumOf,
  digestOf,
  digestOfHex,
  hexOf,
  mintKey,
  prefixOf,
  shapeOf,
  type Shape,
} from '../../packages/auth/src/key-format.ts'

t.test('the checksum is CRC-32 in base62, padded to six digits', (t) => {
  // Made with Python: zlib.crc32, then division by 62 with the digits 0-9A-Za-z.
  const vectors = {
    '00000000000000000000000000000000': '2wjyrI',
    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz: '4W8LJS',
    abcdefghijklmnopqrstuvwxyz012345: '1nc0VA',
    ABCDEFGHIJKLMNOPQRSTUVWXYZ678901: '3ASUaX',
    // The check value of CRC-32/ISO-HDLC, 0xcbf43926.
    '123456789': '3jZRME',
    // CRC-32 of nothing is 0.
    '': '000000',
  }
  for (const [body, checksum] of Object.entries(vectors)) t.equal(checksumOf(body), checksum, body)
  t.end()
})

t.test('a minted key is svc_, 32 random characters and their checksum', (t) => {
  const keys = Array.from({ length: 500 }, mintKey)
  for (const key of keys) {
    const [, body = '', checksum] = /^svc_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(key) ?? []
    t.equal(checksum, checksumOf(body))
  }
  t.equal(new Set(keys).size, keys.length)
  t.equal(new Set(keys.join('')).size, 63, 'every digit of base62 occurs, and the underscore')
  t.end()
})

t.test('only what has our shape and a wrong checksum is mistyped', (t) => {
  const key = mintKey()
  const swapped = `${key.slice(0, 10)}${key[11]}${key[10]}${key.slice(12)}`
  const other = key.endsWith('0') ? '1' : '0'
  const cases: [string, Shape][] = [
    [key, 'minted'],
    [key.slice(0, -1) + other, 'mistyped'],
    [swapped, key[10] === key[11] ? 'minted' : 'mistyped'],
    [key.slice(0, -1), 'foreign'],
    [`${key}0`, 'foreign'],
    ['svc_live_READread00123456789abcdef', 'foreign'],
    [key.replace('svc_', 'SVC_'), 'foreign'],
    ['', 'foreign'],
  ]
  for (const [text, shape] of cases) t.equal(shapeOf(text), shape, text)
  t.end()
})

t.test('a key is known by its SHA-256, and shown by its first eight characters', (t) => {
  const key = mintKey()
  const hex = createHash('sha256').update(key).digest('hex')
  t.equal(hexOf(digestOf(key)), hex)
  t.equal(digestOfHex(hex), digestOf(key))
  t.equal(prefixOf(key), key.slice(0, 8))
  t.equal(prefixOf('short'), 'short')
  t.end()
})
