// promise: A bad answer (endless, late, broken, reset, redirected, compressed, not HTTP, with a wrong certificate or old TLS) takes bounded time and memory
import { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { guardedConnector } from '../../../../packages/webhooks/src/outbound/http/guarded-agent.ts'
import {
  acceptingReceiver,
  gone,
  hostileReceiver,
  hostileTlsReceiver,
  testAuthority,
  type HostileReceiver,
} from '../../support/hostile-receiver.ts'
import { openedPost } from '../../support/opened-post.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const RESET = { statusCode: null, failure: 'reset', retryAfter: null, responseBody: null }

/** More than the buffers of both systems hold: a part of it is not sent when the receiver acts. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x')

const ENDINGS = ['end', 'destroy', 'resetAndDestroy'] as const

const plainUrl = ({ port }: HostileReceiver) => `http://127.0.0.1:${port}/`

t.test('a connection that is closed as soon as it stands is a reset', async (t) => {
  for (const ending of ENDINGS) {
    const receiver = await acceptingReceiver(t, (socket) => void socket[ending]())
    t.same(await openedPost(t)(plainUrl(receiver)), RESET, ending)
    await gone(receiver)
    t.equal(receiver.connections, 1, `${ending}: no further connection is tried`)
  }
})

t.test('many connections that are closed as soon as they stand are a reset each', async (t) => {
  const receiver = await acceptingReceiver(t, (socket) => void socket.resetAndDestroy())
  const send = openedPost(t)
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(plainUrl(receiver))))
  t.same(new Set(answers.map(({ failure }) => failure)), new Set(['reset']))
  await gone(receiver)
  t.equal(receiver.connections, 100)
})

t.test('a connection that is closed while the body is sent is a reset', async (t) => {
  for (const ending of ENDINGS) {
    let read = 0
    const receiver = await acceptingReceiver(t, (socket) => {
      socket.once('data', (bytes: Buffer) => {
        read = bytes.length
        socket.pause()
        socket[ending]()
      })
    })
    t.same(await openedPost(t)(plainUrl(receiver), LARGE), RESET, ending)
    t.ok(read > 0 && read < LARGE.length, `${ending}: a part had come`)
    for (const socket of receiver.open) socket.destroy() // `end` leaves the other half open
    await gone(receiver)
    t.equal(receiver.connections, 1, `${ending}: nothing is sent again`)
  }
})

t.test('a receiver that reads no more of a large body is a timeout', async (t) => {
  let isOver = false
  const receiver = await acceptingReceiver(t, (socket) => {
    socket.once('data', () => isOver || socket.pause())
  })
  const send = openedPost(t, { timeoutMs: 300 })
  t.match(await send(plainUrl(receiver), LARGE), { statusCode: null, failure: 'timeout' })
  isOver = true
  // A socket that does not read does not see the client go.
  for (const socket of receiver.open) socket.resume()
  await gone(receiver)
})

t.test('an answer that comes before the whole body was sent counts', async (t) => {
  const receiver = await acceptingReceiver(t, (socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 3\r\n\r\nbig'),
    )
  })
  t.match(await openedPost(t)(plainUrl(receiver), LARGE), {
    statusCode: 413,
    failure: null,
    responseBody: 'big',
  })
  await gone(receiver)
  t.equal(receiver.connections, 1)
})

t.test('over TLS, a connection that is closed at any stage is a reset', async (t) => {
  const url = ({ port }: HostileReceiver) => `https://receiver.test:${port}/`
  const send = openedPost(t, { ca: testAuthority() })
  for (const ending of ENDINGS) {
    const atAccept = await acceptingReceiver(t, (socket) => void socket[ending]())
    t.same(await send(url(atAccept)), RESET, `at accept, by ${ending}`)
    const atHello = await acceptingReceiver(t, (socket) => {
      socket.once('data', () => socket[ending]())
    })
    t.same(await send(url(atHello)), RESET, `at the client's hello, by ${ending}`)
    const stages = { request: '', headers: 'HTTP/1.1 200 OK\r\n', body: OK.slice(0, -1) }
    for (const [stage, bytes] of Object.entries(stages)) {
      const receiver: HostileReceiver = await hostileTlsReceiver(t, (socket) => {
        socket.write(bytes, () => {
          for (const raw of receiver.open) raw[ending]()
        })
      })
      const { failure } = await send(url(receiver))
      t.equal(failure, 'reset', `in the ${stage}, by ${ending}`)
      await gone(receiver)
      t.equal(receiver.connections, 1)
    }
    await gone(atAccept)
    await gone(atHello)
    t.strictSame([atAccept.connections, atHello.connections], [1, 1])
  }
})

t.test('an answer of no stated length ends with its connection, also by a reset', async (t) => {
  for (const ending of ENDINGS) {
    const receiver = await hostileReceiver(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nsome', () => setImmediate(() => socket[ending]()))
    })
    const answer = await openedPost(t)(plainUrl(receiver))
    t.match(answer, { statusCode: 200, failure: null, responseBody: 'some' }, ending)
    await gone(receiver)
  }
})

/** A receiver that has answered one request, and whose connection the client keeps. */
async function keptConnection(
  t: Test,
  second: (socket: Socket) => void,
  further: (socket: Socket) => void = (socket) => void socket.write(OK),
) {
  let first: Socket | undefined
  const receiver = await hostileReceiver(t, (socket) => {
    if (first === undefined) socket.write(OK)
    else if (socket === first) second(socket)
    else further(socket)
    first ??= socket
  })
  const send = openedPost(t)
  t.equal((await send(plainUrl(receiver))).statusCode, 200)
  // The client waits one turn before it trusts the connection again.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  return {
    receiver,
    send: (signal?: AbortSignal) => send(plainUrl(receiver), undefined, signal),
    connection: first!,
  }
}

