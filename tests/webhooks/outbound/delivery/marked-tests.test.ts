// A test delivery tells of nothing that has happened: it is marked as a test, however often it is sent.
import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { defineEvents } from '@svc/core'
import { Type } from '@sinclair/typebox'
import { until, untilCount } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

const events = defineEvents({
  'invoice.created': { payload: Type.Object({ id: Type.Integer() }), example: { id: 7 } },
})

t.test('a test is marked in each attempt and when it is sent again, and no event is', async (t) => {
  const { app } = await startHost(t, {
    allowedEvents: ['invoice.created'],
    core: { events, worker: { maxAttempts: 2, retryDelaySeconds: 0 } },
  })
  const receiver = await openReceiver(t, { answer: [500, 500, 200] })
  const { webhooks } = app.svc
  const { id } = await webhooks.register({ url: receiver.url, events: ['*'] })

  const { deliveryId } = await webhooks.test({ id, event: 'invoice.created' })
  await receiver.waitFor(2)
  const dead = await untilCount(1, () => webhooks.listDeadLetters(id))
  t.match(dead, [{ deliveryId, isTest: true }])
  const all = { what: 'dead', since: new Date(0).toISOString() } as const
  t.match(await webhooks.recover({ id, ...all, dryRun: true }), { deliveries: 0 })
  t.match(await webhooks.recoverMany({ all: true, ...all }), { deliveries: 0, webhooks: 0 })
  t.match(await webhooks.recover({ id, ...all }), { deliveries: 0 }, 'a recovery leaves it out')
  await webhooks.redrive({ id })
  await receiver.waitFor(3)
  const attempts = await untilCount(3, () => webhooks.listDeliveries(id))
  t.ok(attempts.every(({ isTest }) => isTest === true))
  await webhooks.redeliver({ webhookId: id, deliveryId })
  await receiver.waitFor(4)
  await webhooks.redeliver({ webhookId: id, deliveryId, url: `${receiver.url}other` })
  await receiver.waitFor(5)
  await webhooks.test(id)
  const marks = (await receiver.waitFor(6)).map(({ headers }) => headers['x-svc-test'])
  t.same(
    marks,
    Array.from({ length: 6 }, () => 'true'),
  )

  await app.svc.events.publish('invoice.created', { id: 8 })
  const [event] = (await receiver.waitFor(7)).slice(6)
  t.notOk('x-svc-test' in event!.headers)
  const [logged] = await untilCount(1, () =>
    webhooks.listDeliveries({ webhookId: id, deliveryId: event!.body.deliveryId }),
  )
  t.notOk('isTest' in logged!)
  await webhooks.redeliver({ webhookId: id, deliveryId: event!.body.deliveryId })
  t.notOk('x-svc-test' in (await receiver.waitFor(8))[7]!.headers)
})

t.test('a recovery of what waits for its next attempt leaves tests out', async (t) => {
  const { app } = await startHost(t, {
    allowedEvents: ['invoice.created'],
    core: { events, worker: { retryDelaySeconds: 3600 } },
  })
  const receiver = await openReceiver(t, { answer: 500 })
  const { webhooks } = app.svc
  const { id } = await webhooks.register({ url: receiver.url, events: ['*'] })
  await webhooks.test(id)
  await app.svc.events.publish('invoice.created', { id: 8 })
  await receiver.waitFor(2)
  const failed = { what: 'failed', since: new Date(0).toISOString() } as const
  // The deliveries wait as soon as their attempts are recorded.
  await untilCount(2, () => webhooks.listDeliveries(id))
  t.match(await webhooks.recover({ id, ...failed, dryRun: true }), { deliveries: 1 })
  t.match(await webhooks.recover({ id, ...failed }), { deliveries: 1 })
  const again = (await receiver.waitFor(3))[2]!
  t.equal(again.body.event, 'invoice.created')
})

