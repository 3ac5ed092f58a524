// promise: A bad answer (endless, late, broken, reset, redirected, compressed, not HTTP, with a wrong certificate or old TLS) takes bounded time and memory
import t from 'tap'
import { errorOf } from '../../../../packages/webhooks/src/outbound/delivery/attempt.ts'
import { gone, hostileReceiver } from '../../support/hostile-receiver.ts'
import { openedPost } from '../../support/opened-post.ts'

const redirect = (status: number, fields: string) =>
  `HTTP/1.1 ${status} Elsewhere\r\n${fields}content-length: 4\r\n\r\nmove`

t.test('no redirect is followed, wherever it leads', async (t) => {
  const target = await hostileReceiver(t, (socket) => socket.end(redirect(200, '')))
  const locations: Record<string, string[]> = {
    'the metadata service of a cloud': ['http://169.254.169.254/latest/meta-data/'],
    'the metadata service by name': ['http://metadata.google.internal/computeMetadata/v1/'],
    loopback: [`http://127.0.0.1:${target.port}/`],
    'loopback in another spelling': [`http://2130706433:${target.port}/`],
    'another host': [`http://other.test:${target.port}/`],
    'another host with credentials': [`http://user:password@other.test:${target.port}/`],
    'no scheme': [`//other.test:${target.port}/`],
    TLS: [`https://other.test:${target.port}/`],
    'another path': ['/elsewhere'],
    'the same URL': ['?'],
    'two places': ['/elsewhere', `http://other.test:${target.port}/`],
    'a file': ['file:///etc/passwd'],
    'no URL': ['http://['],
    'the empty text': [''],
    'no place': [],
  }
  for (const status of [300, 301, 302, 303, 305, 307, 308]) {
    for (const [where, places] of Object.entries(locations)) {
      const fields = places.map((place) => `location: ${place}\r\n`).join('')
      const receiver = await hostileReceiver(t, (socket) => socket.end(redirect(status, fields)))
      const judged = new Set<string>()
      const names: string[] = []
      const send = openedPost(t, {
        // Nothing is blocked: what holds the client back is not the guard.
        isBlocked: (address) => {
          judged.add(address)
          return false
        },
        lookup: (hostname, _options, callback) => {
          names.push(hostname)
          callback(null, [{ address: '127.0.0.1', family: 4 }])
        },
      })
      const name = `${status} to ${where}`
      const answer = await send(`http://receiver.test:${receiver.port}/`)
      t.same(
        answer,
        { statusCode: status, failure: null, retryAfter: null, responseBody: 'move' },
        name,
      )
      t.equal(errorOf(answer), 'redirect', `${name} is recorded as what it is`)
      t.equal(receiver.requests, 1, `${name}: one request`)
      t.strictSame([...judged], ['127.0.0.1'], `${name}: one address`)
      t.strictSame(names, ['receiver.test'], `${name}: one name`)
      await gone(receiver)
    }
  }
  t.equal(target.connections, 0)
})

t.test('a kept connection is not used to follow a redirect either', async (t) => {
  const receiver = await hostileReceiver(t, (socket) =>
    socket.write(redirect(307, 'location: /elsewhere\r\n')),
  )
  const send = openedPost(t)
  for (let sent = 1; sent <= 3; sent++) {
    t.equal((await send(`http://127.0.0.1:${receiver.port}/hook`)).statusCode, 307)
    t.equal(receiver.requests, sent)
    t.match(receiver.request, /^POST \/hook HTTP/)
  }
})

t.test('a redirect with an endless body is cut off, and is still a redirect', async (t) => {
  const receiver = await hostileReceiver(t, (socket) => {
    socket.write('HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pour)
    pour()
  })
  const answer = await openedPost(t)(`http://127.0.0.1:${receiver.port}/`)
  t.match(answer, { statusCode: 302, failure: null, responseBody: 'x'.repeat(1024) })
  t.equal(errorOf(answer), 'redirect')
  await gone(receiver)
  t.equal(receiver.requests, 1)
})

t.test('a redirect that breaks off is recorded as broken, and is not followed', async (t) => {
  const receiver = await hostileReceiver(t, (socket) =>
    socket.end('HTTP/1.1 301 Moved\r\nlocation: /elsewhere\r\ncontent-length: 9\r\n\r\nhalf'),
  )
  const answer = await openedPost(t)(`http://127.0.0.1:${receiver.port}/`)
  t.match(answer, { statusCode: 301, failure: 'reset' })
  t.equal(errorOf(answer), 'reset')
  t.equal(receiver.requests, 1)
  await gone(receiver)
})
