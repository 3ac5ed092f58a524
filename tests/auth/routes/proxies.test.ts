// promise: Another service gets the decision of the guard about a key, and a proxy about a request
/** Forward auth behind the files of docs/keys/other-services-and-proxies.md. A proxy that is not installed is skipped. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test as Tap } from 'tap'
import { generateKey } from '../../../packages/auth/src/key-format.ts'
import { freePort } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

const PAGE = join(import.meta.dirname, '../../../docs/keys/other-services-and-proxies.md')
const page = readFileSync(PAGE, 'utf8')

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

interface Addresses {
  proxy: number
  host: number
  orders: number
}

/** A file of the page, with the addresses of this test. */
function fileOf(name: string, { host, orders }: Addresses): string {
  const [, block] = new RegExp(`\`\`\`[a-z]+\\n(# ${name}\\n[^]*?)\`\`\``).exec(page) ?? []
  if (block === undefined)
    throw new Error(`docs/keys/other-services-and-proxies.md has no file ${name}`)
  return block
    .replaceAll('orders:8080', `127.0.0.1:${orders}`)
    .replaceAll('host:3000', `127.0.0.1:${host}`)
}

interface Proxy {
  isInstalled: boolean
  /** Writes the configuration, and returns the command. */
  prepare: (folder: string, addresses: Addresses) => [string, ...string[]]
}

const PROXIES: Record<string, Proxy> = {
  nginx: {
    isInstalled: spawnSync('nginx', ['-v']).status === 0,
    prepare(folder, addresses) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join('\n')
      const config = fileOf('nginx.conf', addresses)
        .replace('listen 80;', `listen 127.0.0.1:${addresses.proxy};`)
        .replace('http {', `http { access_log off; ${temporary}`)
      const own = `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;`
      writeFileSync(join(folder, 'nginx.conf'), own + config)
      return ['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
    },
  },
  Caddy: {
    isInstalled: spawnSync('caddy', ['version']).status === 0,
    prepare(folder, addresses) {
      const config = fileOf('Caddyfile', addresses).replace(
        ':80 {',
        `http://:${addresses.proxy} {\n\tbind 127.0.0.1`,
      )
      const own = '{\n\tadmin off\n}\n'
      writeFileSync(join(folder, 'Caddyfile'), own + config)
      return ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
    },
  },
}

async function startProxy(t: Tap, { prepare }: Proxy, host: number, orders: number) {
  const port = Number(await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'))
  const [command, ...args] = prepare(folder, { proxy: port, host, orders })
  const env = { PATH: process.env['PATH'], HOME: folder }
  const proxy = spawn(command, args, { stdio: 'ignore', env })
  const ended = new Promise((resolve) => proxy.once('exit', resolve))
  t.teardown(async () => {
    proxy.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true })
  })
  await until(() => {
    if (proxy.exitCode !== null) throw new Error(`${command} does not take its configuration`)
    return answerOf(port, 'GET', '/api/ping').catch(() => undefined)
  })
  return port
}

/** The target as it is: `fetch` would resolve its dot segments. */
function answerOf(
  port: number,
  method: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; head: string }> {
  const fields = { host: 'orders', connection: 'close', ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').on('error', reject)
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
    text(socket).then((answer) => {
      const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
      resolve({ status: Number(head.split(' ')[1]), body, head: head.toLowerCase() })
    }, reject)
  })
}

const forged = {
  'x-svc-user': 'somebody',
  'x-svc-tenant': 'other',
  'x-svc-scopes': 'admin',
  'x-svc-refusal': 'none',
  'x-forwarded-method': 'GET',
  'x-forwarded-uri': '/api/open',
}

