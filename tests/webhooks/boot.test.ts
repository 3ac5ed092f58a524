import t, { type Test } from 'tap'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { newHost } from '../support/new-host.ts'

const OPEN = /management routes of webhooks are open to everyone: register svcAuth/

interface Warning {
  msg: string
  path?: string
}

async function boot(t: Test, options: unknown, guards?: unknown): Promise<Warning[]> {
  const lines: Warning[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Warning) }
  const database = await freshDatabase(t)
  const app = newHost(t, { logger: { level: 'warn', stream } })
  await app.register(svcCore, { database: { connectionString: database, max: 2 } })
  if (guards !== undefined) app.decorate(Symbol.for('@svc/auth.guards') as never, guards as never)
  await app.register(svcWebhooks, options as never)
  await app.ready()
  return lines
}

t.test('without a guard a warning says that the management routes are open', async (t) => {
  const lines = await boot(t, { allowedEvents: [], managementBasePath: '/hooks/manage' })
  t.match(lines, [{ msg: OPEN, path: '/hooks/manage' }])
})

t.test('with a guard there is no such warning', async (t) => {
  const lines = await boot(t, { allowedEvents: [] }, () => true)
  t.same(
    lines.filter(({ msg }) => OPEN.test(msg)),
    [],
  )
})

t.test(
  'each management route needs the scope webhooks:manage, or admin where it is of the operator',
  async (t) => {
    const connectionString = await freshDatabase(t)
    const app = newHost(t)
    const scopes = new Map<string, unknown>()
    app.addHook('onRoute', ({ method, url, config }) => {
      if (config?.public || url.endsWith('*')) return
      scopes.set(`${String(method)} ${url}`, config?.scopes)
    })
    await app.register(svcCore, { database: { connectionString, max: 2 } })
    await app.register(svcWebhooks, { allowedEvents: [], managementBasePath: '/m' })
    await app.ready()
    t.ok(scopes.size > 40)
    for (const [route, needed] of scopes) {
      const isOfOperators = /handlers|-all$/.test(route)
      const more = /feed$|events\/:/.test(route) ? ['events:read'] : []
      t.same(needed, isOfOperators ? ['admin'] : [...more, 'webhooks:manage'], route)
    }
  },
)

t.test('core is registered where the host has not done it', async (t) => {
  const database = await emptyDatabase(t)
  const app = newHost(t)
  const before = process.env['DATABASE_URL']
  process.env['DATABASE_URL'] = database
  t.teardown(() => {
    if (before === undefined) delete process.env['DATABASE_URL']
    else process.env['DATABASE_URL'] = before
  })
  await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
  await app.ready()
  t.equal((await app.inject('/_webhooks')).statusCode, 200)
})

t.test('a second registration in one host is an error that says so', async (t) => {
  const connectionString = await freshDatabase(t)
  const app = newHost(t)
  await app.register(svcCore, { database: { connectionString, max: 2 } })
  await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
  await t.rejects(
    (async () => {
      await app.register(svcWebhooks, { allowedEvents: [], managementBasePath: '/others' })
    })(),
    { code: 'SVC_CORE_ALREADY_REGISTERED', message: /^svcWebhooks is registered already/ },
  )
})
