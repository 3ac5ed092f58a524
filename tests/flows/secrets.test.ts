import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { drain, signed } from '@svc/testing'
import { headerToken, svcWebhooks } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { generateKey } from '../../packages/auth/src/key-format.ts'
import { everyRow } from '../support/every-row.ts'
import { until } from '../support/until.ts'
import { newHost } from '../support/new-host.ts'
import { openReceiver } from '../support/receiver.ts'

const secret = () => randomBytes(24).toString('base64url')
const SECRETS: Record<string, string> = {
  BOOTSTRAP_KEY: secret(),
  GITHUB: secret(),
  SHOP: secret(),
  ENCRYPTION: randomBytes(32).toString('base64'),
  ED25519: `whsk_${randomBytes(32).toString('base64')}`,
}
const HEADERS = { authorization: `Bearer ${secret()}`, 'x-team': secret() }

t.test('after all operations, no secret is in the database or the log', async (t) => {
  const database = await freshDatabase(t)
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const app = newHost(t, { logger: { level: 'trace', stream } })
  await app.register(svcCore, {
    database: { connectionString: database, max: 5 },
    secrets: (name) => SECRETS[name] ?? null,
    encryption: { secretNames: ['ENCRYPTION'] },
    worker: { retryDelaySeconds: 0, maxAttempts: 2 },
  })
  await app.register(svcAuth, {
    bootstrapKeySecret: 'BOOTSTRAP_KEY',
    excludePaths: ['/hooks/*'],
    tenantLimits: [{ limit: 100, perSeconds: 60 }],
    rateLimit: { maxAttempts: 3, windowMs: 60_000, blockDurationMs: 60_000 },
  })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created'],
    allowedNetworks: ['127.0.0.0/8'],
    ed25519: { secretName: 'ED25519' },
    inboundLog: { keepDays: 7, rawBodies: true, sampleRefused: 100 },
    inbound: {
      github: providers.github({ path: '/hooks/github', secretName: 'GITHUB' }),
      shop: {
        path: '/hooks/shop',
        publishAs: 'shop.order',
        verify: headerToken({ header: 'x-token', secretName: 'SHOP' }),
      },
    },
  })
  app.get('/me', async (request) => request.auth)
  app.get('/fails', async () => {
    throw new Error('boom')
  })
  await app.ready()
  const asOperator = { 'x-api-key': SECRETS['BOOTSTRAP_KEY'] }
  const ask = (method: string, url: string, payload?: object, headers: object = asOperator) =>
    app.inject({
      method: method as 'GET',
      url,
      headers: { ...headers },
      ...(payload && { payload }),
    })

  const user = (
    await ask('POST', '/_auth/users', { email: 'a@b.co', name: 'A', tenant: 'acme' })
  ).json()
  const limited = { limits: [{ limit: 50, perSeconds: 60 }], quota: { limit: 50, period: 'day' } }
  const key = (
    await ask('POST', `/_auth/users/${user.id}/keys`, {
      scopes: ['read', 'webhooks:manage'],
      ...limited,
    })
  ).json()
  const rotated = (await ask('POST', '/_auth/me/rotate', {}, { 'x-api-key': key.key })).json()
  const keys: string[] = [key.key, rotated.key]
  for (const text of keys) {
    for (const headers of [{ 'x-api-key': text }, { authorization: `Bearer ${text}` }]) {
      t.equal((await ask('GET', '/me', undefined, headers)).statusCode, 200)
    }
    await ask('POST', '/_auth/verify', { key: text })
    await ask('GET', '/_auth/forward-auth', undefined, {
      'x-api-key': text,
      'x-forwarded-method': 'GET',
      'x-forwarded-uri': '/me',
    })
  }
  const ended = await app.svc.auth.createApiKey({ userId: user.id })
  await app.svc.auth.revokeApiKey(ended.id)
  const refused = [ended.key, generateKey(), `${generateKey()}x`, 'not-of-our-format-at-all']
  for (const text of [...refused, SECRETS['BOOTSTRAP_KEY']]) {
    for (const headers of [{ 'x-api-key': text }, { authorization: `Bearer ${text}` }]) {
      for (const path of ['/fails', '/_auth/users', '/nothing']) {
        await ask('GET', path, undefined, headers)
        await ask('POST', path, {}, headers)
      }
    }
    await app.svc.auth.validateApiKey(text!)
  }
  t.match(lines.join(), 'key refused')
  await ask('PATCH', `/_auth/keys/${rotated.id}`, { label: 'CI', enabled: false })
  t.equal((await ask('GET', '/me', undefined, { 'x-api-key': rotated.key })).statusCode, 401)

  const partner = await openReceiver(t)
  partner.answer(({ raw }) => (raw.includes('dies') ? 500 : 200))
  const hook = (
    await ask(
      'POST',
      '/_webhooks',
      { url: partner.url, events: ['*'], headers: HEADERS },
      { 'x-api-key': key.key },
    )
  ).json()
  t.match(hook, { headers: HEADERS, tenant: 'acme' })
  const next = (await ask('POST', `/_webhooks/${hook.id}/rotate-secret`, {})).json()
  await ask('PATCH', `/_webhooks/${hook.id}`, { headers: { 'x-team': HEADERS['x-team'] } })
  await ask('PATCH', `/_webhooks/${hook.id}`, { headers: HEADERS })
  for (const what of ['lives', 'dies']) {
    await app.svc.events.publish('order.created', { what }, { tenant: 'acme' })
  }
  await drain(app)
  t.equal((await app.svc.webhooks.listDeadLetters(hook.id)).length, 1)

  const { authorization } = HEADERS
  const pushes = [SECRETS['GITHUB']!, secret()].map((one) =>
    signed('github', { ref: 'main' }, { secret: one, headers: { authorization } }),
  )
  for (const push of pushes) await app.inject({ url: '/hooks/github', ...push })
  await ask('POST', '/hooks/shop', { item: 1 }, { 'x-token': SECRETS['SHOP'] })
  await ask('POST', '/hooks/shop', { item: 1 }, { 'x-token': keys[0] })
  await until(async () => (await app.svc.webhooks.listInbound()).length === 4)
  await app.svc.auth.getUsage()
  await app.close()

  const rows = await everyRow(database)
  for (const table of ['inbound_log', 'audit', 'windows', 'quotas', 'usage', 'registrations']) {
    t.ok(
      rows.some((row) => row.table.includes(table)),
      `there is something in ${table}`,
    )
  }
  const secrets = [
    ...Object.values(SECRETS),
    ...Object.values(HEADERS).map((value) => value.replace('Bearer ', '')),
    ...keys,
    ...refused,
    hook.secret,
    next.secret,
    ...pushes.map(({ headers }) => headers['x-hub-signature-256']!.replace('sha256=', '')),
  ].map((text: string) => text.replace(/^wh(?:sec|sk)_/, ''))
  // The first eight characters of a key are shown.
  const pieces = secrets.flatMap((text) =>
    Array.from({ length: text.length - 8 }, (_, start) => text.slice(start, start + 9)),
  )
  const holds = (text: string) => pieces.filter((piece) => text.includes(piece))
  t.same(
    rows.filter(({ text }) => holds(text).length > 0),
    [],
    'in the database',
  )
  t.same(
    lines.filter((line) => holds(line).length > 0),
    [],
    'in the log',
  )
})