for (const [name, proxy] of Object.entries(PROXIES)) {
  const skip = proxy.isInstalled ? false : `${name} is not installed`

  const start = async (t: Tap, fastify = {}) => {
    const made = await startHost(t, {
      fastify,
      auth: {
        scopes: ['orders:write'],
        protectedPaths: ['/api'],
        excludePaths: ['/api/open', '/orders/*'],
        rateLimit: { maxAttempts: 1, windowMs: 60_000, blockDurationMs: 60_000 },
      },
      core: {
        errorBody: ({ code, message }) => ({ code, message, note: 'größer als "ü" 𝄞' }),
      },
    })
    await made.app.listen({ port: 0, host: '127.0.0.1' })
    const seen: IncomingMessage[] = []
    const orders = createServer((request, response) => {
      seen.push(request)
      response.statusCode = Number(request.headers['x-answer'] ?? 200)
      response.end(`orders ${request.method}`)
    })
    t.teardown(() => void orders.close())
    const { port: host } = made.app.server.address() as AddressInfo
    const port = await startProxy(t, proxy, host, await listening(orders))
    return { ...made, seen, port }
  }
  const passed = { status: 200, body: /orders/ }

  t.test(`${name} passes on what the guard lets through, by its path`, { skip }, async (t) => {
    const { makeKey, seen, port } = await start(t)
    const { key, userId } = await makeKey({ tenant: 'acme', scopes: ['read'] })
    const own = { 'x-api-key': key }
    t.match(await answerOf(port, 'GET', '/api/orders?a=%2F', { ...own, ...forged }), passed)
    t.match(seen.at(-1), {
      url: '/api/orders?a=%2F',
      headers: { 'x-svc-user': userId, 'x-svc-tenant': 'acme', 'x-svc-scopes': 'read' },
    })
    const bearer = { authorization: `Bearer ${key}` }
    t.match(await answerOf(port, 'GET', '/api/orders', bearer), passed)
    t.match(await answerOf(port, 'GET', '/api/open', forged), passed)
    for (const header of ['x-svc-user', 'x-svc-tenant', 'x-svc-scopes']) {
      t.notOk(seen.at(-1)?.headers[header], `a client sets no ${header} itself`)
    }

    const count = seen.length
    t.match(await answerOf(port, 'GET', '/api/orders', forged), {
      status: 401,
      head: /www-authenticate: bearer/,
    })
    t.equal((await answerOf(port, 'POST', '/api/orders', own)).status, 403)
    for (const target of ['/api/open/../x', '/api//open', '/api/open%2f..%2fx', '/x/../api/x']) {
      t.equal((await answerOf(port, 'GET', target)).status, 401, target)
    }
    t.equal(seen.length, count, 'nothing else reached the server')
    for (const answer of ['401', '403', '429', '500', '503']) {
      const own = await answerOf(port, 'GET', '/api/open', { 'x-answer': answer })
      t.match(own, { status: Number(answer), body: /orders GET/ }, 'of the server itself')
    }
  })

  t.test(`${name} asks for the scope of a location`, { skip }, async (t) => {
    const { makeKey, seen, port } = await start(t)
    const { key } = await makeKey({ scopes: ['orders:write'] })
    const { key: other } = await makeKey({ scopes: ['read', 'write'] })
    for (const method of ['GET', 'POST']) {
      const answer = await answerOf(port, method, '/orders/1', { 'x-api-key': key })
      t.match(answer, { status: 200, body: new RegExp(`orders ${method}`) })
    }
    const count = seen.length
    for (const target of ['/orders/1', '/orders/1?scopes=read', '/orders/../orders/1']) {
      const answer = await answerOf(port, 'GET', target, { 'x-api-key': other, ...forged })
      t.equal(answer.status, 403, target)
    }
    t.equal((await answerOf(port, 'GET', '/orders/1')).status, 401)
    t.equal(seen.length, count, 'nothing else reached the server')
  })

  t.test(`${name} passes on refusals with their status and body`, { skip }, async (t) => {
    const { app, makeKey, seen, port } = await start(t)
    const refusal = async (key: string, method = 'GET') => {
      const { status, head, body } = await answerOf(port, method, '/api/orders', {
        'x-api-key': key,
      })
      // Caddy may send it in chunks.
      const { code, note } = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))
      t.equal(note, 'größer als "ü" 𝄞')
      t.match(head, /content-type: application\/json/)
      return [status, code, /^retry-after: (\d+)/m.exec(head) !== null]
    }
    const { key: reader } = await makeKey({ scopes: ['read'] })
    const { key: limited } = await makeKey({ limits: [{ limit: 1, perSeconds: 600 }] })
    t.match(await answerOf(port, 'GET', '/api/orders', { 'x-api-key': limited }), passed)
    const count = seen.length
    t.same(await refusal('nonsense'), [401, 'SVC_AUTH_INVALID_KEY', false])
    t.same(await refusal(reader, 'POST'), [403, 'SVC_AUTH_INSUFFICIENT_SCOPE', false])
    t.same(await refusal(limited), [429, 'SVC_AUTH_RATE_LIMITED', true])
    const wrong = `${reader.slice(0, 8)}${'x'.repeat(34)}`
    t.same(await refusal(wrong), [401, 'SVC_AUTH_INVALID_KEY', false])
    t.same(await refusal(reader), [429, 'SVC_AUTH_BLOCKED', true])
    await app.svc.database.query('ALTER TABLE svc."__svc.auth.api_keys" RENAME TO gone')
    t.same(await refusal(generateKey()), [503, 'SVC_AUTH_UNAVAILABLE', true])
    t.equal(seen.length, count, 'none of them reached the server')
    await app.close()
    t.match(await answerOf(port, 'GET', '/api/orders'), { status: 502 })
  })
}
