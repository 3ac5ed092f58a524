import { createHash } from 'node:crypto'
import t from 'tap'
import {
  checksumOf,
  hashOf,
  hashOfHex,
  hexOf,
  generateKey,
  prefixOf,
  formatOf,
  type KeyFormat,
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
  const keys = Array.from({ length: 500 }, () => generateKey())
  for (const key of keys) {
    const [, body = '', checksum] = /^svc_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(key) ?? []
    t.equal(checksum, checksumOf(body))
  }
  t.equal(new Set(keys).size, keys.length)
  t.equal(new Set(keys.join('')).size, 63, 'every digit of base62 occurs, and the underscore')
  t.end()
})

t.test('a text in the format of a key with a wrong checksum is classified as mistyped', (t) => {
  const key = generateKey()
  const swapped = `${key.slice(0, 10)}${key[11]}${key[10]}${key.slice(12)}`
  const other = key.endsWith('0') ? '1' : '0'
  const cases: [string, KeyFormat][] = [
    [key, 'wellFormed'],
    [key.slice(0, -1) + other, 'badChecksum'],
    [swapped, key[10] === key[11] ? 'wellFormed' : 'badChecksum'],
    [key.slice(0, -1), 'otherFormat'],
    [`${key}0`, 'otherFormat'],
    ['svc_live_READread00123456789abcdef', 'otherFormat'],
    [key.replace('svc_', 'SVC_'), 'otherFormat'],
    ['', 'otherFormat'],
  ]
  for (const [text, format] of cases) t.equal(formatOf(text), format, text)
  t.end()
})

t.test('a key is stored as its SHA-256, and shown by its first eight characters', (t) => {
  const key = generateKey()
  const hex = createHash('sha256').update(key).digest('hex')
  t.equal(hexOf(hashOf(key)), hex)
  t.equal(hashOfHex(hex), hashOf(key))
  t.equal(prefixOf(key), key.slice(0, 8))
  t.equal(prefixOf('short'), 'short')
  t.end()
})
