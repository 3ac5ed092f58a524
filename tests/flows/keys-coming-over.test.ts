/** Applications with keys of their own move over by the scripts of the guides. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { folderOf, runProgram } from '../support/program.ts'
import { startHost, type Host, type HostOptions } from '../auth/support/host.ts'
import { queryOn } from '../support/session.ts'

const guide = (name: string) =>
  readFileSync(new URL(`../../docs/keys/${name}.md`, import.meta.url), 'utf8')

/** The block of a guide that begins with the name of a file. */
function programOf(text: string, file: string): string {
  const [, code] = new RegExp(`\`\`\`ts\\n(// ${file}[^]*?)\`\`\``).exec(text) ?? []
  if (code === undefined) throw new Error(`the guide has no ${file}`)
  return code
}

/** Runs a program to its end, and returns what it printed. */
async function run(
  t: Test,
  files: Record<string, string>,
  name: string,
  env: Record<string, string>,
) {
  const program = runProgram(t, await folderOf(t, files), name, env)
  const code = await program.ended()
  t.equal(code, 0, program.printed)
  return program.printed.trim()
}

const after: NonNullable<HostOptions['after']> = (app) => {
  app.get('/me', async ({ auth }) => ({ tenant: auth?.tenant }))
  app.post('/things', async () => 'made')
}
const get = ({ ask }: Host, key: string) => ask('GET', '/me', { key })
const foreignKey = (prefix: string) => `${prefix}${randomBytes(18).toString('base64url')}`
const sha256 = (text: string) => createHash('sha256').update(text)

/** What an application of that kind has in its database, and the hash that it makes of a key. */
async function ownApplication(t: Test, hash: (key: string) => string) {
  const database = await freshDatabase(t)
  const [, tables = ''] = /```sql\n([^]*?)```/.exec(guide('import')) ?? []
  const keys = {
    writes: foreignKey('acme_'),
    reads: foreignKey('acme_'),
    revoked: foreignKey('acme_'),
    expired: foreignKey('acme_'),
  }
  const insert = `insert into api_keys (id, customer_id, key_hash, start, name, can_write, requests_per_minute, created_at, expires_at, revoked_at)
    values ($1, $2, $3, $4, 'CI', $5, $6, '2024-01-31T12:00:00Z', $7, $8)`
  const row = (
    id: number,
    customer: number,
    key: string,
    ...rest: unknown[]
  ): [string, unknown[]] => [insert, [id, customer, hash(key), key.slice(0, 10), ...rest]]
  await queryOn(
    database,
    tables,
    [`insert into customers values (1, 'Ada', 'ada@example.com'), (2, 'Bea', 'bea@example.com')`],
    row(1, 1, keys.writes, true, null, null, null),
    row(2, 2, keys.reads, false, 2, '2999-01-01T00:00:00Z', null),
    row(3, 1, keys.revoked, true, null, null, '2024-02-01T00:00:00Z'),
    row(4, 1, keys.expired, true, null, '2024-02-01T00:00:00Z', null),
  )
  return { database, keys }
}

async function assertMoved(
  t: Test,
  host: Host,
  keys: Awaited<ReturnType<typeof ownApplication>>['keys'],
) {
  const { ask } = host
  t.match(await get(host, keys.writes), { status: 200, body: { tenant: '1' } })
  t.match(await ask('POST', '/things', { key: keys.writes }), { status: 200 })
  t.match(await get(host, keys.reads), { status: 200, body: { tenant: '2' } })
  t.match(await ask('POST', '/things', { key: keys.reads }), { status: 403 })
  t.match(await get(host, keys.reads), { status: 200 })
  t.match(await get(host, keys.reads), { status: 429 }, 'its limit holds')
  for (const key of [keys.revoked, keys.expired]) t.match(await get(host, key), { status: 401 })
  const [second, first] = await host.app.svc.auth.listApiKeys({})
  t.match(first, {
    keyPrefix: keys.writes.slice(0, 8),
    label: 'CI',
    createdAt: '2024-01-31T12:00:00.000Z',
    expiresAt: null,
  })
  t.match(second, { scopes: ['read'], expiresAt: '2999-01-01T00:00:00.000Z' })
}

t.test('an application with SHA-256 of keys in a table of its own moves over', async (t) => {
  const { database, keys } = await ownApplication(t, (key) => sha256(key).digest('hex'))
  const files = { 'import-keys.ts': programOf(guide('import'), 'import-keys.ts') }
  const imported = () => run(t, files, 'import-keys.ts', { DATABASE_URL: database })
  t.equal(await imported(), 'imported 2, skipped 0')
  t.equal(await imported(), 'imported 0, skipped 2')
  await assertMoved(t, await startHost(t, { database, after }), keys)
})

t.test('an application with an HMAC and a pepper moves over', async (t) => {
  const KEY_PEPPER = 'the pepper of the application'
  const hash = (key: string) => createHmac('sha256', KEY_PEPPER).update(key).digest('hex')
  const { database, keys } = await ownApplication(t, hash)
  const text = guide('import')
  const script = programOf(text, 'import-keys.ts')
    .replace('sha256: row.key_hash', 'hash: row.key_hash')
    .replace(
      `import { svcAuth } from '@svc/auth'`,
      `import { registerAuth } from './register-auth.ts'`,
    )
    .replace('app.register(svcAuth)', 'registerAuth(app)')
  const files = {
    'import-keys.ts': script,
    'register-auth.ts': programOf(text, 'register-auth.ts'),
  }
  const imported = () => run(t, files, 'import-keys.ts', { DATABASE_URL: database, KEY_PEPPER })
  t.equal(await imported(), 'imported 2, skipped 0')
  const auth = { importedKeys: { hash } }
  await assertMoved(t, await startHost(t, { database, after, auth }), keys)
  t.equal(await imported(), 'imported 0, skipped 2', 'also once the keys were used')
  await assertStillOpen(t, await startHost(t, { database, after }), keys.writes)
})

