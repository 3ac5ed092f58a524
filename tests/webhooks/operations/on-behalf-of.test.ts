/** `svc.webhooks.as`: the operations within a tenant, with the actor in the audit. */
import t from 'tap'
import { InvalidInput } from '@svc/core'
import type { SvcWebhooks } from '@svc/webhooks'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { until, untilCount } from '../../support/until.ts'

type Within = ReturnType<SvcWebhooks['as']>

interface Victim {
  webhookId: string
  deliveryId: string
  requestId: string
  eventId: string
}

const url = 'https://globex.example/'
const event = 'order.created'

const OPERATOR_ONLY = { code: 'SVC_WEBHOOKS_OPERATOR_ONLY', statusCode: 403 }

/** What each operation is asked for with the ids of another tenant, and what must come of it. */
const ATTACKS: Record<keyof Within, [(by: Within, victim: Victim) => Promise<unknown>, object]> = {
  register: [
    (by) => by.register({ url, events: ['*'], tenant: 'acme' }),
    { code: 'SVC_FOREIGN_TENANT' },
  ],
  list: [(by) => by.list({ tenant: 'acme' }), []],
  count: [(by) => by.count({ tenant: 'acme' }), { count: 0 }],
  countDeadLetters: [(by, { webhookId }) => by.countDeadLetters({ webhookId }), { count: 0 }],
  get: [(by, { webhookId }) => by.get(webhookId), { statusCode: 404 }],
  signing: [(by, { webhookId }) => by.signing(webhookId), { statusCode: 404 }],
  update: [(by, { webhookId }) => by.update({ id: webhookId, active: false }), { statusCode: 404 }],
  delete: [(by, { webhookId }) => by.delete(webhookId), { statusCode: 404 }],
  rotateSecret: [(by, { webhookId }) => by.rotateSecret({ id: webhookId }), { statusCode: 404 }],
  test: [(by, { webhookId }) => by.test(webhookId), { statusCode: 404 }],
  feed: [(by) => by.feed({ after: 'start', tenant: 'acme' }), { events: [] }],
  webhookFeed: [(by, { webhookId: id }) => by.webhookFeed({ id }), { statusCode: 404 }],
  event: [(by, { eventId }) => by.event(eventId), { statusCode: 404 }],
  // The same for everybody.
  listEvents: [(by) => by.listEvents(), [{ name: event }, { name: 'order.shipped' }]],
  tryFilter: [
    (by) => by.tryFilter({ filter: {}, events: ['*'], tenant: 'acme' }),
    { code: 'SVC_FOREIGN_TENANT' },
  ],
  listTenants: [(by) => by.listTenants(), []],
  deliver: [
    (by, { webhookId, deliveryId }) =>
      by.deliver({ webhookId, event, payload: 1, deliveryId, attempt: 1 }),
    { statusCode: 404 },
  ],
  listDeliveries: [(by, { webhookId }) => by.listDeliveries(webhookId), { statusCode: 404 }],
  searchDeliveries: [
    (by, { webhookId }) => by.searchDeliveries({ webhookId }),
    { statusCode: 404 },
  ],
  getDelivery: [
    (by, { webhookId, deliveryId }) => by.getDelivery({ webhookId, deliveryId }),
    { statusCode: 404 },
  ],
  redeliver: [
    (by, { webhookId, deliveryId }) => by.redeliver({ webhookId, deliveryId }),
    { statusCode: 404 },
  ],
  listDeadLetters: [(by, { webhookId }) => by.listDeadLetters(webhookId), { statusCode: 404 }],
  redrive: [(by, { webhookId }) => by.redrive(webhookId), { statusCode: 404 }],
  recover: [
    (by, { webhookId: id }) => by.recover({ id, what: 'dead', since: '2020-01-01T00:00:00Z' }),
    { statusCode: 404 },
  ],
  recoverMany: [
    (by) => by.recoverMany({ tenant: 'acme', what: 'dead', since: '2020-01-01T00:00:00Z' }),
    { code: 'SVC_FOREIGN_TENANT' },
  ],
  listRecoveries: [(by, { webhookId }) => by.listRecoveries(webhookId), { statusCode: 404 }],
  getRecovery: [
    (by, { webhookId, deliveryId: id }) => by.getRecovery({ webhookId, id }),
    { statusCode: 404 },
  ],
  listHandlerDeadLetters: [(by) => by.listHandlerDeadLetters(), OPERATOR_ONLY],
  pauseAll: [(by) => by.pauseAll({ tenant: 'globex' }), OPERATOR_ONLY],
  resumeAll: [(by) => by.resumeAll(), OPERATOR_ONLY],
  pauseHandler: [(by) => by.pauseHandler({ subscription: event }), OPERATOR_ONLY],
  resumeHandler: [(by) => by.resumeHandler({ subscription: event }), OPERATOR_ONLY],
  redriveHandler: [(by) => by.redriveHandler({ subscription: event }), OPERATOR_ONLY],
  deleteHandlerDeadLetter: [
    (by, { deliveryId }) => by.deleteHandlerDeadLetter(deliveryId),
    OPERATOR_ONLY,
  ],
  stats: [
    (by) => by.stats({ tenant: 'acme', from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' }),
    { points: [{ attempts: { delivered: 0 } }] },
  ],
  listInbound: [(by) => by.listInbound({ tenant: 'acme' }), []],
  listSources: [(by) => by.listSources(), OPERATOR_ONLY],
  testInbound: [(by) => by.testInbound('sender'), OPERATOR_ONLY],
  replayInbound: [(by, { requestId }) => by.replayInbound(requestId), { statusCode: 404 }],
}

t.test('no operation on behalf of a tenant reaches another one', async (t) => {
  const { app } = await startHost(t, {
    inboundLog: { rawBodies: true },
    inbound: {
      sender: { path: '/hook', publishAs: event, verify: () => true, tenant: () => 'acme' },
    },
  })
  const receiver = await openReceiver(t)
  const { webhooks } = app.svc
  const { id: webhookId } = await webhooks.register({
    url: receiver.url,
    events: ['*'],
    tenant: 'acme',
  })
  await app.inject({ method: 'POST', url: '/hook', payload: { n: 1 } })
  const [attempt] = await untilCount(1, () => webhooks.listDeliveries(webhookId))
  const [request] = await untilCount(1, () => webhooks.listInbound())
  const { deliveryId, eventId } = attempt!
  const victim = { webhookId, deliveryId, eventId: eventId!, requestId: request!.id }
  // How its attempts go is written in the background.
  const before = await until(
    () => webhooks.get(webhookId),
    ({ lastSuccessAt }) => lastSuccessAt !== null,
  )

  const by = webhooks.as({ tenant: 'globex' })
  for (const method of Object.keys(by) as (keyof Within)[]) {
    const attack = ATTACKS[method]
    if (!attack) {
      t.fail(`nobody has said how to attack ${method}: add it to ATTACKS`)
      continue
    }
    const answer = await attack[0](by, victim).catch((error: unknown) => error)
    t.match(answer, attack[1], method)
    if (Array.isArray(attack[1])) t.equal((answer as unknown[]).length, attack[1].length, method)
  }
  t.same(await webhooks.get(webhookId), before)
  t.equal(receiver.received.length, 1)
})

t.test('within its tenant everything works, and the audit names the actor', async (t) => {
  const { app } = await startHost(t)
  const actor = { kind: 'console', keyId: null, userId: 'ada' } as const
  const by = app.svc.webhooks.as({ tenant: 'acme', actor, requestId: 'req-1', ip: '::1' })
  const made = await by.register({ url, events: ['*'] })
  t.equal(made.tenant, 'acme')
  t.same(
    (await by.list()).map(({ id }) => id),
    [made.id],
  )
  await app.svc.webhooks.register({ url, events: ['*'] })
  t.equal((await by.list()).length, 1)
  t.equal((await app.svc.webhooks.as({ tenant: null }).list()).length, 2)
  t.match(await app.svc.audit.list({ target: made.id }), [
    { action: 'webhook.create', actor, requestId: 'req-1', ip: '::1' },
  ])
  await t.rejects(by.update({ id: made.id, transform: 'slack' }), {
    code: 'SVC_WEBHOOKS_TRANSFORM_NOT_ALLOWED',
  })
})

t.test('svc.webhooks.as refuses a tenant that is missing, empty or malformed', async (t) => {
  const { app } = await startHost(t)
  for (const tenant of [undefined, '', 'a b', 7]) {
    t.throws(() => app.svc.webhooks.as({ tenant: tenant as never }), InvalidInput)
  }
  t.throws(() => app.svc.webhooks.as(undefined as never))
})
