// promise: No request is sent to an address that is not public, unless `allowedNetworks` opens it, also through a proxy
import { readFileSync } from 'node:fs'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer } from 'node:https'
import { createServer as createTcpServer, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { createAddressFilter } from '../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import {
  Connections,
  tunnelConnector,
} from '../../../packages/webhooks/src/outbound/http/guarded-agent.ts'
import { createPost, type PostSettings } from '../../../packages/webhooks/src/outbound/http/post.ts'
import { createFetch } from '../../../packages/webhooks/src/outbound/http/fetch.ts'
import { openTunnel, type ProxyFault } from '../../../packages/webhooks/src/outbound/http/proxy.ts'
import { until } from '../../support/until.ts'
import { startProxy } from './connect-proxy.ts'
import { listening } from '../../support/listening.ts'

const tls = (name: string) =>
  readFileSync(new URL(`../support/tls/${name}.pem`, import.meta.url), 'utf8')

const never = new AbortController().signal

/** A client whose deliveries leave through the proxy. Names are at 127.0.0.1. */
function opened(t: Test, url: string, settings: Partial<PostSettings> = {}) {
  const faults: string[] = []
  const failed = ({ message }: ProxyFault) => void faults.push(message)
  const given: PostSettings = {
    timeoutMs: 20_000,
    userAgent: 'test',
    isBlocked: createAddressFilter(['127.0.0.0/8']),
    ca: tls('authority'),
    lookup: (_hostname, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]),
    proxy: { url: new URL(url), authorization: null, failed },
    ...settings,
  }
  const post = createPost(given)
  t.teardown(() => post.close())
  const send = (to: string) => post.send(new URL(to), ['X-A', '1'], Buffer.from('{}'), never)
  return { send, faults, given }
}

async function secureReceiver(t: Test, certificate = 'receiver') {
  const names: (string | false | null)[] = []
  const options = { key: tls('receiver-key'), cert: tls(certificate) }
  const server = createServer(options, (request, response) => {
    names.push((request.socket as TLSSocket).servername ?? null)
    response.end('secure')
  })
  return { port: await listening(t, server), names }
}

t.test('the proxy gets a CONNECT to the checked address, for http and https', async (t) => {
  const proxy = await startProxy(t)
  const { send } = opened(t, proxy.url)
  const plain = await openReceiver(t)
  const { port } = new URL(plain.url)
  t.match(await send(`http://receiver.test:${port}/hook`), { statusCode: 200, failure: null })
  t.equal(plain.received[0]!.headers.host, `receiver.test:${port}`)

  const secure = await secureReceiver(t)
  const answer = await send(`https://receiver.test:${secure.port}/hook`)
  t.match(answer, { statusCode: 200, failure: null, responseBody: 'secure' })
  t.strictSame(secure.names, ['receiver.test'], 'the certificate is that of the name')
  t.strictSame(
    proxy.asked.map(({ target }) => target),
    [`127.0.0.1:${port}`, `127.0.0.1:${secure.port}`],
  )
  // A tunnel is used again, once the connection inside of it is free.
  await until(async () => {
    const before = proxy.asked.length
    await send(`https://receiver.test:${secure.port}/hook`)
    return proxy.asked.length === before
  })
})

t.test('a certificate of another name is refused inside the tunnel as well', async (t) => {
  const proxy = await startProxy(t)
  const { send } = opened(t, proxy.url)
  const { port } = await secureReceiver(t)
  t.match(await send(`https://other.test:${port}/`), { statusCode: null, failure: 'tls' })
})

t.test('a blocked address never reaches the proxy', async (t) => {
  const proxy = await startProxy(t)
  const { send } = opened(t, proxy.url, { isBlocked: createAddressFilter([]) })
  for (const url of ['http://name.test/', 'http://127.0.0.1/', 'https://[::1]:8443/']) {
    t.match(await send(url), { failure: 'blocked', isOurFault: true })
  }
  t.strictSame(proxy.asked, [])
})

t.test('each failure of the proxy counts as ours, not as the receiver’s', async (t) => {
  const proxy = await startProxy(t)
  const receiver = await openReceiver(t)
  const { send, faults } = opened(t, proxy.url)
  for (const status of [407, 403, 502]) {
    proxy.answer = () => status
    t.match(await send(receiver.url), { failure: 'proxy', isOurFault: true, statusCode: null })
    t.equal(faults.at(-1), `the proxy answered ${status} to CONNECT`)
  }
  const notHttp = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.end('hello\r\n\r\n')
  })
  const port = await listening(t, notHttp)
  const odd = opened(t, `http://127.0.0.1:${port}`)
  t.match(await odd.send(receiver.url), { failure: 'proxy', isOurFault: true })
  const away = opened(t, 'http://127.0.0.1:1')
  t.match(await away.send(receiver.url), { failure: 'proxy', isOurFault: true })
  t.match(away.faults, [/^the proxy cannot be reached: ECONNREFUSED$/])
  t.equal(receiver.received.length, 0)
})

