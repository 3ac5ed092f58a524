/**
 * The programs with which the guides of the site begin, run unchanged. Those of one folder run in one process,
 * since most of the time of a start is reading the packages.
 */
import { createHmac } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { builtPage } from '../console/support/built-page.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'
import { folderOf, freePort, runProgram, type Program } from '../support/program.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const ENVIRONMENT = {
  BOOTSTRAP_KEY: 'at-least-16-characters',
  GITHUB_SECRET: 'a secret of the test',
  ACME_SECRET: 'a secret of the test',
  ZOOM_SECRET_TOKEN: 'a secret of the test',
  STRIPE_acme: 'whsec_a-secret-of-the-test',
}

/** Programs that other tests run, since they need more than a database. */
const ELSEWHERE = new Set([
  'import-keys.ts',
  'register-auth.ts',
  'import-unkey.ts',
  'import-better-auth.ts',
  'limits.ts',
  'receiver.ts',
  'orders.test.ts',
  'reader.ts', // below
])

/** The programs of each folder by their names, which their first lines have. */
const folders: Record<string, Record<string, string>> = {}
for (const page of globSync('*/*.md', { cwd: DOCS, exclude: ['reference/**'] }).toSorted()) {
  const blocks = readFileSync(join(DOCS, page), 'utf8').matchAll(
    /```ts\n(\/\/ (\S+\.ts): .*?)```/gs,
  )
  for (const [, text = '', name = ''] of blocks) {
    const folder = (folders[dirname(page)] ??= {})
    if (name in folder) throw new Error(`two programs of ${dirname(page)} are called ${name}`)
    if (!ELSEWHERE.has(name)) folder[name] = text
  }
}

type Answer = { status: number; body: any } // oxlint-disable-line typescript/no-explicit-any
type Ask = (path: string, body?: object, key?: string | null) => Promise<Answer>

