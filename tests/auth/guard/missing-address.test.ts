import type { FastifyInstance } from 'fastify'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startHost, withMe } from '../support/host.ts'
import { watchStatements } from '../support/statements.ts'
import { until } from '../../support/until.ts'

const EVERYWHERE = ['0.0.0.0/0', '::/0']

/** Its requests have no address. */
async function listenOnPath(t: Test, app: FastifyInstance) {
  // A path of a socket has at most 107 characters.
  const folder = await mkdtemp(join(tmpdir(), 'svc-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const socketPath = join(folder, 'app')
  await app.listen({ path: socketPath })
  return async (path: string, headers: Record<string, string>) => {
    const request = httpRequest({ socketPath, path, headers, agent: false }).end()
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    const text = Buffer.concat(await answer.toArray()).toString()
    const isJson = answer.headers['content-type']?.startsWith('application/json')
    const code: unknown = isJson ? JSON.parse(text).code : undefined
    return { status: answer.statusCode, code }
  }
}

const notAllowed = { status: 403, code: 'SVC_AUTH_IP_NOT_ALLOWED' }

t.test('a key with networks is refused on a Unix socket, which has no addresses', async (t) => {
  const { app, makeKey } = await startHost(t, { after: withMe })
  const { id, key } = await makeKey()
  const { key: free } = await makeKey()
  await app.svc.auth.updateApiKey({ id, allowedIps: EVERYWHERE })
  const ask = await listenOnPath(t, app)

  t.same(await ask('/me', { 'x-api-key': key }), notAllowed, 'looked up')
  t.same(await ask('/me', { 'x-api-key': key }), notAllowed, 'remembered')
  const forwarded = { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/me' }
  t.same(await ask('/_auth/forward-auth', { 'x-api-key': key, ...forwarded }), notAllowed)
  t.match(await ask('/me', { 'x-api-key': free }), { status: 200 })
})

t.test('a trusted proxy gives the address of a request on a Unix socket', async (t) => {
  const { app, makeKey } = await startHost(t, {
    fastify: { trustProxy: true },
    after: withMe,
  })
  const { id, key } = await makeKey()
  await app.svc.auth.updateApiKey({ id, allowedIps: ['192.0.2.0/24'] })
  const ask = await listenOnPath(t, app)
  const from = (address: string) => ask('/me', { 'x-api-key': key, 'x-forwarded-for': address })

  t.match(await from('192.0.2.7'), { status: 200 })
  t.same(await from('198.51.100.7'), notAllowed)
  t.same(await ask('/me', { 'x-api-key': key }), notAllowed)
})

t.test('a client that is gone before its key was looked up is refused', async (t) => {
  const statuses: number[] = []
  const { app, makeKey } = await startHost(t, {
    // A logger would read the address in time.
    fastify: { logger: false },
    after(app) {
      app.get('/me', async () => 'me')
      app.addHook('onSend', async (_request, reply) => void statuses.push(reply.statusCode))
    },
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const statements = watchStatements(app)
  const makeBoundKey = async () => {
    const { id, key } = await makeKey()
    await app.svc.auth.updateApiKey({ id, allowedIps: EVERYWHERE })
    return key
  }

  async function statusOfGoneClient(): Promise<number | undefined> {
    const key = await makeBoundKey()
    const lookup = Promise.withResolvers<void>()
    statements.held = { matching: /key_hash = any/, until: lookup.promise }
    const before = statements.answered.length
    const gone = new Promise((resolve) => {
      app.server.once('connection', (socket) => socket.once('close', resolve))
    })
    const client = connect(port, '127.0.0.1', () => {
      client.write(`GET /me HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`)
    })
    await until(() => statements.answered.slice(before).some((text) => /key_hash = any/.test(text)))
    client.destroy()
    await gone
    lookup.resolve()
    statements.held = undefined
    await until(() => statuses.length > 0)
    return statuses.pop()
  }

  // On a busy machine the lookup may have been given up.
  t.equal(await until(statusOfGoneClient, (status) => status !== 503), 403)
  const headers = { 'x-api-key': await makeBoundKey() }
  t.equal((await fetch(`${origin}/me`, { headers })).status, 200, 'the process goes on')
})
