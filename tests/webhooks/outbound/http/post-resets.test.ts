import { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { guardedConnector } from '../../../../packages/webhooks/src/outbound/http/connector.ts'
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
async function keptConnection(t: Test, second: (socket: Socket) => void) {
  let first: Socket | undefined
  const receiver = await hostileReceiver(t, (socket) => {
    if (first === undefined || socket !== first) socket.write(OK)
    else second(socket)
    first ??= socket
  })
  const send = openedPost(t)
  t.equal((await send(plainUrl(receiver))).statusCode, 200)
  // The client waits one turn before it trusts the connection again.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  return { receiver, send: () => send(plainUrl(receiver)), connection: first! }
}

t.test('a request that a kept connection took with it is a reset, not sent again', async (t) => {
  for (const ending of ENDINGS) {
    const { receiver, send } = await keptConnection(t, (socket) => void socket[ending]())
    t.same(await send(), RESET, ending)
    t.equal(receiver.requests, 2, `${ending}: the receiver got it once`)
    t.equal(receiver.connections, 1, `${ending}: on the connection that was kept`)
    await gone(receiver)
    t.equal((await send()).statusCode, 200, `${ending}: the next one has a new connection`)
    t.equal(receiver.connections, 2)
  }
})

t.test('a kept connection that closes just as a request goes out sends none twice', async (t) => {
  const moments = {
    'just before': (close: () => void) => close(),
    'just after': (close: () => void) => queueMicrotask(close),
    'a turn later': (close: () => void) => setImmediate(close),
  }
  for (const [moment, schedule] of Object.entries(moments)) {
    for (const ending of ENDINGS) {
      const { receiver, send, connection } = await keptConnection(t, (socket) => socket.write(OK))
      schedule(() => connection[ending]())
      const answer = await send()
      // Either nothing had been sent, and a new connection took the request, or it is recorded as failed.
      const name = `${moment}, by ${ending}: ${answer.failure}`
      if (answer.failure === null) {
        t.match(answer, { statusCode: 200, responseBody: 'ok' }, name)
        t.equal(receiver.requests, 2, `${name}, sent once`)
      } else {
        t.same(answer, RESET, name)
        t.ok(receiver.requests <= 2, `${name}, sent at most once`)
        t.equal(receiver.connections, 1, `${name}, and not tried elsewhere`)
      }
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
  connect({ hostname: 'receiver.test' }, (error, socket) => {
    t.match(error, { code: 'ECONNRESET', message: /receiver\.test/ })
    t.equal(socket, null)
    t.ok(lost.destroyed)
    t.end()
  })
})
