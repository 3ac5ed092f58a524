import { createHmac } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { signed, type SignedRequest } from '@svc/testing'
import t, { type Test } from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'
import { folderOf, freePort, runProgram, type Program } from '../support/program.ts'
import { currentRun } from '../support/test-run.ts'

const folder = join(import.meta.dirname, '../../examples')
const examples = Object.fromEntries(
  globSync(`${folder}/*.ts`).map((path) => [basename(path), readFileSync(path, 'utf8')]),
)
const BOOTSTRAP_KEY = 'at-least-16-characters'

/** Starts a copy of one example, alone in a folder, on a database without tables. */
async function start(t: Test, name: string, environment: Record<string, string> = {}) {
  const copy = await folderOf(t, { [name]: examples[name]! })
  const DATABASE_URL = environment['DATABASE_URL'] ?? (await emptyDatabase(t))
  const program = runProgram(t, copy, name, { ...environment, DATABASE_URL, PORT: '0' })
  const [, port] = await program.says(/Server listening at http:\/\/127\.0\.0\.1:(\d+)/)
  return { program, url: `http://127.0.0.1:${port}` }
}

async function call(url: string, headers: Record<string, string>, body?: string) {
  const answer = await fetch(url, {
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { method: 'POST', body }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, string> }
}

async function ends(t: Test, program: Program): Promise<void> {
  t.equal(await program.end(), 0, 'ends when asked to')
}

t.test('an example is short, and imports what its first lines install alone', async (t) => {
  t.ok(Object.keys(examples).length >= 4)
  for (const [name, text] of Object.entries(examples)) {
    const [, installed = ''] = /^\/\/ {3}npm install (.*)$/m.exec(text) ?? []
    const imported = [...text.matchAll(/ from '(@[\w-]+\/[\w-]+|[^'/]+)/g)].map(([, from]) => from!)
    t.same(
      imported.filter((from) => !from.startsWith('node:') && !installed.split(' ').includes(from)),
      [],
      name,
    )
    t.ok(text.split('\n').length <= 70, `${name} has at most 70 lines`)
  }
})

t.test('api-keys.ts: a key opens what its scopes allow', async (t) => {
  const { program, url } = await start(t, 'api-keys.ts', { BOOTSTRAP_KEY })
  const bootstrap = { 'x-api-key': BOOTSTRAP_KEY }
  const ada = JSON.stringify({ email: 'ada@example.com', name: 'Ada' })
  const { body: user } = await call(`${url}/_auth/users`, bootstrap, ada)
  const scopes = JSON.stringify({ scopes: ['read', 'billing:read'] })
  const { body: key } = await call(`${url}/_auth/users/${user.id}/keys`, bootstrap, scopes)
  const own = { authorization: `Bearer ${key.key}` }
  t.match(await call(`${url}/public/prices`, {}), { status: 200 })
  t.match(await call(`${url}/orders`, {}), { status: 401 })
  t.match(await call(`${url}/orders`, own), { status: 200, body: { for: user.id } })
  t.match(await call(`${url}/orders`, own, '{}'), { status: 403 })
  t.match(await call(`${url}/invoices`, own), { status: 200 })
  await ends(t, program)
})

t.test('webhooks-out.ts: an order reaches the receiver, also after a restart', async (t) => {
  const environment = { DATABASE_URL: await emptyDatabase(t), RECEIVER_PORT: await freePort() }
  for (const id of [1, 2]) {
    const { program, url } = await start(t, 'webhooks-out.ts', environment)
    const order = { id, item: 'book' }
    t.match(await call(`${url}/orders`, {}, '{ "item": "book" }'), { status: 201, body: order })
    await program.says(new RegExp(`"payload":{"id":${id},"item":"book"},"msg":"received"`))
    t.equal((await call(`${url}/_webhooks`, {})).body.length, 1, 'one webhook')
    await ends(t, program)
  }
})

t.test('webhooks-in.ts: a signed push is handled once, another is refused', async (t) => {
  const GITHUB_SECRET = 'a secret that GitHub knows'
  const { program, url } = await start(t, 'webhooks-in.ts', { GITHUB_SECRET })
  const push = (secret: string) => signed('github', { ref: 'refs/heads/main' }, { secret })
  const send = ({ headers, payload }: SignedRequest) =>
    call(`${url}/hooks/github`, headers, payload)
  t.match(await send(push('another secret')), { status: 401 })
  const genuine = push(GITHUB_SECRET)
  t.match(await send(genuine), { status: 200, body: { status: 'accepted' } })
  t.match(await send(genuine), { status: 200, body: { status: 'duplicate' } })
  await program.says(/"attempt":1,"ref":"refs\/heads\/main","msg":"pushed"/)
  await ends(t, program)
})

t.test('metrics.ts: published events are counted, and the host is ready', async (t) => {
  const METRICS_PORT = await freePort()
  const { program, url } = await start(t, 'metrics.ts', { METRICS_PORT })
  t.match(await call(`${url}/live`, {}), { status: 200 })
  t.match(await call(`${url}/orders`, {}, '{ "id": 7 }'), { status: 201 })
  await program.says(/"order":\{"id":7\},"msg":"shipped"/)
  await until(async () => (await fetch(`${url}/ready`)).status === 200)
  const scraped = await until(
    async () => (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text(),
    (text) => text.includes('messaging_process_duration_count'),
  )
  t.match(scraped, /^messaging_client_sent_messages_total\{.*order\.created.*\} 1/m)
  t.match(scraped, /^svc_queue_waiting\{.*order\.created.*\} 0/m)
  await ends(t, program)
})

t.test('testing.ts: its tests pass', async (t) => {
  const copy = await folderOf(t, { 'testing.ts': examples['testing.ts']! })
  const { server } = await currentRun()
  const program = runProgram(t, copy, 'testing.ts', {
    DATABASE_URL: server,
    SVC_TESTING_TIMEOUT_MS: '120000',
  })
  t.equal(await program.ended(), 0)
  t.match(program.printed, /pass 3\b/)
})

t.test('receiver.ts: a signed delivery is handled once, another is refused', async (t) => {
  const copy = await folderOf(t, { 'receiver.ts': examples['receiver.ts']! })
  const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const program = runProgram(t, copy, 'receiver.ts', { WEBHOOK_SECRET, PORT: '0' })
  const [, port] = await program.says(/listening \{.* port: (\d+)/)
  const body = '{"event":"order.created","payload":{"id":1},"deliveryId":"a"}'
  const timestamp = String(Math.floor(Date.now() / 1000))
  const mac = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.${body}`).digest('hex')
  const deliver = async (signature: string) => {
    const headers = { 'x-svc-timestamp': timestamp, 'x-svc-signature': signature }
    return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status
  }
  t.equal(await deliver(`sha256=${'0'.repeat(64)}`), 401)
  t.equal(await deliver(`sha256=${mac}`), 204)
  t.equal(await deliver(`sha256=${mac}`), 204)
  await program.says(/order\.created/)
  t.equal(program.printed.split('order.created').length, 2, 'handled once')
  await ends(t, program)
})
