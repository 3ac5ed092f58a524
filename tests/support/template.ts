import Fastify from 'fastify'

const plugins = ['@svc/core', '@svc/auth', '@svc/webhooks']

/** Boots a host with all plugins once, so that the template has every table before it is cloned. */
export async function migrateTemplate(database: string): Promise<void> {
  for (const name of plugins) {
    const app = Fastify()
    try {
      const core = (await import('@svc/core')) as any
      const own = (await import(name)) as any
      if (!core.default || !own.default) continue
      await app.register(core.default, { database, worker: { enabled: false } })
      if (name !== '@svc/core')
        await app.register(own.default, name === '@svc/webhooks' ? { allowedEvents: ['*'] } : {})
      await app.ready()
    } catch (error) {
      console.error(`# template without ${name}: ${(error as Error).message}`)
    } finally {
      await app.close().catch(() => {})
    }
  }
}
