import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import t, { type Test } from 'tap'
import { createAddressFilter } from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import { createFetch } from '../../../../packages/webhooks/src/outbound/http/fetch.ts'
import type { PostSettings } from '../../../../packages/webhooks/src/outbound/http/post.ts'
import { listening } from '../../../support/listening.ts'

const tls = (name: string) =>
  readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url), 'utf8')

/** A provider at receiver.test, which this machine's resolver does not know. */
async function providerOf(t: Test, answer: RequestListener): Promise<number> {
  const server = createServer({ key: tls('receiver-key'), cert: tls('receiver') }, answer)
  return listening(t, server)
}

function opened(t: Test, settings: Partial<PostSettings> = {}) {
  const fetch = createFetch({
    timeoutMs: 60_000,
    userAgent: 'test',
    isBlocked: createAddressFilter(['127.0.0.0/8']),
    ca: tls('authority'),
    lookup: (_hostname, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]),
    ...settings,
  })
  t.teardown(() => fetch.close())
  return fetch
}

const urlOf = (port: number, host = 'receiver.test') => new URL(`https://${host}:${port}/key?a=1`)

t.test(
  'public keys of a provider are fetched, with a JSON request if its API needs one',
  async (t) => {
    const asked: string[] = []
    const port = await providerOf(t, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method, url, headers } = request
        asked.push(`${method} ${url} ${headers['user-agent']} ${Buffer.concat(chunks).toString()}`)
        response.end('a key')
      })
    })
    const fetch = opened(t)
    t.strictSame(await fetch.send({ url: urlOf(port), method: 'GET' }), {
      statusCode: 200,
      body: 'a key',
    })
    await fetch.send({ url: urlOf(port), method: 'POST', json: '{"kid":"1"}' })
    t.strictSame(asked, ['GET /key?a=1 test ', 'POST /key?a=1 test {"kid":"1"}'])
  },
)

t.test('a redirect is not followed', async (t) => {
  const port = await providerOf(t, (_request, response) => {
    response.writeHead(302, { location: 'https://127.0.0.1/' }).end()
  })
  t.equal((await opened(t).send({ url: urlOf(port), method: 'GET' })).statusCode, 302)
})

t.test('an answer that is too long, or too slow, is refused', async (t) => {
  const long = await providerOf(t, (_request, response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const more = (): void => {
      while (response.write(chunk));
      response.once('drain', more)
    }
    more()
  })
  await t.rejects(opened(t).send({ url: urlOf(long), method: 'GET' }), { message: /262144 bytes/ })
  const slow = await providerOf(t, (_request, response) => void response.write('x'))
  await t.rejects(opened(t, { timeoutMs: 300 }).send({ url: urlOf(slow), method: 'GET' }), {
    name: 'TimeoutError',
  })
})

t.test('addresses and certificates are checked as for deliveries', async (t) => {
  const port = await providerOf(t, (_request, response) => void response.end('inside'))
  const guarded = opened(t, { isBlocked: createAddressFilter([]) })
  const blocked = { code: 'SVC_WEBHOOKS_BLOCKED' }
  await t.rejects(guarded.send({ url: urlOf(port), method: 'GET' }), blocked)
  await t.rejects(guarded.send({ url: urlOf(port, '127.0.0.1'), method: 'GET' }), blocked)
  await t.rejects(opened(t).send({ url: urlOf(port, 'other.test'), method: 'GET' }), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
})
