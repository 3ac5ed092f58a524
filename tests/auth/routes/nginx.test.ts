/** Forward auth behind the configuration of nginx that the guide shows. Skipped without nginx. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test as Tap } from 'tap'
import { freePort } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

const hasNginx = spawnSync('nginx', ['-v']).status === 0
const GUIDE = join(import.meta.dirname, '../../../docs/keys/other-services.md')

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The two locations of the guide, with the addresses of this test. */
function locations(host: number, orders: number): string {
  const [, block = ''] = /```nginx\n([^`]*)```/.exec(readFileSync(GUIDE, 'utf8')) ?? []
  return block
    .replace('http://orders', `http://127.0.0.1:${orders}`)
    .replace('http://host/', `http://127.0.0.1:${host}/`)
}

async function startNginx(t: Tap, host: number, orders: number): Promise<number> {
  const port = Number(await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'svc-nginx-'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  const config = `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
    events {} http { access_log off; ${temporary}
    server { listen 127.0.0.1:${port}; ${locations(host, orders)} } }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => nginx.once('exit', resolve))
  t.teardown(async () => {
    nginx.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true })
  })
  await until(() => answerOf(port, 'GET', '/api/ping').catch(() => undefined))
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

t.test(
  'nginx with the configuration of the guide passes on what the guard lets through',
  { skip: hasNginx ? false : 'nginx is not installed' },
  async (t) => {
    const { app, makeKey } = await startHost(t, {
      auth: { protectedPaths: ['/api'], excludePaths: ['/api/open'] },
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const seen: IncomingMessage[] = []
    const orders = createServer((request, response) => {
      seen.push(request)
      response.end('orders')
    })
    t.teardown(() => void orders.close())
    const { port: host } = app.server.address() as AddressInfo
    const port = await startNginx(t, host, await listening(orders))

    const user = await app.svc.auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
    const { key } = await makeKey({ userId: user.id, scopes: ['read'] })
    const own = { 'x-api-key': key }
    const forged = {
      'x-svc-user': 'somebody',
      'x-svc-tenant': 'other',
      'x-svc-scopes': 'admin',
      'x-forwarded-method': 'GET',
      'x-forwarded-uri': '/api/open',
    }
    const passed = { status: 200, body: /orders/ }
    t.match(await answerOf(port, 'GET', '/api/orders?a=%2F', { ...own, ...forged }), passed)
    t.match(seen.at(-1), {
      url: '/api/orders?a=%2F',
      headers: { 'x-svc-user': user.id, 'x-svc-tenant': 'acme', 'x-svc-scopes': 'read' },
    })
    const bearer = { authorization: `Bearer ${key}` }
    t.match(await answerOf(port, 'GET', '/api/orders', bearer), passed)
    t.match(await answerOf(port, 'GET', '/api/open', forged), passed)
    t.notMatch(seen.at(-1)?.headers, { 'x-svc-user': /./ }, 'a client names no user itself')

    const count = seen.length
    t.match(await answerOf(port, 'GET', '/api/orders', forged), {
      status: 401,
      head: /www-authenticate: bearer/,
    })
    t.equal((await answerOf(port, 'GET', '/api/orders', { 'x-api-key': 'svc_none' })).status, 401)
    t.equal((await answerOf(port, 'POST', '/api/orders', own)).status, 403)
    for (const target of ['/api/open/../x', '/api//open', '/api/open%2f..%2fx', '/x/../api/x']) {
      t.equal((await answerOf(port, 'GET', target)).status, 401, target)
    }
    t.equal((await answerOf(port, 'GET', '/auth', own)).status, 404, 'not from outside')
    const { key: limited } = await makeKey({ limits: [{ limit: 1, perSeconds: 600 }] })
    t.match(await answerOf(port, 'GET', '/api/orders', { 'x-api-key': limited }), passed)
    const over = await answerOf(port, 'GET', '/api/orders', { 'x-api-key': limited })
    t.equal(over.status, 500, 'nginx answers so in place of a 429')
    t.equal(seen.length, count + 1, 'nothing else reached the service')
  },
)
