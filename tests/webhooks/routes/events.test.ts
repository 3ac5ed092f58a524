import { Type } from '@sinclair/typebox'
import swagger from '@fastify/swagger'
import { defineEvents, svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost } from '../support/host.ts'
import { newHost } from '../../support/new-host.ts'

const Order = Type.Object({ id: Type.Integer(), total: Type.Number() })
const example = { id: 42, total: 99.5 }
const events = defineEvents({
  'order.created': { payload: Order, description: 'An order was paid.', example },
  'order/shipped': { payload: { type: 'object' }, deprecated: true },
  'internal.only': { payload: {}, example: 1 },
})
const allowedEvents = ['order/shipped', 'order.created', 'order.other']

t.test('the events are listed with descriptions, schemas and examples', async (t) => {
  const { ask, app } = await startHost(t, { allowedEvents, core: { events } })
  const { status, body } = await ask('GET', '/events')
  t.equal(status, 200)
  const plain = { description: null, schema: null, example: null, deprecated: false }
  t.same(body, [
    {
      name: 'order.created',
      description: 'An order was paid.',
      schema: JSON.parse(JSON.stringify(Order)),
      example,
      deprecated: false,
    },
    { name: 'order.other', ...plain },
    { name: 'order/shipped', ...plain, schema: { type: 'object' }, deprecated: true },
  ])
  t.same(JSON.parse(JSON.stringify(await app.svc.webhooks.listEvents())), body)
})

t.test('the operation test sends the example of an event', async (t) => {
  const receiver = await openReceiver(t)
  const { ask, register, app } = await startHost(t, { allowedEvents, core: { events } })
  const { id, secret } = await register(receiver.url, ['order.other'])
  receiver.secret = secret
  t.match(await ask('POST', `/${id}/test`, { event: 'order.created' }), { status: 202 })
  const [sent] = await receiver.waitFor(1)
  t.match(sent, { verified: true, body: { event: 'order.created', payload: example } })

  await app.svc.webhooks.test({ id })
  const [, usual] = await receiver.waitFor(2)
  t.match(usual, { verified: true, body: { event: 'webhook.test', payload: { webhookId: id } } })
})

t.test('an event without an example, or that is not allowed, cannot be tried out', async (t) => {
  const { ask, register } = await startHost(t, { allowedEvents, core: { events } })
  const { id } = await register('https://receiver.example/')
  const tried = (body: object) => ask('POST', `/${id}/test`, body)
  t.match(await tried({ event: 'order/shipped' }), {
    status: 400,
    body: { code: 'SVC_WEBHOOKS_NO_EXAMPLE' },
  })
  for (const event of ['internal.only', 'none']) {
    t.match(await tried({ event }), {
      status: 400,
      body: { code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED', message: /webhook\.test, order\.created/ },
    })
  }
  t.match(await tried({ name: 'x' }), { status: 400, body: { code: 'SVC_INVALID_INPUT' } })
  t.match(await tried({}), { status: 202 })
})

t.test('the AsyncAPI document has a message for each event', async (t) => {
  const { ask } = await startHost(t, { allowedEvents, core: { events } })
  const { status, body } = await ask('GET', '/asyncapi.json')
  t.equal(status, 200)
  t.match(body, { asyncapi: '3.0.0', info: { title: String, version: String } })
  t.same(Object.keys(body.channels), ['order.created', 'order.other', 'order/shipped'])
  const message = body.channels['order.created'].messages['order.created']
  t.match(message, {
    name: 'order.created',
    description: 'An order was paid.',
    payload: {
      required: ['event', 'payload', 'deliveryId'],
      properties: { event: { const: 'order.created' }, payload: { required: ['id', 'total'] } },
    },
    examples: [{ payload: { event: 'order.created', payload: example } }],
  })
  t.match(body.channels['order/shipped'].messages['order/shipped'].tags, [{ name: 'deprecated' }])
  for (const [name, operation] of Object.entries<Operation>(body.operations)) {
    t.equal(operation.action, 'send')
    t.equal(resolved(body, operation.channel.$ref), body.channels[name])
    t.equal(resolved(body, operation.messages[0]!.$ref), body.channels[name].messages[name])
  }
})

interface Operation {
  action: string
  channel: { $ref: string }
  messages: { $ref: string }[]
}

/** What a JSON pointer leads to. */
const resolved = (document: unknown, ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (value, name) => (value as Record<string, unknown>)[name.replaceAll('~1', '/')],
      document,
    )

t.test('an OpenAPI document has a webhook for each defined event', async (t) => {
  const database = { connectionString: await freshDatabase(t), max: 2 }
  const app = newHost(t)
  await app.register(swagger, { openapi: { openapi: '3.1.0' } })
  await app.register(svcCore, { database, events })
  await app.register(svcWebhooks, { allowedEvents })
  await app.ready()
  const { webhooks } = JSON.parse(JSON.stringify(app.swagger()))
  t.same(Object.keys(webhooks), ['delivery', 'order.created', 'order/shipped'])
  t.match(webhooks['order.created'].post, {
    description: 'An order was paid.',
    requestBody: {
      content: {
        'application/json': {
          schema: { properties: { payload: { properties: { total: { type: 'number' } } } } },
          example: { event: 'order.created', payload: example },
        },
      },
    },
  })
  t.equal(webhooks['order/shipped'].post.deprecated, true)
})
