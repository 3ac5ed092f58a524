import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'

/**
 * Boots a host with all plugins once, so that the template has every table before it is cloned. Returns
 * the versions of its server and its framework.
 */
export async function migrateTemplate(
  database: string,
): Promise<{ postgres: string; fastify: string }> {
  const app = Fastify({ pluginTimeout: 0 })
  try {
    await app.register(svcCore, { database, worker: { enabled: false } })
    await app.register(svcAuth)
    await app.register(svcWebhooks, { allowedEvents: [] })
    await app.ready()
    const { rows } = await app.svc.database.query('show server_version')
    return { postgres: rows[0].server_version, fastify: app.version }
  } finally {
    await app.close()
  }
}