t.test('a request that a kept connection took with it is sent again on a new one', async (t) => {
  for (const ending of ENDINGS) {
    const { receiver, send } = await keptConnection(t, (socket) => void socket[ending]())
    t.match(await send(), { statusCode: 200, failure: null, responseBody: 'ok' }, ending)
    t.equal(receiver.connections, 2, `${ending}: on a new connection`)
    await gone(receiver)
    t.equal((await send()).statusCode, 200, `${ending}: which is not kept`)
    t.equal(receiver.connections, 3)
  }
})

t.test('a request is sent again once, also where other kept connections end as well', async (t) => {
  for (const ending of ENDINGS) {
    const end = (socket: Socket) => void socket[ending]()
    const { receiver, send } = await keptConnection(t, end, end)
    t.same(await send(), RESET, ending)
    t.equal(receiver.requests, 3, `${ending}: the first, the second, and the second again`)
    t.equal(receiver.connections, 2)
  }
  const opened: Socket[] = []
  const waiting = new Set<Socket>()
  let isEnding = false
  const receiver = await hostileReceiver(t, (socket) => {
    if (isEnding && opened.includes(socket)) return void socket.destroy()
    if (isEnding) return void socket.write(OK)
    opened.push(socket)
    waiting.add(socket)
    if (waiting.size === 5) for (const one of waiting) one.write(OK)
  })
  const send = openedPost(t)
  const five = () => Promise.all(Array.from({ length: 5 }, () => send(plainUrl(receiver))))
  await five()
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  isEnding = true
  t.same(new Set((await five()).map(({ failure }) => failure)), new Set([null]))
  t.equal(receiver.connections, 10)
})

t.test('over TLS, a request that a kept connection took with it is sent again', async (t) => {
  for (const ending of ENDINGS) {
    let first: Socket | undefined
    const receiver: HostileReceiver = await hostileTlsReceiver(t, (socket) => {
      if (first === socket) for (const raw of receiver.open) raw[ending]()
      else socket.write(OK)
      first ??= socket
    })
    const send = openedPost(t, { ca: testAuthority() })
    const url = `https://receiver.test:${receiver.port}/`
    t.equal((await send(url)).statusCode, 200)
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    t.match(await send(url), { statusCode: 200, failure: null }, ending)
    t.equal(receiver.connections, 2)
  }
})

t.test('a kept connection that ends after a byte of the answer is a reset', async (t) => {
  for (const bytes of ['H', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 200 OK\r\n']) {
    const { receiver, send } = await keptConnection(t, (socket) => void socket.end(bytes))
    t.match(await send(), { statusCode: null, failure: 'reset' }, bytes)
    t.equal(receiver.requests, 2, `${bytes}: nothing is sent again`)
  }
})

t.test('a request that the receiver has held for a while is not sent again', async (t) => {
  for (const ending of ENDINGS) {
    const { receiver, send } = await keptConnection(t, (socket) => {
      setTimeout(() => socket[ending](), 300)
    })
    t.same(await send(), RESET, ending)
    t.equal(receiver.requests, 2, `${ending}: the receiver may have acted on it`)
  }
})

t.test('an attempt that is over is not sent again', async (t) => {
  const abort = new AbortController()
  const { receiver, send } = await keptConnection(t, (socket) => {
    abort.abort(new Error('closing'))
    socket.destroy()
  })
  await t.rejects(send(abort.signal), { message: 'closing' })
  await gone(receiver)
  t.equal(receiver.requests, 2)
})

t.test('a kept connection that closes just as a request goes out costs no attempt', async (t) => {
  const moments = {
    'just before': (close: () => void) => close(),
    'just after': (close: () => void) => queueMicrotask(close),
    'a turn later': (close: () => void) => setImmediate(close),
  }
  for (const [moment, schedule] of Object.entries(moments)) {
    for (const ending of ENDINGS) {
      // A request that came before the end is not answered.
      const { receiver, send, connection } = await keptConnection(t, () => {})
      schedule(() => connection[ending]())
      const name = `${moment}, by ${ending}`
      t.match(await send(), { statusCode: 200, failure: null, responseBody: 'ok' }, name)
      t.equal(receiver.connections, 2, name)
    }
  }
})

t.test('a connection that was lost before its address was read is a reset, not blocked', (t) => {
  // As of a receiver that resets at the end of the handshake, while this process is busy.
  const lost = new Socket()
  t.equal(lost.remoteAddress, undefined)
  const connect = guardedConnector(
    (_options: { hostname: string }, callback) => callback(null, lost),
    () => t.fail('there is no address to judge'),
    () => t.fail('the connection is not used'),
  )
  connect({ hostname: 'receiver.test' }, (...[error, socket]) => {
    t.match(error, { code: 'ECONNRESET', message: /receiver\.test/ })
    t.equal(socket, null)
    t.ok(lost.destroyed)
    t.end()
  })
})
