import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { receiver, type ReceiverAnswers, type ReceiverOptions } from '@svc/testing'

async function open(t: Test, options?: ReceiverOptions) {
  const partner = await receiver(options)
  t.teardown(() => partner.close())
  const post = (body = '{}', path = '') =>
    fetch(partner.url + path, { method: 'POST', body }).then(async (reply) => ({
      status: reply.status,
      text: await reply.text(),
      type: reply.headers.get('content-type'),
    }))
  return { partner, post }
}

t.test('answers come in turn, and the last one stays', async (t) => {
  const { partner, post } = await open(t, {
    answer: [500, 'reset', { status: 202, body: 'later' }],
  })
  t.match(await post(), { status: 500 })
  await t.rejects(post())
  t.match(await post(), { status: 202, text: 'later' })
  t.match(await post(), { status: 202, text: 'later' })
  partner.answer({ headers: { 'content-type': 'text/plain' }, body: 'a', delayMs: 20 })
  const before = performance.now()
  t.strictSame(await post(), { status: 200, text: 'a', type: 'text/plain' })
  t.ok(performance.now() - before > 15)
  partner.answer(async ({ body }) => (body.total > 100 ? 413 : 204))
  t.match(
    [await post('{"total":1}'), await post('{"total":101}')],
    [{ status: 204 }, { status: 413 }],
  )
  t.equal((await partner.waitFor(7)).length, 7)
})

t.test('a reset begins an answer, so that no client sends the request again', async (t) => {
  const { partner } = await open(t, { answer: 'reset' })
  const socket = connect(Number(new URL(partner.url).port), '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n')
  t.equal((await text(socket)).length, 1)
})

t.test('a request is recorded as it came', async (t) => {
  const { partner, post } = await open(t)
  const from = Date.now()
  await Promise.all([post('{"a":1}', 'hooks?n=1'), post('no JSON')])
  const requests = (await partner.waitFor(2)).toSorted((a, b) => (a.raw < b.raw ? 1 : -1))
  t.match(requests, [
    { method: 'POST', url: '/hooks?n=1', body: { a: 1 }, raw: '{"a":1}', verified: null },
    { url: '/', body: 'no JSON', raw: 'no JSON', headers: { 'content-length': '7' } },
  ])
  for (const { at } of requests) t.ok(at.getTime() >= from && at.getTime() <= Date.now())
})

t.test('a sender may wait in vain for an answer', async (t) => {
  const { partner } = await open(t, { answer: 'timeout' })
  const sender = new AbortController()
  const sent = fetch(partner.url, { signal: sender.signal })
  await partner.waitFor(1)
  sender.abort()
  await t.rejects(sent, { name: 'AbortError' })
})

t.test('what a function throws fails the test, and not only the delivery', async (t) => {
  for (const thrower of [
    () => {
      throw new RangeError('unexpected')
    },
    async () => {
      throw new RangeError('unexpected')
    },
  ]) {
    const { partner, post } = await open(t, { answer: thrower })
    const failed = t.rejects(partner.waitFor(1), new RangeError('unexpected'))
    t.match(await post(), { status: 500, text: 'unexpected' })
    await failed
    await t.rejects(partner.waitFor(1), new RangeError('unexpected'))
  }
  const { partner, post } = await open(t, { answer: (() => {}) as never })
  t.match(await post(), { status: 500, text: /or 'reset', got undefined$/ })
  await t.rejects(partner.waitFor(1), { code: 'SVC_CORE_INVALID_OPTION' })
  const other = await open(t, { secret: [] })
  await other.post()
  await t.rejects(other.partner.waitFor(1), { message: /"secret" must be a secret/ })
})

t.test(
  'waitFor says how many requests came, and does not wait for a closed receiver',
  async (t) => {
    const { partner, post } = await open(t)
    await post()
    await t.rejects(partner.waitFor(2, { timeoutMs: 20 }), {
      message: /^receiver: 1 of 2 requests came within 20 ms \(POST \/\): check that /,
    })
    const closed = t.rejects(partner.waitFor(2), {
      message: 'receiver: 1 of 2 requests came before it was closed (POST /)',
    })
    await partner.close()
    await closed
    t.equal((await partner.waitFor(1)).length, 1)
  },
)

t.test('on a slow machine the environment sets how long is waited', async (t) => {
  const { partner } = await open(t)
  const name = 'SVC_TESTING_TIMEOUT_MS'
  const before = process.env[name]
  t.teardown(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
  process.env[name] = '25'
  await t.rejects(partner.waitFor(1), { message: /within 25 ms/ })
  process.env[name] = '1 minute'
  await t.rejects(partner.waitFor(1), {
    message: `${name} must be a number of milliseconds above 0, got "1 minute"`,
  })
})

t.test('arguments of a receiver are checked', async (t) => {
  const code = 'SVC_CORE_INVALID_OPTION'
  const rejected: [unknown, RegExp][] = [
    ['whsec_a', /^receiver: the options must be an object, got a string$/],
    [{ secrets: 'whsec_a' }, /no option "secrets"; there are: secret, answer, headerPrefix$/],
    [{ headerPrefix: 5 }, /"headerPrefix" must be a text such as "X-Acme-", got 5$/],
    [{ answer: [] }, /the list of answers is empty/],
    [{ answer: '503' }, /is a status, \{ status, headers, body, delayMs \}.* got a string$/],
    [{ answer: [200, 99] }, /"status" must be a status from 200 to 599, got 99$/],
    [{ answer: { code: 500 } }, /no option "code"; there are: status, headers, body, delayMs$/],
    [{ answer: { body: {} } }, /"body" must be a text .*, got an object$/],
  ]
  for (const [options, message] of rejected) {
    await t.rejects(receiver(options as ReceiverOptions), { code, message })
  }
  const { partner } = await open(t)
  t.throws(() => partner.answer('never' as ReceiverAnswers), { code })
  for (const n of [-1, 1.5, 'two']) await t.rejects(partner.waitFor(n as number), { code })
  for (const wait of [{ timeoutMs: 0 }, { timeout: 5 }, 5000]) {
    await t.rejects(partner.waitFor(1, wait as object), { code, message: /^receiver\.waitFor: / })
  }
})
