import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'

/** Boots a host with all plugins once, so that the template has every table before it is cloned. */
export async function migrateTemplate(database: string): Promise<void> {
  const app = Fastify({ pluginTimeout: 0 })
  try {
    await app.register(svcCore, { database, worker: { enabled: false } })
    await app.register(svcAuth)
    await app.register(svcWebhooks, { allowedEvents: [] })
    await app.ready()
  } finally {
    await app.close()
  }
}
