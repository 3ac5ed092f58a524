import t from 'tap'
import { claimName } from '../../../packages/webhooks/src/inbound/deduplicate.ts'

t.test('a short key stands in its name as it is', async (t) => {
  t.equal(claimName('github', '72d3162e'), '__svc.webhooks.inbound["github","72d3162e"]')
})

t.test('a name is bounded, whatever the source and the key', async (t) => {
  const hashed = /^__svc\.webhooks\.inbound#[0-9a-f]{64}$/
  for (const key of ['x'.repeat(300), 'x'.repeat(1_000_000), 'ü', '🔑'.repeat(9)]) {
    t.match(claimName('a', key), hashed, key.slice(0, 9))
    t.match(claimName('ä'.repeat(100), key), hashed, key.slice(0, 9))
  }
})

t.test('a name holds nothing that Postgres cannot store', async (t) => {
  for (const key of ['\0', '\n', '\ud800', '\u007f']) {
    t.match(claimName('a\0', key), /^[\x20-\x7e]+$/, JSON.stringify(key))
  }
})

t.test('no two keys share a name, be they of one source or of two', async (t) => {
  const long = claimName('a', 'x'.repeat(300))
  const names = [
    claimName('a', 'b'),
    claimName('A', 'b'),
    claimName('a","b', 'c'),
    claimName('a', 'b","c'),
    claimName('a', long),
    claimName('a', long.slice(long.indexOf('#'))),
    claimName('a', 'x'.repeat(301)),
    claimName('a', '\0'),
    claimName('a', '\\u0000'),
    claimName('a', '\ud800'),
    claimName('a', '\ud801'),
    long,
  ]
  t.equal(new Set(names).size, names.length)
})
