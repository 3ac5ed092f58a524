/** A host with the guard and webhooks. */
import type { Test } from 'tap'
import type { SvcCoreOptions } from '@svc/core'
import { freshDatabase } from '../../support/fresh-database.ts'
import { wholeHost } from '../../support/whole-host.ts'

export async function startGuarded(t: Test, core: Omit<SvcCoreOptions, 'database'> = {}) {
  const connectionString = await freshDatabase(t)
  const app = await wholeHost(
    t,
    { database: { connectionString, max: 4 }, ...core },
    {
      auth: { excludePaths: ['/hooks/*'] },
      webhooks: {
        inboundLog: { rawBodies: true },
        inbound: {
          sender: {
            path: '/hooks/:tenant',
            publishAs: 'order.created',
            verify: () => true,
            tenant: (request) =>
              (request.params as { tenant: string }).tenant.replace('none', '') || null,
          },
        },
      },
    },
  )
  await app.ready()
  const keyOf = async (tenant: string | null, scopes: string[]) => {
    const email = `${Math.random()}@example.com`
    const user = await app.svc.auth.createUser({ email, name: 'User', tenant })
    return (await app.svc.auth.createApiKey({ userId: user.id, scopes })).key
  }
  const ask = async (key: string, method: string, path: string, body?: object) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: `/_webhooks${path}`,
      headers: { 'x-api-key': key },
      ...(body ? { payload: body } : {}),
    })
    return { status: answer.statusCode, body: answer.body }
  }
  return { app, keyOf, ask }
}
