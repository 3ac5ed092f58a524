// A host that closes while requests of senders are on their way.
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { readRawBodies } from '../../../packages/webhooks/src/inbound/raw-body.ts'
import { until } from '../../support/until.ts'
import { hostOf } from './host.ts'
import { sessionOn } from '../../support/session.ts'
import { newHost } from '../../support/new-host.ts'

const POST = 'POST /hooks/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

/** Writes the beginning of a request. The connection stays open until the host ends it. */
async function begin(t: Test, app: FastifyInstance, bytes: string) {
  const socket: Socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(bytes)
  return { socket, answer: text(socket) }
}

/** What a host has reached: tests wait for it. */
interface Reached {
  requests: number
  verifying: number
}

const counting = (reached: Reached) => (app: FastifyInstance) =>
  app.addHook('onRequest', async () => void reached.requests++)

t.test(
  'a host that closes refuses bodies that do not arrive, and publishes what has arrived',
  { timeout: 60_000 },
  async (t) => {
    const gate = Promise.withResolvers<boolean>()
    const reached = { requests: 0, verifying: 0 }
    const { app, database } = await hostOf(
      t,
      {
        a: {
          path: '/hooks/a',
          publishAs: 'a',
          verify: () => {
            reached.verifying++
            return gate.promise
          },
          respond: ({ method }) => (method === 'GET' ? { body: 'hello' } : null),
        },
      },
      { before: counting(reached) },
    )
    await app.listen({ port: 0, host: '127.0.0.1' })
    const half = [
      await begin(t, app, `${POST}Content-Length: 10\r\n\r\n{`),
      await begin(t, app, `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`),
    ]
    const get = await begin(
      t,
      app,
      'GET /hooks/a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
    )
    const whole = await begin(t, app, `${POST}Content-Length: 2\r\n\r\n{}`)
    await until(() => reached.requests === 4 && reached.verifying === 1)

    const began = performance.now()
    const closing = app.close()
    for (const { answer } of half) {
      t.match(await answer, /^HTTP\/1\.1 408 [^]*SVC_WEBHOOKS_BODY_TOO_SLOW/)
    }
    t.match(await get.answer, /^HTTP\/1\.1 200 [^]*hello$/, 'answered, and its rest is not awaited')
    gate.resolve(true)
    t.match(await whole.answer, /^HTTP\/1\.1 200 [^]*"status":"accepted"/)
    await closing
    t.ok(performance.now() - began < 20_000, 'not the 30 s of a body in a host that stays')

    const client = await sessionOn(t, database)
    const events = await client.query('select name from svc."__svc.events"')
    t.strictSame(events.rows, [{ name: 'a' }])
    const log = await client.query(
      `select reason from svc."__svc.webhooks.inbound_log" where outcome = 'refused'`,
    )
    t.match(log.rows, [{ reason: /the host closes/ }], 'sampled: one in a second')
  },
)

t.test('a body that arrives while the host closes is read', { timeout: 60_000 }, async (t) => {
  const app = newHost(t)
  const reached = { requests: 0, verifying: 0 }
  counting(reached)(app)
  await app.register(async (inbound) => {
    readRawBodies(inbound, { closingMs: 50_000 })
    inbound.post('/hooks/a', async ({ body }) => `read ${String(body)}`)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { socket, answer } = await begin(t, app, `${POST}Content-Length: 2\r\n\r\n{`)
  await until(() => reached.requests === 1)
  const closing = app.close()
  socket.write('}')
  t.match(await answer, /^HTTP\/1\.1 200 [^]*read \{\}$/)
  await closing
})

/** A request over HTTP/2 whose body has no end. */
function beginStream(session: ClientHttp2Session, headers: Record<string, string>) {
  const stream = session.request(
    { ':path': '/hooks/a', 'content-type': 'application/json', ...headers },
    { endStream: false },
  )
  stream.on('error', () => {})
  stream.write('{')
  return once(stream, 'response').then(([answer]) => answer[':status'] as number)
}

t.test(
  'over HTTP/2 a host closes as well, whatever its senders leave open',
  { timeout: 60_000 },
  async (t) => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => void warnings.push(message)
    process.on('warning', onWarning)
    t.teardown(() => process.off('warning', onWarning))
    const reached = { requests: 0, verifying: 0 }
    const { app, log } = await hostOf(
      t,
      {
        a: {
          path: '/hooks/a',
          publishAs: 'a',
          verify: () => true,
          respond: ({ method }) => (method === 'GET' ? { body: 'hello' } : null),
        },
      },
      { before: counting(reached), http2: true },
    )
    await app.listen({ port: 0, host: '127.0.0.1' })
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const open = (settings = {}) => {
      const session = connectHttp2(url, { settings })
      session.on('error', () => {})
      t.teardown(() => session.destroy())
      return session
    }
    await once(open(), 'connect')
    // None of them reads the body of its answer, so that none ends its side of the connection.
    const stalled = open()
    const half = beginStream(stalled, { ':method': 'POST', 'content-length': '100' })
    const other = beginStream(stalled, { ':method': 'POST' })
    t.equal(await beginStream(open(), { ':method': 'GET' }), 200)
    const deaf = beginStream(open({ initialWindowSize: 0 }), { ':method': 'POST' })
    await until(() => reached.requests === 4)

    await app.close()
    t.strictSame(await Promise.all([half, other, deaf]), [408, 408, 408])
    t.equal(log.filter(({ reason }) => /the host closes/.test(reason ?? '')).length, 3)
    t.strictSame(warnings, [])
  },
)