/** A host without the pepper. */
const assertStillOpen = async (t: Test, host: Host, key: string) =>
  t.match(await get(host, key), { status: 200 })

t.test('keys of Unkey move over', async (t) => {
  const database = await freshDatabase(t)
  const keys = { credits: foreignKey('sk_'), plain: foreignKey('sk_'), expired: foreignKey('sk_') }
  const line = (key: string, more: object) =>
    JSON.stringify({
      hash: sha256(key).digest('base64'),
      start: key.slice(0, 6),
      name: 'CI',
      environment: 'live',
      externalId: 'acme',
      createdAt: Date.UTC(2024, 0, 31),
      expiresAt: null,
      remaining: null,
      refillAmount: null,
      refillsMonthly: 0,
      ratelimits: null,
      ...more,
    })
  const ratelimits = [
    { limit: 5, duration: 1000 },
    { limit: 4, duration: 500 },
    { limit: 100, duration: 60_000 },
  ]
  const lines = [
    line(keys.credits, { remaining: 1, ratelimits }),
    line(keys.plain, {
      externalId: null,
      environment: null,
      name: null,
      remaining: 5,
      refillAmount: 9,
      refillsMonthly: 1,
    }),
    line(keys.expired, { expiresAt: Date.UTC(2024, 1, 1) }),
  ]
  const files = {
    'import-unkey.ts': programOf(guide('from-unkey-or-better-auth'), 'import-unkey.ts'),
    'unkey-keys.ndjson': `${lines.join('\n')}\n`,
  }
  const imported = () => run(t, files, 'import-unkey.ts', { DATABASE_URL: database })
  t.equal(await imported(), 'imported 2, skipped 0')
  t.equal(await imported(), 'imported 0, skipped 2')

  const host = await startHost(t, { database, after })
  t.match(await get(host, keys.credits), { status: 200, body: { tenant: 'acme' } })
  t.match(await get(host, keys.credits), { status: 429 }, 'one credit was left')
  t.match(await get(host, keys.plain), { status: 200, body: { tenant: null } })
  t.match(await get(host, keys.expired), { status: 401 })
  const [plain, credits] = await host.app.svc.auth.listApiKeys({})
  t.match(credits, {
    keyPrefix: keys.credits.slice(0, 6),
    metadata: { environment: 'live' },
    limits: [
      { limit: 4, perSeconds: 1 },
      { limit: 100, perSeconds: 60 },
    ],
    quota: { limit: 1, period: 'total' },
  })
  t.match(plain, {
    label: null,
    metadata: null,
    limits: null,
    quota: { limit: 9, period: 'month' },
  })
})

t.test('keys of better-auth move over', async (t) => {
  const database = await freshDatabase(t)
  const { apiKey } = await import('@better-auth/api-key')
  const { betterAuth } = await import('better-auth')
  const { getMigrations } = await import('better-auth/db/migration')
  const pool = new pg.Pool({ connectionString: database, max: 2 })
  t.teardown(() => pool.end())
  const auth = betterAuth({
    database: pool,
    secret: 'only for this test, only on loopback',
    baseURL: 'http://127.0.0.1',
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    plugins: [apiKey({ enableMetadata: true })],
  })
  await (await getMigrations(auth.options)).runMigrations()
  const { user } = await auth.api.signUpEmail({
    body: { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' },
  })
  const make = async (body: object) =>
    (await auth.api.createApiKey({ body: { userId: user.id, ...body } })).key
  const full = await make({
    name: 'CI',
    prefix: 'acme_',
    expiresIn: 86_400,
    remaining: 3,
    metadata: { team: 'core', size: 2 },
    permissions: { projects: ['read', 'write'] },
    rateLimitMax: 50,
    rateLimitTimeWindow: 60_000,
  })
  const plain = await make({ rateLimitEnabled: false })
  const files = {
    'import-better-auth.ts': programOf(guide('from-unkey-or-better-auth'), 'import-better-auth.ts'),
  }
  const imported = () => run(t, files, 'import-better-auth.ts', { DATABASE_URL: database })
  t.equal(await imported(), 'imported 2, skipped 0')
  t.equal(await imported(), 'imported 0, skipped 2')

  const scopes = ['projects:read', 'projects:write']
  const host = await startHost(t, {
    database,
    auth: { scopes },
    after: async (app) => {
      await after(app)
      app.get('/projects', { config: { scopes: ['projects:read'] } }, async () => [])
    },
  })
  t.match(await host.ask('GET', '/projects', { key: full }), { status: 200 })
  t.match(await get(host, plain), { status: 200 })
  const keys = await host.app.svc.auth.listApiKeys({})
  t.match(
    keys.find(({ label }) => label === 'CI'),
    {
      keyPrefix: 'acme_',
      scopes,
      metadata: { team: 'core', size: '2' },
      limits: [{ limit: 50, perSeconds: 60 }],
      quota: { limit: 3, period: 'total' },
    },
  )
  t.match(
    keys.find(({ label }) => label === null),
    { limits: null, quota: null, expiresAt: null },
  )
})
