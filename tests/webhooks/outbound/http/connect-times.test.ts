// promise: An attempt says how long the steps of its connection took, and where it went
import { once } from 'node:events'
import { createServer as createPlain, type RequestListener } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createAddressFilter } from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import { createPost } from '../../../../packages/webhooks/src/outbound/http/post.ts'
import { pem, testAuthority } from '../../support/hostile-receiver.ts'
import { listening } from '../../../support/listening.ts'

const never = new AbortController().signal
const ms = Number

const answer: RequestListener = (_request, response) => {
  response.setHeader('x-a', ['1', '2'])
  response.end('ok')
}

t.test('a new connection tells of its steps, one that was kept of none', async (t) => {
  const plain = await listening(t, createPlain(answer))
  const own = { key: pem('receiver-key.pem'), cert: pem('receiver.pem') }
  const secure = await listening(t, createSecure(own, answer))
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port: free } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  const post = createPost({
    timeoutMs: 60_000,
    userAgent: 'test',
    isBlocked: createAddressFilter(['127.0.0.0/8']),
    ca: testAuthority(),
    lookup: (name, _options, callback) =>
      name === 'unknown.test'
        ? callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
        : callback(null, [
            { address: name === 'inner.test' ? '10.0.0.7' : '127.0.0.1', family: 4 },
          ]),
  })
  t.teardown(() => post.close())
  const send = (url: string) => post.send(new URL(url), [], Buffer.from('{}'), never)

  const first = await send(`http://receiver.test:${plain}/`)
  t.match(first, {
    statusCode: 200,
    connected: { address: '127.0.0.1', dnsMs: ms, connectMs: ms, tlsMs: null },
    firstByteMs: ms,
    bodyMs: ms,
    responseHeaders: { 'x-a': ['1', '2'] },
  })
  await setImmediate() // The connection is free again.
  t.equal((await send(`http://receiver.test:${plain}/`)).connected, undefined)
  t.match(await send(`http://127.0.0.1:${plain}/`), {
    connected: { address: '127.0.0.1', dnsMs: null, connectMs: ms },
  })
  t.match(await send(`https://receiver.test:${secure}/`), {
    statusCode: 200,
    connected: { address: '127.0.0.1', dnsMs: ms, connectMs: ms, tlsMs: ms },
  })
  t.match(await send(`https://other.test:${secure}/`), {
    failure: 'tls',
    connected: { address: '127.0.0.1', dnsMs: ms, connectMs: ms, tlsMs: ms },
  })
  const refused = await send(`http://receiver.test:${free}/`)
  t.match(refused, {
    failure: 'refused',
    connected: { address: '127.0.0.1', dnsMs: ms, connectMs: ms, tlsMs: null },
  })
  t.equal(refused.firstByteMs, undefined, 'nothing was sent')
  t.match(await send('http://unknown.test/'), {
    failure: 'dns',
    connected: { address: null, dnsMs: ms, connectMs: null },
  })
  const blocked = await send('http://inner.test/')
  t.equal(blocked.failure, 'blocked')
  t.equal(blocked.connected?.address, null, 'a blocked address is not told')
})
