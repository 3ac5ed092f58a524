import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { freshDatabase } from '../../support/fresh-database.ts'

const source = (path: string) => ({ path, publishAs: 'a', verify: () => true })
const webhooks = {
  allowedEvents: [],
  inbound: { open: source('/hooks/open'), shut: source('/hooks/shut') },
}

/** Both plugins in one host, in either order. */
async function hostOf(t: Test, order: 'auth first' | 'webhooks first') {
  const database = await freshDatabase(t)
  const warnings: { msg: string; path?: string }[] = []
  const write = (line: string) => void warnings.push(JSON.parse(line) as { msg: string })
  const app: FastifyInstance = Fastify({
    logger: { level: 'warn', stream: { write } },
    pluginTimeout: 60_000,
  })
  t.teardown(() => app.close())
  await app.register(svcCore, { database: { connectionString: database, max: 5 } })
  if (order === 'webhooks first') await app.register(svcWebhooks, webhooks)
  await app.register(svcAuth, { excludePaths: ['/hooks/open'] })
  if (order === 'auth first') await app.register(svcWebhooks, webhooks)
  await app.ready()
  return { app, warnings }
}

for (const order of ['auth first', 'webhooks first'] as const) {
  t.test(`${order}: an excluded source is open, another is guarded and warned of`, async (t) => {
    const { app, warnings } = await hostOf(t, order)
    const post = (url: string) => app.inject({ method: 'POST', url, body: 'x' })
    t.equal((await post('/hooks/open')).json().status, 'accepted')
    t.equal((await post('/hooks/shut')).statusCode, 401)
    const named = warnings.filter(({ msg }) => msg.includes('excludePaths'))
    t.strictSame(
      named.map(({ path }) => path),
      ['/hooks/shut'],
    )
  })
}
