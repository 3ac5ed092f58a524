/** A host that takes the orders of a shop at `/hooks/shop`, and receivers of its webhooks. */
import type { FastifyInstance } from 'fastify'
import type { SvcAuthOptions } from '@svc/auth'
import type { SvcCoreOptions } from '@svc/core'
import { receiver, type Receiver } from '@svc/testing'
import { headerToken } from '@svc/webhooks'
import type { Test } from 'tap'
import { wholeHost } from '../../support/whole-host.ts'

export async function shopHost(
  t: Test,
  database: string,
  { core, auth }: { core: SvcCoreOptions; auth?: SvcAuthOptions },
): Promise<FastifyInstance> {
  const app = await wholeHost(
    t,
    {
      database: { connectionString: database, max: 5 },
      secrets: (name) => (name === 'SHOP' ? 'token-of-shop' : null),
      ...core,
    },
    {
      auth: { excludePaths: ['/hooks/shop'], ...auth },
      webhooks: {
        allowedEvents: ['order.created', 'shop.order'],
        inboundLog: { keepDays: 7, rawBodies: true },
        inbound: {
          shop: {
            path: '/hooks/shop',
            publishAs: 'shop.order',
            verify: headerToken({ header: 'x-token', secretName: 'SHOP' }),
            tenant: (_request, body) => (JSON.parse(body) as Order).tenant ?? null,
            deduplicationKey: (_request, body) => (JSON.parse(body) as Order).key,
          },
        },
      },
    },
  )
  app.get('/me', async (request) => request.auth)
  return app
}

interface Order {
  tenant?: string
  key: string
}

/** Sends an order as the shop does. Returns the status. */
export async function sendOrder(app: FastifyInstance, payload: Order): Promise<number> {
  const headers = { 'x-token': 'token-of-shop' }
  const answer = await app.inject({ method: 'POST', url: '/hooks/shop', headers, payload })
  return answer.statusCode
}

/** Two receivers, of which one fails. */
export async function receivers(t: Test): Promise<Record<'ok' | 'fails', Receiver>> {
  const [ok, fails] = await Promise.all([receiver(), receiver()])
  t.teardown(() => Promise.all([ok.close(), fails.close()]))
  fails.answer(500)
  return { ok, fails }
}
