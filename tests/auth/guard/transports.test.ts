import websocket from '@fastify/websocket'
import Fastify from 'fastify'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost, withMe } from '../support/host.ts'
import { logOf } from '../support/log.ts'
import { rawRequest } from '../support/raw-request.ts'

t.test('the guard decides over HTTP/2 as over HTTP/1.1', async (t) => {
  const database = await freshDatabase(t)
  const { makeKey } = await startHost(t, { database })
  const { key } = await makeKey()
  const app = Fastify({ http2: true, pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(svcCore, {
    database: { connectionString: database },
    worker: { enabled: false },
  })
  await app.register(svcAuth, {})
  app.get('/me', async (request) => request.auth)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const session = connect(`http://127.0.0.1:${port}`)
  t.teardown(() => session.close())

  const rows: [headers: Record<string, string | string[]>, status: number][] = [
    [{}, 401],
    [{ 'x-api-key': key }, 200],
    [{ 'X-API-Key': key }, 200],
    [{ authorization: `Bearer ${key}` }, 200],
    [{ authorization: `Bearer ${key}`, 'x-api-key': key }, 200],
    [{ 'x-api-key': [key, key] }, 401],
    [{ authorization: `Bearer ${key}`, 'x-api-key': `${key}x` }, 401],
    [{ ':path': '/%6de', 'x-api-key': `${key}x` }, 401],
    [{ ':path': '/nothing' }, 401],
    [{ ':path': '/nothing', 'x-api-key': key }, 404],
  ]
  for (const [headers, status] of rows) t.equal(await ask(session, headers), status)
})

async function ask(session: ClientHttp2Session, headers: object): Promise<number | undefined> {
  const stream = session.request({ ':path': '/me', ...headers })
  // A body that nobody reads would keep the stream, and with it the session, from closing.
  stream.resume()
  const closed = once(stream, 'close')
  const [answer] = await once(stream, 'response')
  await closed
  return answer[':status']
}

t.test('a WebSocket route is guarded like any other', async (t) => {
  const { app, makeKey } = await startHost(t, {
    async after(app) {
      await app.register(websocket)
      app.get('/live', { websocket: true }, (socket) => {
        socket.on('message', (message: Buffer) => socket.send(message))
      })
    },
  })
  const { key } = await makeKey()
  await app.listen({ port: 0, host: '127.0.0.1' })

  await t.rejects(app.injectWS('/live'), /401/)
  const upgrade = (headers: [string, string][]) =>
    rawRequest(app, {
      method: 'GET',
      target: '/live',
      headers: [
        ['Upgrade', 'websocket'],
        ['Connection', 'Upgrade'],
        ['Sec-WebSocket-Version', '13'],
        ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
        ...headers,
      ],
    })
  t.equal((await upgrade([])).status, 401)
  const socket = await app.injectWS('/live', { headers: { 'x-api-key': key } })
  const echo = once(socket, 'message')
  socket.send('hello')
  t.equal(String((await echo)[0]), 'hello')
  socket.terminate()
})

t.test('a listener of upgrades that bypasses Fastify is warned of', async (t) => {
  const log = logOf()
  const { app } = await startHost(t, { fastify: { logger: { level: 'warn', stream: log } } })
  t.notMatch(log.text(), /is not guarded by svcAuth/)
  app.server.on('upgrade', () => {})
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.match(log.text(), /upgrade.*is not guarded by svcAuth/)
})

t.test('each request of a connection is decided by its own key', async (t) => {
  const { app, makeKey } = await startHost(t, { after: withMe })
  const { id, key } = await makeKey()
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const me = () => fetch(`${origin}/me`, { headers: { 'x-api-key': key } })
  t.equal((await me()).status, 200)
  await app.svc.actions.call('__svc.auth.revokeApiKey', id)
  t.equal((await me()).status, 401)
})
