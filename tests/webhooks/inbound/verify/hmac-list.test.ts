import t from 'tap'
import { hmac, type HmacOptions } from '@svc/webhooks'
import { holding, received, sign } from '../received.ts'

const NOW = 1_700_000_000
const body = '{"a":1}'
const signed = (timestamp: string | number) => sign(`${timestamp}.${body}`).toString('hex')

const stripe: HmacOptions = {
  signatureHeader: 'stripe-signature',
  secretName: 'KEY',
  extractSignature: { timestamp: 't', signature: 'v1' },
  computePayload: (text, timestamp) => `${timestamp}.${text}`,
  toleranceSeconds: 300,
}
const ask = (header: string, options: Partial<HmacOptions> = {}) =>
  hmac({ ...stripe, ...options })(
    received([['stripe-signature', header]], body),
    body,
    holding('a key'),
  )

t.beforeEach((t) => {
  t.intercept(Date, 'now', { value: () => NOW * 1000 + 999 })
})

t.test('one signature of a list must match, and other text in the list is ignored', async (t) => {
  const good = signed(NOW)
  t.equal(await ask(`t=${NOW},v1=${good}`), true)
  t.equal(await ask(`t=${NOW},v1=junk,v1=,v2=${good},=,,v1=${good}`), true)
  t.equal(await ask(` v1 = ${good} , t = ${NOW}`), true, 'spaces around')
  t.equal(await ask(`t=${NOW},v0=${good}`), false, 'another version')
  t.equal(await ask(`t=${NOW}`), false, 'no signature')
  t.equal(await ask(`t=${NOW};v1=${good}`), false, 'another separator')
  t.equal(await ask(`t=${NOW},V1=${good}`), false, 'another name')
})

t.test('a signature list with two timestamps, or with none, is refused', async (t) => {
  t.equal(await ask(`t=${NOW},t=${NOW},v1=${signed(NOW)}`), false)
  t.equal(await ask(`t=${NOW + 1},t=${NOW},v1=${signed(NOW)}`), false)
  t.equal(await ask(`v1=${signed(NOW)}`), false)
  t.equal(await ask(`v1=${signed('')}`), false, 'signed without one')
})

t.test('a timestamp may be as far in the past or future as the tolerance', async (t) => {
  for (const [seconds, verdict] of [
    [NOW - 300, true],
    [NOW - 301, false],
    [NOW + 300, true],
    [NOW + 301, false],
    [0, false],
    [9_999_999_999_999, false],
  ] as const) {
    t.equal(await ask(`t=${seconds},v1=${signed(seconds)}`), verdict, String(seconds))
  }
})

t.test('only plain digits are a timestamp', async (t) => {
  const spellings = [
    '',
    `+${NOW}`,
    `-${NOW}`,
    `${NOW}.0`,
    '1.7e9',
    `0x${NOW.toString(16)}`,
    `${NOW}n`,
    `${NOW}\u00a0`,
    '１７００００００００',
    `00000${NOW}`,
    'NaN',
    'Infinity',
    '2023-11-14T22:13:20Z',
  ]
  for (const spelling of spellings) {
    t.equal(await ask(`t=${spelling},v1=${signed(spelling)}`), false, spelling)
  }
})

t.test('without a tolerance a timestamp is signed, and not judged', async (t) => {
  const { toleranceSeconds: _none, ...unjudged } = stripe
  const verify = hmac(unjudged)
  const of = (header: string) => received([['stripe-signature', header]], body)
  t.equal(await verify(of(`t=1,v1=${signed(1)}`), body, holding('a key')), true)
  t.equal(await verify(of(`t=2,v1=${signed(1)}`), body, holding('a key')), false)
})

t.test('a timestamp may be in a header of its own, and in milliseconds', async (t) => {
  const verify = hmac({
    signatureHeader: 'x-signature',
    secretName: 'KEY',
    timestampHeader: 'X-Time',
    timestampUnit: 'milliseconds',
    toleranceSeconds: 60,
    computePayload: (text, timestamp) => `${timestamp}.${text}`,
  })
  const at = (...times: number[]) =>
    verify(
      received(
        [
          ['x-signature', signed(times[0] ?? 0)],
          ...times.map((ms) => ['x-time', String(ms)] as const),
        ],
        body,
      ),
      body,
      holding('a key'),
    )
  const nowMs = Date.now()
  t.equal(await at(nowMs - 60_000), true)
  t.equal(await at(nowMs - 60_001), false)
  t.equal(await at(nowMs + 60_001), false)
  t.equal(await at(NOW), false, 'seconds where milliseconds are meant')
  t.equal(await at(), false, 'none')
  t.equal(await at(nowMs, nowMs), false, 'two')
})

t.test('a function that parses a header may throw at junk, or find nothing', async (t) => {
  const extractSignature = (header: string) => {
    const [time = '', signature = ''] = header.split('|')
    return { timestamp: /^at (.*)$/.exec(time)![1], signature: signature.toString() }
  }
  t.equal(await ask(`at ${NOW}|${signed(NOW)}`, { extractSignature }), true)
  t.equal(await ask('junk', { extractSignature }), false)
  for (const found of [
    null,
    undefined,
    'text',
    5,
    {},
    { signature: 5 },
    { signature: [undefined] },
  ]) {
    const nothing = { extractSignature: () => found as never }
    t.equal(await ask(signed(NOW), nothing), false, JSON.stringify(found))
  }
  const numeric = { extractSignature: () => ({ timestamp: NOW, signature: ['x', signed(NOW)] }) }
  t.equal(await ask('any', numeric), true, 'a number, and a list')
})

t.test('a function may answer with a list, as long as it holds one timestamp', async (t) => {
  const good = signed(NOW)
  const entry = (signature: string, timestamp: string | number = NOW) => ({ signature, timestamp })
  const lists: [what: string, list: (string | ReturnType<typeof entry>)[], verdict: boolean][] = [
    ['objects', [entry('x'), entry(good)], true],
    ['one timestamp in two types', [entry('x'), entry(good, String(NOW))], true],
    ['an object and texts', [entry('x'), 'y', good], true],
    ['two timestamps', [entry(good), entry(good, NOW + 1)], false],
    ['nothing', [], false],
    ['texts without a timestamp', [good], false],
  ]
  for (const [what, list, verdict] of lists) {
    t.equal(await ask('any', { extractSignature: () => list }), verdict, what)
  }
  const verify = hmac({
    signatureHeader: 'x-signature',
    secretName: 'KEY',
    extractSignature: (header) => header.split(' '),
  })
  const bare = received([['x-signature', `x ${sign(body).toString('hex')}`]], body)
  t.equal(
    await verify(bare, body, holding('a key')),
    true,
    'texts, where no timestamp is asked for',
  )
})
