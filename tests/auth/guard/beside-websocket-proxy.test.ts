// Upgrades that @fastify/http-proxy passes on, beside the guard.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import httpProxy from '@fastify/http-proxy'
import websocket from '@fastify/websocket'
import t, { type Test } from 'tap'
import { startHost, type HostOptions } from '../support/host.ts'
import { logOf } from '../support/log.ts'

const UPGRADE = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** A server that notes the upgrades that reach it, and hangs up. */
async function upstreamOf() {
  const reached: string[] = []
  const server = createServer()
  server.on('upgrade', (request, socket) => {
    reached.push(request.url ?? '')
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { server, reached, url: `http://127.0.0.1:${port}` }
}

async function proxyHost(t: Test, options: HostOptions = {}) {
  const log = logOf()
  const upstream = await upstreamOf()
  const { app, makeKey } = await startHost(t, {
    fastify: { logger: { level: 'warn', stream: log } },
    auth: { excludePaths: ['/api/open/*'] },
    after: async (app) => {
      for (const prefix of ['/api', '/second']) {
        await app.register(httpProxy, { upstream: upstream.url, prefix, websocket: true })
      }
      await options.after?.(app)
    },
  })
  // Ends before the host, whose proxy waits for its connections.
  t.teardown(() => void upstream.server.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const { key } = await makeKey()
  /** The status of the answer. The connection ends at once: a proxy waits 30 s for a goodbye. */
  async function upgrade(path: string, headers: Record<string, string> = {}) {
    const sent = request({ host: '127.0.0.1', port, path, headers: { ...UPGRADE, ...headers } })
    const answer = Promise.race([once(sent, 'upgrade'), once(sent, 'response')])
    sent.end()
    const [{ statusCode, socket }] = await answer
    socket.destroy()
    return statusCode
  }
  return { app, log, upstream, key, upgrade }
}

t.test('upgrades that @fastify/http-proxy passes on are guarded, and not warned of', async (t) => {
  const { log, upstream, key, upgrade } = await proxyHost(t)
  for (const target of ['/api/live', '/second/live', '/api', '/API/live', '//api/live', '/other']) {
    t.equal(await upgrade(target), 401, target)
  }
  t.equal(await upgrade('/api/live', { 'x-api-key': `${key}x` }), 401)
  t.strictSame(upstream.reached, [])
  const allowed: [string, Record<string, string>][] = [
    ['/api/live', { 'x-api-key': key }],
    ['/second/live', { authorization: `Bearer ${key}` }],
    ['/api/open/live', {}],
  ]
  for (const [target, headers] of allowed) {
    const arrival = once(upstream.server, 'upgrade')
    t.equal(await upgrade(target, headers), 101, target)
    await arrival
  }
  t.strictSame(upstream.reached, ['/live', '/live', '/open/live'])
  t.notMatch(log.text(), /is not guarded by svcAuth/)
})

t.test('a listener of its own beside @fastify/http-proxy is warned of', async (t) => {
  const { log } = await proxyHost(t, {
    after: (app) => void app.server.on('upgrade', () => {}),
  })
  t.match(log.text(), /is not guarded by svcAuth/)
})

t.test('@fastify/websocket beside @fastify/http-proxy is not warned of', async (t) => {
  const { app, log, upstream, upgrade } = await proxyHost(t, {
    after: async (app) => {
      await app.register(websocket)
      app.get('/live', { websocket: true }, (socket) => socket.close())
    },
  })
  t.equal(app.server.listenerCount('upgrade'), 2)
  t.equal(await upgrade('/live'), 401)
  t.equal(await upgrade('/api/live'), 401)
  t.strictSame(upstream.reached, [])
  t.notMatch(log.text(), /is not guarded by svcAuth/)
})
