// In a process of its own: it listens to the warnings of the process, each of which comes once.
import { svcConsole } from '@svc/console'
import t from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { wholeHost } from '../../support/whole-host.ts'

t.test('a boot, requests and the end of a host cause no warning of Fastify or Node', async (t) => {
  const warnings: string[] = []
  const note = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))

  const app = await wholeHost(
    t,
    { database: await emptyDatabase(t) },
    {
      auth: {
        rateLimit: { maxAttempts: 3, windowMs: 1000, blockDurationMs: 1000 },
      },
    },
  )
  await app.register(svcConsole)
  await app.ready()
  const { id: userId } = await app.svc.auth.createUser({ email: 'a@b.co', name: 'A' })
  const { key } = await app.svc.auth.createApiKey({ userId, scopes: ['admin'] })
  for (const url of ['/_auth/users', '/_webhooks', '/console/', '/_auth/forward-auth', '/none']) {
    for (const headers of [{}, { 'x-api-key': key }]) await app.inject({ url, headers })
  }
  await app.close()
  t.same(warnings, [])
})
