// promise: A bad answer (endless, late, broken, reset, redirected, compressed, not HTTP, with a wrong certificate or old TLS) takes bounded time and memory
import t, { type Test } from 'tap'
import { createAddressFilter } from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import type { PostResult } from '../../../../packages/webhooks/src/outbound/http/post-result.ts'
import {
  createPost,
  type PostSettings,
} from '../../../../packages/webhooks/src/outbound/http/post.ts'
import { hostileReceiver } from '../../support/hostile-receiver.ts'
import { withoutTimes } from '../../support/opened-post.ts'

const never = new AbortController().signal

function opened(t: Test, settings: Partial<PostSettings> = {}) {
  const post = createPost({
    timeoutMs: 60_000,
    userAgent: 'test',
    isBlocked: createAddressFilter(['127.0.0.0/8']),
    ...settings,
  })
  t.teardown(() => post.close())
  return (port: number, host = '127.0.0.1'): Promise<PostResult> =>
    post
      .send(
        new URL(`http://${host}:${port}/hook?a=1`),
        ['x-test', 'yes'],
        Buffer.from('{"a":"ż"}'),
        never,
      )
      .then(withoutTimes)
}

t.test(
  'one request goes out as given, asks for no compression, and its answer comes back',
  async (t) => {
    const receiver = await hostileReceiver(t, (socket) => {
      socket.end('HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nlate')
    })
    const answer = await opened(t)(receiver.port)
    t.same(answer, { statusCode: 503, failure: null, retryAfter: '7', responseBody: 'late' })
    t.match(receiver.request, /^POST \/hook\?a=1 HTTP\/1\.1\r\n/)
    t.match(receiver.request, /\r\nx-test: yes\r\n/)
    t.match(receiver.request, /\r\nContent-Type: application\/json\r\n/)
    t.match(receiver.request, /\r\nAccept-Encoding: identity\r\n/)
    t.equal(Buffer.from(receiver.request, 'latin1').toString().split('\r\n\r\n')[1], '{"a":"ż"}')
  },
)

t.test('connections are kept for the next request', async (t) => {
  const receiver = await hostileReceiver(t, (socket) =>
    socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
  )
  const send = opened(t)
  for (let i = 0; i < 10; i++) t.equal((await send(receiver.port)).statusCode, 204)
  // The second one is opened while the first waits a turn of the event loop for stray bytes.
  t.ok(receiver.connections <= 2)
})

t.test('a long answer is cut off after 64 KiB and its status counts', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pour)
    pour()
  })
  const answer = await opened(t)(receiver.port)
  t.match(answer, { statusCode: 200, failure: null, responseBody: 'x'.repeat(1024) })
  await gone(receiver)
})

