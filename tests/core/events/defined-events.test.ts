// The catalogue of a host at boot and at publish.
import { Type } from '@sinclair/typebox'
import { defineEvents, svcCore, type SvcCoreOptions } from '@svc/core'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { newHost } from '../../support/new-host.ts'

const events = defineEvents({
  'order.created': { payload: Type.Object({ id: Type.Integer() }), example: { id: 1 } },
})

async function host(t: Test, options: SvcCoreOptions) {
  const connectionString = await freshDatabase(t)
  const app = newHost(t)
  await app.register(svcCore, { database: { connectionString, max: 2 }, ...options })
  await app.ready()
  const stored = async () =>
    Number((await app.svc.database.query('select count(*) from svc."__svc.events"')).rows[0].count)
  return { app, stored }
}

/** The answer of a route that does something. */
async function answered(run: () => Promise<unknown>) {
  const app = Fastify()
  app.get('/', run)
  return app.inject('/')
}

t.test('a publish that does not match is refused, and nothing is stored', async (t) => {
  const { app, stored } = await host(t, { events })
  await t.rejects(app.svc.events.publish('order.created', { id: 'x' }), {
    code: 'SVC_INVALID_PAYLOAD',
    message: /payload\/id must be integer/,
  })
  await t.rejects(
    app.svc.transaction((db) => app.svc.events.publish('order.created', {}, { db })),
    { code: 'SVC_INVALID_PAYLOAD' },
  )
  t.equal(await stored(), 0)
  // The host made the payload: its client has sent nothing wrong, and learns nothing of it.
  const reply = await answered(() => app.svc.events.publish('order.created', { id: 'x' }))
  t.equal(reply.statusCode, 500)
  await app.svc.events.publish('order.created', { id: 1 })
  await app.svc.events.publish('order.shipped', 'anything')
  t.equal(await stored(), 2)
})

t.test('names of the plugins cannot be published, and can be subscribed to', async (t) => {
  const { app, stored } = await host(t, {})
  await t.rejects(app.svc.events.publish('svc.webhook.failing', {}), {
    code: 'SVC_CORE_RESERVED_EVENT_NAME',
    statusCode: 500,
  })
  t.equal(await stored(), 0)
  await app.svc.events.subscribe('svc.webhook.failing', () => {})
})

t.test('with eventValidation "off" any payload is published', async (t) => {
  const { app, stored } = await host(t, { events, eventValidation: 'off' })
  await app.svc.events.publish('order.created', { id: 'x' })
  t.equal(await stored(), 1)
})

t.test('a wrong example and a wrong option are errors at boot', async (t) => {
  const wrong: [object, RegExp][] = [
    [{ events: { a: { payload: Type.String(), example: 5 } } }, /example of "a".*must be string/],
    [{ events: [] }, /"events" must be an object/],
    [{ eventValidation: 'strict' }, /"eventValidation" must be "reject", "warn" or "off"/],
  ]
  for (const [options, message] of wrong) {
    const app = Fastify()
    app.register(svcCore, { database: 'postgres://127.0.0.1:1/none', ...options })
    await t.rejects(async () => await app.ready(), { code: 'SVC_CORE_INVALID_OPTION', message })
    await app.close()
  }
})
