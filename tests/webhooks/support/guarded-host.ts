/** A host with the guard and webhooks, whose management routes are watched. */
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { freshDatabase } from '../../support/fresh-database.ts'

/** The management routes of a host, wildcards and automatic HEAD routes left out. */
function watchRoutes(app: FastifyInstance): string[] {
  const routes: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    if (!url.startsWith('/_webhooks') || url.endsWith('*') || url.endsWith('/')) return
    for (const one of [method].flat()) {
      if (one !== 'HEAD') routes.push(`${one} ${url.slice('/_webhooks'.length)}`)
    }
  })
  return routes
}

export async function startGuarded(t: Test) {
  const connectionString = await freshDatabase(t)
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  const routes = watchRoutes(app)
  await app.register(svcCore, { database: { connectionString, max: 4 } })
  await app.register(svcAuth, { excludePaths: ['/hooks/*'] })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created'],
    allowedNetworks: ['127.0.0.0/8'],
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
  })
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
  return { app, routes, keyOf, ask }
}