t.test('a silent proxy counts as a failure of the proxy, a silent receiver does not', async (t) => {
  const proxy = await startProxy(t)
  const receiver = await openReceiver(t, { answer: 'timeout' })
  const { send } = opened(t, proxy.url, { timeoutMs: 5000 })
  const silent = await send(receiver.url)
  t.match(silent, { failure: 'timeout' })
  t.notOk(silent.isOurFault)
  proxy.answer = () => null
  const other = receiver.url.replace('127.0.0.1', 'localhost')
  t.match(await send(other), { failure: 'proxy', isOurFault: true })
})

t.test('if the proxy cannot reach one address of a name, the next one is tried', async (t) => {
  const proxy = await startProxy(t)
  const receiver = await openReceiver(t)
  const { port } = new URL(receiver.url)
  proxy.answer = (target) => (target.startsWith('127.0.0.2:') ? 503 : 200)
  const { send } = opened(t, proxy.url, {
    lookup: (_hostname, _options, callback) =>
      callback(null, [
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]),
  })
  t.match(await send(`http://receiver.test:${port}/`), { statusCode: 200 })
  t.equal(proxy.asked.length, 2)
})

t.test('interim answers of the proxy are passed over', async (t) => {
  const proxy = await startProxy(t)
  proxy.interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nvia: x\r\n\r\n'
  const { send, faults } = opened(t, proxy.url)
  const { port } = await secureReceiver(t)
  t.match(await send(`https://receiver.test:${port}/`), { statusCode: 200, responseBody: 'secure' })
  proxy.answer = () => 407
  t.match(await send(`https://other.test:${port}/`), { failure: 'proxy' })
  t.equal(faults.at(-1), 'the proxy answered 407 to CONNECT')
  proxy.interim = 'HTTP/1.1 101 Switching Protocols\r\n\r\n'
  t.match(await send(`https://third.test:${port}/`), { failure: 'proxy' })
  t.equal(faults.at(-1), 'the proxy answered 101 to CONNECT')
})

/** A proxy that answers each CONNECT with these bytes, one by one where they are to come `apart`. */
async function tunnelBy(t: Test, text: string, { apart = false, ends = false } = {}) {
  const requests: string[] = []
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.setNoDelay()
    socket.once('data', (request) => {
      requests.push(request.toString())
      void answer(socket)
    })
  })
  async function answer(socket: Socket): Promise<void> {
    for (const part of apart ? text : [text]) {
      socket.write(part)
      await new Promise(setImmediate)
    }
    if (ends) socket.end()
  }
  const url = new URL(`http://127.0.0.1:${await listening(t, server)}`)
  const proxy = { url, authorization: 'Basic dTpw', failed() {} }
  const opening = openTunnel(proxy, '::1', 443, { signal: AbortSignal.timeout(20_000) })
  return { opening, requests }
}

const TUNNEL = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n'
const INTERIMS = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'

for (const [title, text, apart] of [
  ['right behind the answer', `${TUNNEL}hello`, false],
  ['behind interim answers in one packet', `${INTERIMS}${TUNNEL}hello`, false],
  ['behind interim answers in packets of a byte', `${INTERIMS}${TUNNEL}hello`, true],
] as const) {
  t.test(`bytes ${title} are those of the receiver`, async (t) => {
    const { opening, requests } = await tunnelBy(t, text, { apart })
    const socket = await opening
    t.teardown(() => socket.destroy())
    let received = ''
    socket.on('data', (chunk) => (received += String(chunk)))
    await until(() => received === 'hello')
    t.equal(requests.length, 1)
    t.match(requests[0], /^CONNECT \[::1\]:443 HTTP\/1\.1\r\nHost: \[::1\]:443\r\n/)
    t.match(requests[0], /\r\nProxy-Authorization: Basic dTpw\r\n/)
    t.strictSame([socket.listenerCount('error'), socket.listenerCount('close')], [0, 0])
  })
}

