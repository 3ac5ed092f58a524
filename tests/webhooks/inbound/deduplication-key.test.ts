import t from 'tap'
import { storedName } from '../../../packages/webhooks/src/inbound/deduplication-key.ts'

t.test('a short deduplication key is part of its stored name as it is', async (t) => {
  t.equal(storedName('github', '72d3162e'), '__svc.webhooks.inbound["github","72d3162e"]')
})

t.test('a stored name is bounded, whatever the source and the key', async (t) => {
  const hashed = /^__svc\.webhooks\.inbound#[0-9a-f]{64}$/
  for (const key of ['x'.repeat(300), 'x'.repeat(1_000_000), 'ü', '🔑'.repeat(9)]) {
    t.match(storedName('a', key), hashed, key.slice(0, 9))
    t.match(storedName('ä'.repeat(100), key), hashed, key.slice(0, 9))
  }
})

t.test('a stored name holds nothing that Postgres cannot store', async (t) => {
  for (const key of ['\0', '\n', '\ud800', '\u007f']) {
    t.match(storedName('a\0', key), /^[\x20-\x7e]+$/, JSON.stringify(key))
  }
})

t.test('no two deduplication keys share a stored name, of one source or of two', async (t) => {
  const long = storedName('a', 'x'.repeat(300))
  const names = [
    storedName('a', 'b'),
    storedName('A', 'b'),
    storedName('a","b', 'c'),
    storedName('a', 'b","c'),
    storedName('a', long),
    storedName('a', long.slice(long.indexOf('#'))),
    storedName('a', 'x'.repeat(301)),
    storedName('a', '\0'),
    storedName('a', '\\u0000'),
    storedName('a', '\ud800'),
    storedName('a', '\ud801'),
    long,
  ]
  t.equal(new Set(names).size, names.length)
})
