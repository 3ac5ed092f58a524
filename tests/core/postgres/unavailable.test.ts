import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { startHost } from '../support/host.ts'

const CALLS: Record<string, (app: FastifyInstance) => Promise<unknown>> = {
  'events.publish': ({ svc }) => svc.events.publish('a', 1),
  'events.publish with an id': ({ svc }) => svc.events.publish('a', 1, { id: '1' }),
  'events.subscribe': ({ svc }) => svc.events.subscribe('b', () => {}),
  'events.unsubscribe': ({ svc }) => svc.events.unsubscribe('a'),
  'events.deadLetters': ({ svc }) => svc.events.deadLetters('a'),
  'events.redrive': ({ svc }) => svc.events.redrive('a'),
  'kv.get': ({ svc }) => svc.kv.get('key'),
  'kv.set': ({ svc }) => svc.kv.set('key', 1),
  'kv.delete': ({ svc }) => svc.kv.delete('key'),
  'kv.setIfAbsent': ({ svc }) => svc.kv.setIfAbsent('key', 1),
  'kv.increment': ({ svc }) => svc.kv.increment('key'),
  transaction: ({ svc }) => svc.transaction((db) => db.query('select 1')),
  'audit.list': ({ svc }) => svc.audit.list(),
  eraseTenant: ({ svc }) => svc.eraseTenant('acme'),
}

t.test('while Postgres is unavailable every method rejects with Unavailable', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { app } = await startHost(t, { database: proxy.url })
  proxy.cut()
  for (const [name, call] of Object.entries(CALLS)) {
    const error = await call(app).then(
      () => t.fail(`${name} resolved`),
      (error: Error) => error,
    )
    t.match(error, { code: 'SVC_UNAVAILABLE', statusCode: 503, cause: Error }, name)
    t.notMatch((error as Error).message, /ECONN|terminated/, name)
  }
  proxy.mend()
})

t.test('an error that the function of a transaction throws is passed on unchanged', async (t) => {
  const { app } = await startHost(t)
  const ofAnotherServer = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const thrown = app.svc.transaction(() => {
    throw ofAnotherServer
  })
  t.equal(await thrown.catch((error: unknown) => error), ofAnotherServer)
})