t.test('a test that fails counts in neither the health nor the statistics', async (t) => {
  const { app } = await startHost(t, {
    allowedEvents: ['invoice.created'],
    core: { events, worker: { maxAttempts: 1 } },
  })
  const receiver = await openReceiver(t, {
    answer: ({ headers }) => ({ status: headers['x-svc-test'] ? 500 : 200 }),
  })
  const { webhooks } = app.svc
  const { id } = await webhooks.register({ url: receiver.url, events: ['*'] })
  await webhooks.test(id)
  await untilCount(1, () => webhooks.listDeadLetters(id))
  // What is recorded later is not counted sooner.
  await app.svc.events.publish('invoice.created', { id: 8 })
  const all = { delivered: 0, failed: 0, dead: 0 }
  const { points } = await until(
    () => webhooks.stats({ webhookId: id, by: 'day' }),
    (stats) => stats.points.some(({ attempts }) => attempts.delivered > 0),
  )
  for (const { attempts, deliveries } of points) {
    all.delivered += attempts.delivered
    all.failed += attempts.failed
    all.dead += deliveries.dead
  }
  t.same(all, { delivered: 1, failed: 0, dead: 0 })
  t.match(await webhooks.get(id), { lastFailureAt: null, failingSince: null })
})

t.test('a payload of its own is sent as a test, where it is one of its event', async (t) => {
  const { app } = await startHost(t, {
    allowedEvents: ['invoice.created', 'order.created'],
    core: { events },
  })
  const receiver = await openReceiver(t)
  const { webhooks } = app.svc
  const { id, secret } = await webhooks.register({ url: receiver.url, events: ['order.created'] })
  receiver.secret = secret
  const send = (body: object) =>
    app.inject({ method: 'POST', url: `/_webhooks/${id}/test`, payload: body })

  t.equal((await send({ event: 'invoice.created', payload: { id: 9 } })).statusCode, 202)
  t.equal((await send({ event: 'order.created', payload: null })).statusCode, 202)
  t.equal((await send({ payload: ['\0', '\ud800'] })).statusCode, 202)
  const sent = await receiver.waitFor(3)
  t.same(
    new Map(sent.map(({ body }) => [body.event, body.payload])),
    new Map<string, unknown>([
      ['invoice.created', { id: 9 }],
      ['order.created', null],
      ['webhook.test', ['\0', '\ud800']],
    ]),
  )
  t.ok(sent.every(({ headers, verified }) => headers['x-svc-test'] === 'true' && verified))
  t.equal((await app.svc.events.search({})).items.length, 0, 'no event was published')
  const audit = await app.svc.audit.list({ target: id })
  t.equal(audit.filter(({ changes }) => changes?.['deliveryId'] !== undefined).length, 3)

  const refused: [body: object, message: RegExp][] = [
    [{ event: 'invoice.created', payload: { id: 'x' } }, /does not match its schema: .*id/],
    [{ event: 'invoice.created', payload: null }, /does not match its schema/],
    [{ event: 'no.such', payload: {} }, /no\.such/],
    [{ event: 'svc.key.created', payload: {} }, /svc\.key\.created/],
    [{ payload: 'x'.repeat(256 * 1024) }, /has 262146 bytes as JSON; .* at most 262144/],
  ]
  for (const [body, message] of refused) {
    const answer = await send(body)
    t.equal(answer.statusCode, 400, answer.body)
    t.match(answer.json().message, message)
  }
  await t.rejects(webhooks.test({ id, event: 'invoice.created', payload: {} }), /does not match/)

  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown
  const unwritten = { statusCode: 400, message: /must be something that JSON can write: / }
  await t.rejects(webhooks.test({ id, payload: deep }), unwritten)
  await t.rejects(webhooks.test({ id, payload: 1n }), unwritten)
  const json = `{"payload":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const headers = { 'content-type': 'application/json' }
  const url = `/_webhooks/${id}/test`
  const answer = await app.inject({ method: 'POST', url, headers, payload: json })
  t.equal(answer.statusCode, 400, answer.body)
  t.match(answer.json().message, unwritten.message)
})