for (const [title, text, problem, statusCode] of [
  [
    'too long',
    `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(17_000)}`,
    'sent an answer that is too long',
    null,
  ],
  ['another protocol', 'hello\r\n\r\n', 'sent an answer that is not HTTP', null],
  ['an end', '', 'closed the connection before it answered', null],
  ['an end in the head', 'HTTP/1.1 200', 'closed the connection before it answered', null],
  ['an end after interim ones', INTERIMS, 'closed the connection before it answered', null],
  [
    'a refusal with a body',
    `HTTP/1.1 403 No\r\n\r\n${'x'.repeat(100_000)}`,
    'answered 403 to CONNECT',
    403,
  ],
] as const) {
  t.test(`an answer that is ${title} says so`, async (t) => {
    const { opening } = await tunnelBy(t, text, { ends: true })
    await t.rejects(opening, { message: `the proxy ${problem}`, statusCode })
  })
}

t.test('bytes that come in a tunnel before the request are no answer to it', async (t) => {
  const receiver = await openReceiver(t)
  for (const early of ['hello', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']) {
    let tunnels = 0
    const server = createTcpServer((socket) => {
      tunnels++
      socket.on('error', () => {})
      socket.once('data', () => socket.write(`${TUNNEL}${early}`))
    })
    const { send, faults } = opened(t, `http://127.0.0.1:${await listening(t, server)}`, {
      timeoutMs: 3000,
    })
    const answer = await send(receiver.url)
    t.match(answer, { statusCode: null, failure: 'http' })
    t.notOk(answer.isOurFault)
    t.equal(tunnels, 1, 'it is not asked again and again')
    t.strictSame(faults, [])
  }
})

t.test('endless interim answers of the proxy end soon', async (t) => {
  const storm = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const write = () => {
        while (!socket.destroyed && socket.write(INTERIMS.repeat(500)));
      }
      socket.on('drain', write)
      write()
    })
  })
  const { send, faults } = opened(t, `http://127.0.0.1:${await listening(t, storm)}`)
  const startedMs = performance.now()
  t.match(await send('http://127.0.0.1:1/'), { failure: 'proxy', isOurFault: true })
  t.ok(performance.now() - startedMs < 10_000, 'before the deadline')
  t.strictSame(faults, ['the proxy sent an answer that is too long'])
})

t.test('in a tunnel, a request that a kept connection took with it is sent again', async (t) => {
  const proxy = await startProxy(t)
  const { send } = opened(t, proxy.url)
  let requests = 0
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    requests++
    const socket = request.socket as Socket & { hasAnswered?: true }
    if (socket.hasAnswered) return socket.destroy()
    socket.hasAnswered = true
    response.end('ok')
  }
  const plain = createHttpServer(answer)
  const secure = createServer({ key: tls('receiver-key'), cert: tls('receiver') }, answer)
  for (const [scheme, server] of Object.entries({ http: plain, https: secure })) {
    const url = `${scheme}://receiver.test:${await listening(t, server)}/`
    requests = 0
    t.match(await send(url), { statusCode: 200 }, url)
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    t.match(await send(url), { statusCode: 200, failure: null }, url)
    t.equal(requests, 3, `${scheme}: the second was sent again, in another tunnel`)
  }
  t.equal(proxy.asked.length, 4)
})

t.test('requests of sources to providers go through the proxy as well', async (t) => {
  const proxy = await startProxy(t)
  const { port } = await secureReceiver(t)
  const fetch = createFetch(opened(t, proxy.url).given)
  t.teardown(() => fetch.close())
  const url = new URL(`https://receiver.test:${port}/keys`)
  t.match(await fetch.send({ url, method: 'GET' }), { statusCode: 200, body: 'secure' })
  t.equal(proxy.asked.length, 1)
})

t.test(
  'a tunnel in which TLS cannot begin is an error of the attempt, and is closed',
  async (t) => {
    const proxy = await startProxy(t)
    const { port } = await secureReceiver(t)
    const { given } = opened(t, proxy.url)
    const origin = { hostname: '127.0.0.1', protocol: 'https:', port: String(port) }
    const outcome = Promise.withResolvers<Error | null>()
    const closed = Promise.withResolvers<void>()
    const connector = tunnelConnector<typeof origin>(
      ({ httpSocket }) => {
        httpSocket.once('close', () => closed.resolve())
        throw new Error('no TLS')
      },
      {
        proxy: given.proxy as NonNullable<typeof given.proxy>,
        resolve: async () => [],
        isBlocked: () => false,
        connections: new Connections(),
        timeoutMs: 20_000,
      },
      () => {},
    )
    connector(origin, (...[error]) => outcome.resolve(error))

    t.match(await outcome.promise, { message: 'no TLS' })
    await closed.promise
  },
)
