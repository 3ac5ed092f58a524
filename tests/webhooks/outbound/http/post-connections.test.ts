// promise: No request is sent to an address that is not public, unless `allowedNetworks` opens it, also through a proxy
// promise: A bad answer (endless, late, broken, reset, redirected, compressed, not HTTP, with a wrong certificate or old TLS) takes bounded time and memory
import { lookup as lookUp, type LookupAddress } from 'node:dns'
import t from 'tap'
import { createAddressFilter } from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import type { PostResult } from '../../../../packages/webhooks/src/outbound/http/post-result.ts'
import type { PostSettings } from '../../../../packages/webhooks/src/outbound/http/post.ts'
import type { Lookup } from '../../../../packages/webhooks/src/outbound/http/resolver.ts'
import { farReceiver } from '../../support/far-receiver.ts'
import {
  expiredCertificate,
  hastyReceiver,
  hostileReceiver,
  hostileTlsReceiver,
  testAuthority,
} from '../../support/hostile-receiver.ts'
import { versionWith } from '../../support/old-tls-client.ts'
import { openedPost } from '../../support/opened-post.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const DELIVERED = { statusCode: 200, failure: null, retryAfter: null, responseBody: 'ok' }

/** A resolver that gives these addresses, or fails with this code. */
function answering(next: () => string[] | string): Lookup {
  return (_hostname, _options, callback) => {
    const found = next()
    if (typeof found === 'string') callback(Object.assign(new Error(found), { code: found }), [])
    else
      callback(
        null,
        found.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
  }
}

t.test('a name is sent to where it resolves', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => socket.write(OK))
  const send = openedPost(t, { lookup: answering(() => ['127.0.0.1']) })
  t.same(await send(`http://receiver.test:${receiver.port}/`), DELIVERED)
  t.match(receiver.request, `\r\nhost: receiver.test:${receiver.port}\r\n`)
})

t.test('an address that does not answer is passed over for the next one of the name', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => socket.write(OK))
  const send = openedPost(t, { lookup: answering(() => ['127.99.99.99', '127.0.0.1']) })
  t.same(await send(`http://receiver.test:${receiver.port}/`), DELIVERED)
})

/** On a busy machine the receiver may have no room yet for the SYN that is sent again. */
const MOST_TRIES = 5

t.test('a slow address still connects if the next address leads nowhere', async (t) => {
  let result: PostResult | undefined
  for (let tries = 0; tries < MOST_TRIES && result?.failure !== null; tries++) {
    const receiver = await farReceiver(t)
    const lookup: Lookup = (hostname, options, callback) => {
      answering(() => ['127.0.0.1', '127.99.99.99'])(hostname, options, callback)
      setImmediate(() => receiver.accept())
    }
    const send = openedPost(t, { lookup, timeoutMs: 60_000 })
    result = await send(`http://receiver.test:${receiver.port}/`)
  }
  t.same(result, DELIVERED)
})

t.test('a name with any refused address is blocked, and no connection is made', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => socket.write(OK))
  const lists = [
    ['10.0.0.1'],
    ['127.0.0.1', '10.0.0.1'],
    ['169.254.169.254', '127.0.0.1'],
    ['::1'],
    ['fe80::1%eth0'],
    ['::ffff:10.0.0.1'],
  ]
  for (const addresses of lists) {
    const send = openedPost(t, { lookup: answering(() => addresses) })
    t.equal(
      (await send(`http://receiver.test:${receiver.port}/`)).failure,
      'blocked',
      addresses.join(),
    )
  }
  t.equal(receiver.connections, 0)
})

t.test('a name whose address changes is checked at each connection', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => socket.end(OK))
  const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']]
  const send = openedPost(t, { lookup: answering(() => answers.shift()!) })
  const url = `http://receiver.test:${receiver.port}/`
  t.equal((await send(url)).failure, null)
  t.equal((await send(url)).failure, 'blocked')
  t.equal((await send(url)).failure, null)
})

t.test('literal addresses are judged without any lookup', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => socket.write(OK))
  const lookup: Lookup = () => t.fail('nothing to look up')
  const send = openedPost(t, { lookup, isBlocked: createAddressFilter([]) })
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '１２７.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '10.1.1.1',
  ]) {
    t.equal((await send(`http://${host}:${receiver.port}/`)).failure, 'blocked', host)
    t.equal((await send(`https://${host}:${receiver.port}/`)).failure, 'blocked', host)
  }
  t.equal(receiver.connections, 0)
})

t.test('the host `localhost` is a name like others, and blocked where loopback is', async (t) => {
  const send = openedPost(t, { lookup: lookUp, isBlocked: createAddressFilter([]) })
  t.equal((await send('http://localhost:9/')).failure, 'blocked')
})

t.test('the address that the socket is connected to is checked as well', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => socket.write(OK))
  let asked = 0
  // Open when the name is looked up, refused when the connection stands.
  const send = openedPost(t, {
    lookup: answering(() => ['127.0.0.1']),
    isBlocked: () => ++asked > 1,
  })
  t.equal((await send(`http://receiver.test:${receiver.port}/`)).failure, 'blocked')
  t.equal(receiver.request, '')
})

