// promise: No protected handler runs without a valid key, whatever the spelling of the path and the options of the router
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import httpProxy from '@fastify/http-proxy'
import multipart from '@fastify/multipart'
import rateLimit from '@fastify/rate-limit'
import staticFiles from '@fastify/static'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fc from 'fast-check'
import t, { type Test as Tap } from 'tap'
import { fuzz } from '../../fuzz/fuzz.ts'
import { startHost } from '../support/host.ts'
import { rawRequest } from '../support/raw-request.ts'
import { listening } from '../../support/listening.ts'

const SECRET = 'what only holders of a key may read'

/** `/open` is excluded, and everything else is not. */
async function folderOf(t: Tap): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'svc-static-'))
  t.teardown(() => rm(root, { recursive: true }))
  for (const name of ['private', 'open']) await mkdir(join(root, name))
  await writeFile(join(root, 'private', 'secret.txt'), SECRET)
  await writeFile(join(root, 'open', 'hello.txt'), 'hello')
  return root
}

/** Spellings that a router, a file system or a proxy may read as one path. */
const spelling = fc
  .tuple(
    fc.constantFrom('/private', '/open/../private', '/open/%2e%2e/private', '/open/..%2fprivate'),
    fc.constantFrom('/', '//', '/./', '%2f', '\\', '%5c', '/%2e/', ';a=b/', '/x/../'),
    fc.constantFrom('secret.txt', 'secret%2etxt', 's%65cret.txt', 'secret.txt%00', 'secret.txt/'),
    fc.constantFrom('', '?a', '#b', '%20', '%3f', '..', ';', '/.'),
    fc.constantFrom('', 'http://localhost', 'http://other', '/open/..', '/.', '/open%2f..'),
    fc.boolean(),
  )
  .map(([folder, slash, name, end, start, isUpper]) => {
    const path = `${folder}${slash}${name}${end}`
    return start + (isUpper ? path.toUpperCase() : path)
  })

t.test('no spelling of a path leads to a protected file of @fastify/static', async (t) => {
  const root = await folderOf(t)
  const { app, makeKey } = await startHost(t, {
    auth: { excludePaths: ['/open/*'] },
    after: async (app) => {
      await app.register(staticFiles, { root })
    },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { key } = await makeKey({ scopes: ['read'] })
  const read = async (target: string, headers: [string, string][] = []) =>
    rawRequest(app, { method: 'GET', target, headers })
  t.match((await read('/private/secret.txt', [['x-api-key', key]])).text, SECRET)
  t.match((await read('/open/hello.txt')).text, 'hello')
  await fuzz(
    t,
    spelling,
    async (target) => {
      const { text } = await read(target)
      if (text.includes(SECRET)) throw new Error(`${target} leads to it`)
    },
    { longestMs: Infinity },
  )
})

t.test('without a key no request passes @fastify/http-proxy', async (t) => {
  const reached: string[] = []
  const upstream = createServer((request, reply) => {
    reached.push(request.url ?? '')
    reply.end('upstream')
  })
  const port = await listening(t, upstream)
  const { app, makeKey } = await startHost(t, {
    auth: { excludePaths: ['/api/open/*'] },
    after: async (app) => {
      await app.register(httpProxy, {
        upstream: `http://127.0.0.1:${port}`,
        prefix: '/api',
      })
    },
  })
  // Ends before the host, whose proxy waits for its connections.
  t.teardown(() => {
    upstream.closeAllConnections()
    upstream.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { key } = await makeKey({ scopes: ['read'] })
  const ask = async (method: 'GET' | 'POST', url: string, headers = {}) =>
    (await app.inject({ method, url, headers })).statusCode
  t.equal(await ask('GET', '/api/orders'), 401)
  t.equal(await ask('POST', '/api/orders'), 401)
  t.equal(await ask('POST', '/api/orders', { 'x-api-key': key }), 403, 'read is not enough')
  t.strictSame(reached, [])
  t.equal(await ask('GET', '/api/orders', { 'x-api-key': key }), 200)
  t.equal(await ask('GET', '/api/open/news'), 200)
  t.strictSame(reached, ['/orders', '/open/news'])
  reached.length = 0
  const other = fc
    .tuple(
      fc.constantFrom(
        '/api',
        '/API',
        '//api',
        '/api/',
        '/api/open/..',
        '/api/open/%2e%2e',
        '/./api',
      ),
      fc.constantFrom('/orders', '%2forders', '/%6frders', '\\orders', ';/orders', '/../orders'),
    )
    .map((parts) => parts.join(''))
  await fuzz(
    t,
    other,
    async (target) => {
      await rawRequest(app, { method: 'GET', target })
      const wrong = reached.find((path) => !path.startsWith('/open/') || path.includes('..'))
      if (wrong !== undefined) throw new Error(`${target} reached ${wrong}`)
    },
    { longestMs: Infinity },
  )
})

t.test('without a key no file of @fastify/multipart is read', async (t) => {
  let uploads = 0
  const { app, makeKey } = await startHost(t, {
    after: async (app) => {
      await app.register(multipart)
      app.post('/upload', async (request) => {
        for await (const part of request.parts()) {
          if (part.type === 'file') await part.toBuffer()
          uploads++
        }
        return {}
      })
    },
  })
  const payload = new FormData()
  payload.set('file', new Blob(['content']), 'a.txt')
  const { headers, ...body } = await bodyOf(payload)
  const upload = (key?: string) =>
    app.inject({
      method: 'POST',
      url: '/upload',
      headers: { ...headers, ...(key && { 'x-api-key': key }) },
      ...body,
    })
  t.equal((await upload()).statusCode, 401)
  t.equal(uploads, 0)
  const { key } = await makeKey({ scopes: ['write'] })
  t.equal((await upload(key)).statusCode, 200)
  t.equal(uploads, 1)
})

async function bodyOf(form: FormData) {
  const request = new Request('http://localhost', { method: 'POST', body: form })
  return {
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer()),
  }
}

t.test('the pages of @fastify/swagger-ui need a key, unless they are excluded', async (t) => {
  const documented = (excludePaths: string[]) =>
    startHost(t, {
      auth: { excludePaths },
      before: async (app) => {
        await app.register(swagger)
      },
      after: async (app) => {
        await app.register(swaggerUi)
      },
    })
  const closed = await documented([])
  for (const path of [
    '/documentation',
    '/documentation/json',
    '/documentation/static/index.html',
  ]) {
    t.equal((await closed.ask('GET', path, { key: null })).status, 401, path)
  }
  t.equal((await closed.ask('GET', '/documentation/json')).status, 200)
  const open = await documented(['/documentation', '/documentation/*'])
  t.equal((await open.ask('GET', '/documentation/json', { key: null })).status, 200)
})

t.test('@fastify/rate-limit behind the guard counts by key', async (t) => {
  const { ask, makeKey } = await startHost(t, {
    after: async (app) => {
      await app.register(rateLimit, {
        max: 2,
        timeWindow: '1 hour',
        keyGenerator: (request) => request.auth?.keyId ?? request.ip,
      })
      app.get('/limited', async () => ({}))
    },
  })
  const [first, second] = [await makeKey(), await makeKey()]
  const statusOf = async (key: string | null) => (await ask('GET', '/limited', { key })).status
  for (let i = 0; i < 5; i++) t.equal(await statusOf(null), 401)
  t.equal(await statusOf(first.key), 200)
  t.equal(await statusOf(first.key), 200)
  t.equal(await statusOf(first.key), 429)
  t.equal(await statusOf(second.key), 200, 'each key has its own count')
})
