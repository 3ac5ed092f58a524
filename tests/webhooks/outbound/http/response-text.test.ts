import t from 'tap'
import { ResponseText } from '../../../../packages/webhooks/src/outbound/http/post.ts'

function read(...chunks: (string | number[])[]): ResponseText {
  const text = new ResponseText()
  for (const chunk of chunks)
    text.add(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk))
  return text
}

t.test('all bytes are counted and the first KiB is kept', async (t) => {
  const text = read('a'.repeat(1000), 'b'.repeat(1000), 'c')
  t.equal(text.bytes, 2001)
  t.equal(text.toString(), 'a'.repeat(1000) + 'b'.repeat(24))
  t.equal(read().toString(), '')
})

t.test(
  'a character split between chunks is kept whole, and one split by the cut is left out',
  async (t) => {
    t.equal(read([0xf0, 0x9f], [0x98, 0x80]).toString(), '😀')
    t.equal(read(`${'a'.repeat(1022)}😀`).toString(), 'a'.repeat(1022))
  },
)

t.test('NUL bytes and bytes that are not UTF-8 become U+FFFD', async (t) => {
  t.equal(read([0x61, 0x00, 0xff, 0x62]).toString(), 'a\uFFFD\uFFFDb')
})