t.test('a name that does not resolve is a dns failure', async (t) => {
  for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL']) {
    t.equal(
      (await openedPost(t, { lookup: answering(() => code) })('http://receiver.test/')).failure,
      'dns',
      code,
    )
  }
})

t.test('a resolver that never answers is a timeout', async (t) => {
  t.equal(
    (await openedPost(t, { lookup: () => {}, timeoutMs: 100 })('http://receiver.test/')).failure,
    'timeout',
  )
})

t.test('a port without a listener is a failure `refused`', async (t) => {
  const receiver = await hostileReceiver(t, () => {})
  const send = openedPost(t, { lookup: answering(() => ['127.0.0.1', '127.0.0.2']) })
  const url = `http://127.99.99.99:${receiver.port}/`
  t.equal((await send(url)).failure, 'refused')
  t.equal(
    (await send(url.replace('127.99.99.99', 'receiver.test').replace(/:\d+/, ':1'))).failure,
    'refused',
  )
})

t.test('TLS needs a trusted certificate for the name', async (t) => {
  const receiver = await hostileTlsReceiver(t, (socket) => socket.write(OK))
  const plain = await hastyReceiver(t, 'HTTP/1.1 400 Bad Request\r\n\r\n')
  const lookup = answering(() => ['127.0.0.1'])
  const trusting = openedPost(t, { lookup, ca: testAuthority() })
  t.same(await trusting(`https://receiver.test:${receiver.port}/`), DELIVERED)
  t.equal((await trusting(`https://other.test:${receiver.port}/`)).failure, 'tls')
  t.equal((await trusting(`https://127.0.0.1:${receiver.port}/`)).failure, 'tls')
  t.equal(
    (await openedPost(t, { lookup })(`https://receiver.test:${receiver.port}/`)).failure,
    'tls',
  )
  t.equal((await trusting(`https://receiver.test:${plain.port}/`)).failure, 'tls')
})

t.test(
  'TLS that is expired, outdated, broken off or silent is a failure of its kind',
  async (t) => {
    const lookup = answering(() => ['127.0.0.1'])
    const answer = (socket: { write(bytes: string): unknown }) => void socket.write(OK)
    const expired = await hostileTlsReceiver(t, answer, { certificate: 'expired' })
    // The certificate is trusted, and for this name: its time alone is over.
    const ca = expiredCertificate()
    const to = async (port: number, settings: Partial<PostSettings>) =>
      (await openedPost(t, { lookup, ...settings })(`https://receiver.test:${port}/`)).failure
    t.equal(await to(expired.port, { ca }), 'tls')

    const old = await hostileTlsReceiver(t, answer, { onlyVersion: 'TLSv1.1' })
    t.equal(await versionWith(old.port, 'TLSv1.1'), 'TLSv1.1', 'another client gets through')
    t.equal(await to(old.port, { ca: testAuthority() }), 'tls')
    t.strictSame(old.tlsErrors, ['ERR_SSL_UNSUPPORTED_PROTOCOL'], 'we do not offer the version')

    const hello = await hastyReceiver(t, '\x16\x03\x03\x00\x7ahalf a hello')
    t.match(await to(hello.port, { ca }), /^(tls|reset)$/)

    const silent = await hostileReceiver(t, () => {})
    t.equal(await to(silent.port, { timeoutMs: 300 }), 'timeout')
  },
)

t.test('an environment that turns certificates off does not turn them off here', async (t) => {
  const receiver = await hostileTlsReceiver(t, (socket) => socket.write(OK))
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  })
  const send = openedPost(t, { lookup: answering(() => ['127.0.0.1']) })
  t.equal((await send(`https://receiver.test:${receiver.port}/`)).failure, 'tls')
})

t.test('an abort rejects with its reason and drops the connection', async (t) => {
  const receiver = await hostileReceiver(t, () => abort.abort(new Error('closing')))
  const abort = new AbortController()
  const send = openedPost(t)
  await t.rejects(send(`http://127.0.0.1:${receiver.port}/`, undefined, abort.signal), {
    message: 'closing',
  })
  while (receiver.open.size > 0) await new Promise(setImmediate)
  await t.rejects(send(`http://127.0.0.1:${receiver.port}/`, undefined, abort.signal), {
    message: 'closing',
  })
})

t.test('a request given up before its connection was made is not sent', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => socket.write(OK))
  let found: (() => void) | undefined
  const lookup: Lookup = (_hostname, _options, callback) => {
    found = () => callback(null, [{ address: '127.0.0.1', family: 4 }])
  }
  const send = openedPost(t, { lookup, timeoutMs: 100 })
  t.equal((await send(`http://receiver.test:${receiver.port}/`)).failure, 'timeout')
  while (found === undefined) await new Promise(setImmediate)
  found()
  while (receiver.connections === 0 || receiver.open.size > 0) await new Promise(setImmediate)
  t.equal(receiver.request, '')
})

t.test('requests made at the same time each get their own answer', async (t) => {
  let served = 0
  const receiver = await hostileReceiver(t, (socket) => {
    const body = String(++served)
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  })
  const send = openedPost(t)
  const answers = await Promise.all(
    Array.from({ length: 500 }, () => send(`http://127.0.0.1:${receiver.port}/`)),
  )
  t.equal(new Set(answers.map(({ responseBody }) => responseBody)).size, 500)
})