t.test('a compressed bomb stays small: nothing is unpacked', async (t) => {
  const { gzipSync } = await import('node:zlib')
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  const receiver = await hostileReceiver(t, (socket) => {
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`,
    )
    socket.end(bomb)
  })
  const answer = await opened(t)(receiver.port)
  t.match(answer, { statusCode: 200, failure: null })
  // The first bytes of gzip, of which 8B is no UTF-8.
  t.ok(answer.responseBody!.startsWith('\u001F\uFFFD\b'))
  t.ok(answer.responseBody!.length <= 1024)
})

t.test(
  'an answer that drips past the deadline is a timeout, and the connection is dropped',
  async (t) => {
    for (const start of [
      'HTTP/1.1 200 O',
      'HTTP/1.1 200 OK\r\nx',
      'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n',
    ]) {
      const receiver = await hostileReceiver(t, (socket) => {
        socket.write(start)
        const drip = setInterval(() => socket.write('x'), 20)
        socket.on('close', () => clearInterval(drip))
      })
      t.equal((await opened(t, { timeoutMs: 200 })(receiver.port)).failure, 'timeout', start)
      await gone(receiver)
    }
  },
)

t.test('a receiver that accepts a connection and does not answer is a timeout', async (t) => {
  const receiver = await hostileReceiver(t, () => {})
  t.match(await opened(t, { timeoutMs: 150 })(receiver.port), {
    statusCode: null,
    failure: 'timeout',
    responseBody: null,
  })
  await gone(receiver)
})

t.test('endless headers are too large', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const more = setInterval(() => socket.write(`x-more: ${'y'.repeat(2000)}\r\n`), 1)
    socket.on('close', () => clearInterval(more))
  })
  t.match(await opened(t)(receiver.port), { statusCode: null, failure: 'too-large' })
  await gone(receiver)
})

t.test('endless trailers are too large as well', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n')
    const more = setInterval(() => socket.write(`x-more: ${'y'.repeat(2000)}\r\n`), 1)
    socket.on('close', () => clearInterval(more))
  })
  t.match(await opened(t)(receiver.port), { failure: 'too-large' })
  await gone(receiver)
})

t.test('a connection that ends too early is a reset', async (t) => {
  const cases: Record<string, string> = {
    'before the answer': '',
    'in the status line': 'HTTP/1.1 20',
    'in the headers': 'HTTP/1.1 200 OK\r\ncontent-le',
    'in a body of known length': 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf',
    'in a chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\nhalf',
  }
  for (const [where, bytes] of Object.entries(cases)) {
    for (const ending of ['end', 'resetAndDestroy'] as const) {
      const receiver = await hostileReceiver(t, (socket) => {
        if (bytes === '') socket[ending]()
        else socket.write(bytes, () => setImmediate(() => socket[ending]()))
      })
      t.equal((await opened(t)(receiver.port)).failure, 'reset', `${where}, by ${ending}`)
    }
  }
})

t.test('an answer that is not HTTP, or switches protocols, has its own error', async (t) => {
  const answers = [
    'SSH-2.0-OpenSSH_9.6\r\n',
    'HTTP/1.1 abc OK\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
    'HTTP/1.1 200 OK\r\nno header\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  ]
  for (const bytes of answers) {
    const receiver = await hostileReceiver(t, (socket) => socket.write(bytes))
    t.equal((await opened(t)(receiver.port)).failure, 'http', bytes.slice(0, 30))
    await gone(receiver)
  }
})

t.test('a flood of early hints ends at the deadline, or as too large', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(100)
    const more = setInterval(() => socket.write(hints), 1)
    socket.on('close', () => clearInterval(more))
  })
  const { failure } = await opened(t, { timeoutMs: 500 })(receiver.port)
  t.match(failure, /^(timeout|too-large)$/)
  await gone(receiver)
})

t.test('an answer with contradictory lengths is not a success', async (t) => {
  const lengths = [
    'content-length: 2\r\ncontent-length: 3',
    'content-length: -1',
    'content-length: 2x',
    'content-length: 99999999999999999999999',
    'content-length: 2\r\ntransfer-encoding: chunked',
  ]
  for (const fields of lengths) {
    const receiver = await hostileReceiver(t, (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\nok`),
    )
    const { failure } = await opened(t)(receiver.port)
    t.match(failure, /^(http|reset)$/, fields)
    await gone(receiver)
  }
})

t.test('a receiver that ends its side and goes on to read is a reset', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    socket.allowHalfOpen = true
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')
    socket.resume()
  })
  t.equal((await opened(t)(receiver.port)).failure, 'reset')
  await gone(receiver)
})

t.test('interim answers are passed over, however many and whichever they are', async (t) => {
  const interims = [
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.0 100 Continue\r\n\r\n',
    'HTTP/1.1 100\r\n\r\n',
    'HTTP/1.1 100 Continue\r\nserver: old\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3),
    'HTTP/1.1 100 Continue\r\nconnection: close\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    'HTTP/1.1 104 Upload\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
  ]
  for (const interim of interims) {
    for (const status of [201, 503]) {
      const final = `HTTP/1.1 ${status} Final\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\nok`
      const receiver = await hostileReceiver(t, (socket) => {
        // Together, and byte by byte.
        if (status === 201) socket.write(interim + final)
        else for (const byte of interim + final) socket.write(byte)
      })
      const send = opened(t)
      const expected = { statusCode: status, failure: null, retryAfter: '7', responseBody: 'ok' }
      t.match(await send(receiver.port), expected, interim)
      await new Promise(setImmediate)
      t.match(await send(receiver.port), expected, `${interim} on a kept connection`)
    }
  }
})

t.test('an interim answer without a final one is no answer', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\n', () => setImmediate(() => socket.end()))
  })
  t.match(await opened(t)(receiver.port), { statusCode: null, failure: 'reset' })
})

t.test('bytes before or after an answer do not affect a later delivery', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 Never asked\r\ncontent-length: 0\r\n\r\n',
    )
  })
  const send = opened(t)
  for (let i = 0; i < 5; i++) t.equal((await send(receiver.port)).statusCode, 200)
})

/** Until the receiver has no connection left: a cut exchange leaves none behind. */
async function gone(receiver: { open: Set<unknown> }): Promise<void> {
  while (receiver.open.size > 0) await new Promise(setImmediate)
}
