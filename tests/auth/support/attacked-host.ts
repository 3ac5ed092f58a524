/** A host that tells which of its protected handlers ran. */
import type { FastifyInstance } from 'fastify'
import type { Test as Tap } from 'tap'
import { startHost } from './host.ts'

export interface AttackedHost {
  app: FastifyInstance
  userId: string
  /** What ran since it was emptied. */
  ran: string[]
}

/** Open are /health and /c, save its variants for another host and version. */
export async function attackedHost(
  t: Tap,
  database: string,
  routerOptions: object,
): Promise<AttackedHost> {
  const ran: string[] = []
  const run = (name: string) => async () => {
    ran.push(name)
    return name
  }
  const asks = (...scopes: string[]) => ({ config: { scopes } })

  const { app, makeUser } = await startHost(t, {
    database,
    auth: { excludePaths: ['/health', '/c'] },
    fastify: { routerOptions },
    before(app) {
      // Loaded before the guard, and guarded all the same.
      app.register(
        async (early) => {
          early.setNotFoundHandler(run('the 404 handler of /sec'))
        },
        { prefix: '/sec' },
      )
      app.get('/healthz', asks('admin'), run('/healthz'))
    },
    after(app) {
      app.get('/health', async () => 'open')
      app.get('/c', async () => 'open')
      app.get('/c', { ...asks('admin'), constraints: { host: 'admin.local' } }, run('/c of a host'))
      app.get('/c', { ...asks('admin'), constraints: { version: '2.0.0' } }, run('/c of a version'))
      app.get('/health-admin', asks('admin'), run('/health-admin'))
      app.get('/apix', asks('admin'), run('/apix'))
      app.get('/publicx', asks('admin'), run('/publicx'))
      app.get('/api', asks('read'), run('/api'))
      app.get('/files/*', asks('read'), run('/files/*'))
      app.get('/:tenant/health', asks('read'), run('/:tenant/health'))
      app.all('/all', run('/all'))
      app.get('/_auth/users/:id', run('/_auth/users/:id'))
      // Our own handlers run where one of them succeeds.
      app.addHook('onSend', async (request, reply) => {
        const { url = '' } = request.routeOptions
        if (url.startsWith('/_auth') && reply.statusCode < 300) ran.push(url)
      })
    },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, userId: (await makeUser()).id, ran }
}