/** What a program does, beyond its start. */
const CHECKS: Record<string, (t: Test, ask: Ask, program: Program, at: string) => Promise<void>> = {
  async 'guard.ts'(t, ask) {
    t.match(await ask('/health', undefined, null), { status: 200 })
    t.match(await ask('/orders', undefined, null), { status: 401 })
    t.match(await ask('/products', undefined, null), { status: 200, body: { prices: 'list' } })
    t.match(await ask('/products'), { status: 200, body: { prices: 'yours' } })
    const [plain, billing] = await keysOf(ask, {}, { scopes: ['read', 'billing:read'] })
    t.match(await ask('/orders', undefined, plain), { status: 200, body: { for: String } })
    t.match(await ask('/invoices', undefined, plain), { status: 403 })
    t.match(await ask('/invoices', undefined, billing), { status: 200 })
  },
  async 'customers.ts'(t, ask) {
    const customer = { email: 'bea@example.com', name: 'Bea' }
    const { body } = await ask('/customers', customer)
    t.match(await ask('/_auth/me', undefined, body.key), { body: { label: 'first key' } })
    t.match(await ask('/customers', customer), { status: 409 })
  },
  async 'scopes.ts'(t, ask) {
    const { body: user } = await ask('/_auth/users', { email: 'ada@example.com', name: 'Ada' })
    const made = await ask(`/users/${user.id}/keys-of-both-kinds`, {})
    const [role, namespace] = made.body.map(({ key }: { key: string }) => key)
    t.match(await ask('/invoices', undefined, role), { status: 200 })
    t.match(await ask('/invoices', undefined, namespace), { status: 403 })
    t.match(await ask('/projects', undefined, namespace), { status: 200 })
  },
  async 'tenants.ts'(t, ask) {
    const { body } = await ask('/sign-up', { tenant: 'acme', email: 'ada@acme.example' })
    t.match(await ask('/projects', undefined, body.key), { body: { of: 'acme' } })
    t.match(await ask('/settings/keys', undefined, body.key), { body: { length: 1 } })
  },
  async 'expiry.ts'(t, ask) {
    const [key] = await keysOf(ask, {})
    const { body } = await ask('/rotate', {}, key)
    t.match(body, { rotated: true, key: String })
    t.match(await ask('/_auth/me', undefined, body.key), { body: { replaces: String } })
    t.match(await ask('/_auth/me', undefined, key), { status: 200 }, 'the old one still works')
  },
  async 'plans.ts'(t, ask) {
    const { body: user } = await ask('/_auth/users', {
      email: 'ada@acme.example',
      name: 'Ada',
      tenant: 'acme',
    })
    const keys = `/_auth/users/${user.id}/keys`
    for (let n = 0; n < 3; n++) t.match(await ask(keys, {}), { status: 201 })
    t.match(await ask(keys, {}), { status: 409 })
    t.match(await ask('/customers/acme/upgrade', {}), { status: 200 })
    t.match(await ask(keys, {}), { status: 201 })
  },
  async 'usage.ts'(t, ask) {
    const [key] = await keysOf(ask, {})
    await ask('/usage', undefined, key)
    t.match(await ask('/usage', undefined, key), { body: { requests: Number, days: Array } })
  },
  async 'lockout.ts'(t, ask) {
    for (let n = 0; n < 5; n++) {
      t.match(await ask('/orders', undefined, 'a-wrong-key-of-16'), { status: 401 })
    }
    t.match(await ask('/orders', undefined, 'a-wrong-key-of-16'), { status: 429 })
  },
  async 'audit.ts'(t, ask) {
    const { body: user } = await ask('/_auth/users', {
      email: 'ada@acme.example',
      name: 'Ada',
      tenant: 'acme',
    })
    await ask(`/_auth/users/${user.id}/keys`, {})
    const { body } = await ask('/tenants/acme/changes')
    t.match(body, [{ action: 'key.create', actor: { kind: 'bootstrap' } }])
  },
  async 'keys-host.ts'(t, ask) {
    const [key] = await keysOf(ask, {})
    t.match(await ask('/_auth/verify', { key }), {
      body: { valid: true, scopes: ['read', 'write'] },
    })
    t.match(await ask('/_auth/verify', { key, scopes: ['admin'] }), { body: { valid: false } })
  },
  async 'publish.ts'(t, ask) {
    t.match(await ask('/orders', { item: 'book' }), { status: 201, body: { item: 'book' } })
  },
  async 'handle.ts'(_t, ask, program) {
    await ask('/orders', { id: 7 })
    await program.says(/"order":\{"id":7\},"attempt":1,"msg":"sent out"/)
    await until(
      async () => (await ask('/orders/count')).body.count,
      (count) => count === 1,
    )
  },
  async 'register.ts'(t, ask) {
    const { body } = await ask('/customers/acme/webhooks', { url: 'https://acme.example/hook' })
    t.match(body, { id: String, secret: /^whsec_/ })
  },
  async 'secrets.ts'(t, ask) {
    const webhook = { url: 'https://acme.example/hook', events: ['order.created'] }
    const { body } = await ask('/_webhooks', webhook)
    const rotated = await ask(`/webhooks/${body.id}/new-secret`, {})
    t.match(rotated.body, { secret: /^whsec_/ })
    t.not(rotated.body.secret, body.secret)
  },
  async 'filter.ts'(t, ask) {
    t.match(await ask('/large-orders', {}), { status: 200, body: [] })
    t.match(await ask('/_webhooks'), { body: [{ filter: { payload: Object } }] })
  },
  async 'settings.ts'(t, ask) {
    t.match(await ask('/webhooks-of-acme', {}), { status: 200 })
    t.match(await ask('/_webhooks'), {
      body: [{ headers: { Authorization: '***' }, timeoutMs: 5000, fields: { length: 3 } }],
    })
  },
  async 'transforms.ts'(t, ask) {
    t.match(await ask('/webhooks-of-two-kinds', {}), { body: { registered: 2 } })
  },
  async 'order.ts'(t, ask) {
    t.match(await ask('/webhooks-with-bounds', {}), { body: { length: 2 } })
  },
  async 'deliveries.ts'(t, ask) {
    t.match(await ask('/failures/acme'), { status: 200, body: [] })
  },
  async 'recover.ts'(t, ask) {
    const webhook = { url: 'https://acme.example/hook', events: ['order.created'] }
    const { body } = await ask('/_webhooks', webhook)
    t.match(await ask(`/webhooks/${body.id}/recover`, {}), { body: { deliveries: 0 } })
  },
  async 'pause.ts'(t, ask) {
    t.match(await ask('/stop', {}), { status: 200, body: { paused: true } })
    t.match(await ask('/go-on', {}), { status: 200 })
  },
  async 'network.ts'(t, ask) {
    t.match(await ask('/_webhooks/egress'), { status: 200 })
    const refused = { url: 'http://127.0.0.1/hook', events: ['order.created'] }
    t.match(await ask('/_webhooks', refused), { status: 400 })
  },
  async 'events.ts'(t, ask) {
    t.match(await ask('/orders', {}), { status: 200, body: { duplicate: false } })
    t.match(await ask('/_webhooks/events'), { body: [{ example: { id: 42 } }, {}] })
  },
  async 'inbound.ts'(_t, _ask, program, at) {
    const body = '{"ref":"refs/heads/main"}'
    await fetch(`${at}/hooks/github`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': '1',
        'x-hub-signature-256': `sha256=${hmacOf(body)}`,
      },
    })
    await program.says(/"ref":"refs\/heads\/main".*"msg":"pushed"/)
  },
  async 'own-source.ts'(t, _ask, _program, at) {
    const body = '{"id":"1","type":"paid"}'
    const post = async (signature: string) => {
      const headers = { 'content-type': 'application/json', 'x-acme-signature': signature }
      const answer = await fetch(`${at}/hooks/acme`, { method: 'POST', body, headers })
      return { status: answer.status, body: await answer.json() }
    }
    t.match(await post('sha256=00'), { status: 401 })
    t.match(await post(`sha256=${hmacOf(body)}`), { status: 200, body: { status: 'accepted' } })
    t.match(await post(`sha256=${hmacOf(body)}`), { body: { status: 'duplicate' } })
  },
  async 'zoom.ts'(t, _ask, _program, at) {
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}'
    const second = String(Math.floor(Date.now() / 1000))
    const answer = await fetch(`${at}/hooks/zoom`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-zm-request-timestamp': second,
        'x-zm-signature': `v0=${hmacOf(`v0:${second}:${body}`)}`,
      },
    })
    t.same(await answer.json(), { plainToken: 'abc', encryptedToken: hmacOf('abc') })
  },
  async 'accounts.ts'(t, ask) {
    t.match(await ask('/hooks/acme/stripe', {}), { status: 401 })
    t.match(await ask('/hooks/nobody/stripe', {}), { status: 500 }, 'no secret of that name')
  },
  async 'inbound-log.ts'(t, ask) {
    t.match(await ask('/replay-failed', {}), { status: 200, body: { failed: 0 } })
  },
  async 'providers.ts'(t, _ask, program, at) {
    const body = '{"ref":"refs/heads/main"}'
    const answer = await fetch(at, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': '1',
        'x-hub-signature-256': `sha256=${hmacOf(body)}`,
      },
    })
    t.equal(answer.status, 204)
    await program.says(/github\.push/)
  },
  async 'console.ts'(t, _ask, _program, at) {
    t.equal((await fetch(`${at}/console/`)).status, 200)
  },
  async 'portal.ts'(t, _ask, _program, at) {
    const headers = { 'x-api-key': ENVIRONMENT.BOOTSTRAP_KEY }
    const { status } = await fetch(`${at}/webhooks`, { headers, redirect: 'manual' })
    t.equal(status, 302)
  },
  async 'express-app.ts'(t, ask) {
    t.match(await ask('/orders', { id: 1 }), { status: 401 })
  },
  async 'core.ts'(t, ask) {
    t.match(await ask('/visits/home'), { body: { visits: 1 } })
    t.match(await ask('/visits/home'), { body: { visits: 2 } })
  },
}

