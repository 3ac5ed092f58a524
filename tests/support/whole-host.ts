import { svcAuth, type SvcAuthOptions } from '@svc/auth'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { svcWebhooks, type SvcWebhooksOptions } from '@svc/webhooks'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { newHost } from './new-host.ts'

/** A host with all but the console, which is not ready yet. Its deliveries may go to loopback. */
export async function wholeHost(
  t: Pick<Test, 'teardown'>,
  core: SvcCoreOptions,
  { auth, webhooks }: { auth?: SvcAuthOptions; webhooks?: SvcWebhooksOptions } = {},
): Promise<FastifyInstance> {
  const app = newHost(t)
  await app.register(svcCore, core)
  await app.register(svcAuth, auth ?? {})
  const defaults = { allowedEvents: ['order.created'], allowedNetworks: ['127.0.0.0/8'] }
  await app.register(svcWebhooks, { ...defaults, ...webhooks })
  return app
}