const hmacOf = (text: string) =>
  createHmac('sha256', 'a secret of the test').update(text).digest('hex')

/** Keys with these fields, of a new user. */
async function keysOf(ask: Ask, ...fields: object[]): Promise<string[]> {
  const { body: user } = await ask('/_auth/users', { email: 'ada@example.com', name: 'Ada' })
  const keys = []
  for (const one of fields) keys.push((await ask(`/_auth/users/${user.id}/keys`, one)).body.key)
  return keys
}

function askAt(at: string): Ask {
  return async (path, body, key = ENVIRONMENT.BOOTSTRAP_KEY) => {
    const answer = await fetch(at + path, {
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    return { status: answer.status, body: isJson ? JSON.parse(text) : text }
  }
}

/** Starts programs in one process, each with a database and a port of its own. */
async function start(t: Test, programs: Record<string, string>) {
  const environments: Record<string, { DATABASE_URL: string; PORT: string }> = {}
  for (const name of Object.keys(programs)) {
    environments[name] = { DATABASE_URL: await freshDatabase(t), PORT: await freePort() }
  }
  const all = `for (const [name, environment] of Object.entries(${JSON.stringify(environments)})) {
    Object.assign(process.env, environment)
    await import('./' + name)
    console.log('has started: ' + name)
  }`
  const folder = await folderOf(t, { ...programs, 'all.ts': all })
  const process = runProgram(t, folder, 'all.ts', ENVIRONMENT)
  const at = (name: string) => `http://127.0.0.1:${environments[name]!.PORT}`
  return { process, at }
}

for (const [folder, programs] of Object.entries(folders)) {
  if (Object.keys(programs).length === 0) continue
  t.test(`the programs of ${folder} start, and do what their guides say`, async (t) => {
    if (folder === 'console') await builtPage()
    const { process, at } = await start(t, programs)
    for (const name of Object.keys(programs)) {
      await t.test(name, async (t) => {
        await process.says(new RegExp(`has started: ${name.replaceAll('.', '\\.')}`))
        await CHECKS[name]?.(t, askAt(at(name)), process, at(name))
      })
    }
  })
}

t.test('the reader of the feed prints what a host publishes', async (t) => {
  const { 'publish.ts': publish = '' } = folders['webhooks'] ?? {}
  const { process, at } = await start(t, { 'publish.ts': publish })
  await process.says(/has started/)
  const [, text = ''] =
    /```ts\n(\/\/ reader\.ts: .*?)```/s.exec(
      readFileSync(join(DOCS, 'webhooks/feed.md'), 'utf8'),
    ) ?? []
  const reader = runProgram(t, await folderOf(t, { 'reader.ts': text }), 'reader.ts', {
    URL: at('publish.ts'),
  })
  await askAt(at('publish.ts'))('/orders', { item: 'book' })
  await reader.says(/order\.created \{ id: 1, item: 'book' \}/)
})

t.test('each check is of a program that there is', async (t) => {
  const names = Object.values(folders).flatMap((programs) => Object.keys(programs))
  t.same(
    Object.keys(CHECKS).filter((name) => !names.includes(name)),
    [],
  )
})
