// promise: No route, and no call of the console, gives one tenant access to another
/** Every management route, and every operation of `svc.webhooks.as`, attacked with the ids of another tenant. */
import type { ReceivedRequest } from '@svc/testing'
import type { SvcWebhooks } from '@svc/webhooks'
import { openReceiver } from '../../support/receiver.ts'
import t from 'tap'
import { until, untilCount } from '../../support/until.ts'
import { startGuarded } from '../support/guarded-host.ts'

interface Victim {
  webhookId: string
  deliveryId: string
  requestId: string
  eventId: string
}

interface Answer {
  status: number
  body: string
}

interface Attack {
  path?: (victim: Victim) => string
  body?: object
  refused?: (answer: Answer, victim: Victim) => boolean
}

/** Not by the router: the path is that of a route. */
const isNotFound = ({ status, body }: Answer) => status === 404 && /"SVC_/.test(body)
const isForbidden = ({ status }: Answer) => status === 403
const isSilent = ({ status, body }: Answer, { webhookId, requestId }: Victim) =>
  status === 200 && !body.includes(webhookId) && !body.includes(requestId)

/** The path of a route with the ids of the victim. */
const pathWith = (route: string, { webhookId, deliveryId, eventId }: Victim) =>
  route
    .slice(route.indexOf(' ') + 1)
    .replace(':deliveryId', deliveryId)
    .replace(':recoveryId', deliveryId)
    .replace(':eventId', eventId)
    .replace(':id', webhookId)

const silent = (path: string): Attack => ({ path: () => path, refused: isSilent })
const event = 'order.created'
const url = 'https://globex.example/'
const since = '2020-01-01T00:00:00Z'
const subscription = { subscription: event }
const dead = { what: 'dead', since }

/**
 * Management routes by method and path: how each is attacked. By default the ids of the victim in the path are
 * not found.
 */
const ATTACKS: Record<string, Attack> = {
  'POST ': {
    body: { url: 'https://example.com', events: ['*'], tenant: 'acme' },
    refused: ({ status, body }) => status === 403 && body.includes('SVC_FOREIGN_TENANT'),
  },
  'GET ': silent('?tenant=acme'),
  'PATCH /:id': { body: { active: false } },
  'GET /deliveries': silent('/deliveries?tenant=acme'),
  'GET /stats': {
    path: ({ webhookId }) => `/stats?by=minute&webhookId=${webhookId}`,
    refused: ({ status, body }) => status === 200 && !/delivered":[1-9]/.test(body),
  },
  'GET /dead-letters': silent('/dead-letters?tenant=acme'),
  // It has no example, which is an error of its own.
  'POST /:id/test': { body: { event: 'order.created' } },
  'POST /:id/recover': { body: dead },
  'POST /recover': { body: { tenant: 'acme', ...dead }, refused: isForbidden },
  'GET /inbound': silent('/inbound?tenant=acme'),
  'POST /inbound/:id/replay': { path: ({ requestId }) => `/inbound/${requestId}/replay` },
  'GET /inbound/sources': { refused: isForbidden },
  'POST /inbound/sources/:source/test': { body: {}, refused: isForbidden },
  'GET /feed': silent('/feed?after=start&tenant=acme'),
  'GET /handlers/dead-letters': { refused: isForbidden },
  'POST /handlers/redrive': { body: subscription, refused: isForbidden },
  'POST /pause-all': { body: {}, refused: isForbidden },
  'POST /resume-all': { body: {}, refused: isForbidden },
  'POST /handlers/pause': { body: subscription, refused: isForbidden },
  'POST /handlers/resume': { body: subscription, refused: isForbidden },
  'DELETE /handlers/dead-letters/:id': {
    path: ({ deliveryId }) => `/handlers/dead-letters/${deliveryId}`,
    refused: isForbidden,
  },
  // The same for everybody.
  'GET /events': { refused: isSilent },
  'GET /asyncapi.json': { refused: isSilent },
}

type Within = ReturnType<SvcWebhooks['as']>

/** What each operation is asked for with the ids of the victim, or with its tenant. */
const CALLS: { [Name in keyof Within]: (by: Within, victim: Victim) => Promise<unknown> } = {
  register: (by) => by.register({ url, events: ['*'], tenant: 'acme' }),
  list: (by) => by.list({ tenant: 'acme' }),
  count: (by) => by.count({ tenant: 'acme' }),
  countDeadLetters: (by, { webhookId }) => by.countDeadLetters({ webhookId }),
  get: (by, { webhookId }) => by.get(webhookId),
  signing: (by, { webhookId }) => by.signing(webhookId),
  update: (by, { webhookId: id }) => by.update({ id, active: false }),
  delete: (by, { webhookId }) => by.delete(webhookId),
  rotateSecret: (by, { webhookId: id }) => by.rotateSecret({ id }),
  test: (by, { webhookId }) => by.test(webhookId),
  feed: (by) => by.feed({ after: 'start', tenant: 'acme' }),
  webhookFeed: (by, { webhookId: id }) => by.webhookFeed({ id }),
  event: (by, { eventId }) => by.event(eventId),
  listEvents: (by) => by.listEvents(),
  tryFilter: (by) => by.tryFilter({ filter: {}, events: ['*'], tenant: 'acme' }),
  listTenants: (by) => by.listTenants(),
  deliver: (by, { webhookId, deliveryId }) =>
    by.deliver({ webhookId, event, payload: 1, deliveryId, attempt: 1 }),
  listDeliveries: (by, { webhookId }) => by.listDeliveries(webhookId),
  searchDeliveries: (by, { webhookId }) => by.searchDeliveries({ webhookId }),
  getDelivery: (by, { webhookId, deliveryId }) => by.getDelivery({ webhookId, deliveryId }),
  redeliver: (by, { webhookId, deliveryId }) => by.redeliver({ webhookId, deliveryId }),
  listDeadLetters: (by, { webhookId }) => by.listDeadLetters(webhookId),
  redrive: (by, { webhookId }) => by.redrive(webhookId),
  recover: (by, { webhookId: id }) => by.recover({ id, what: 'dead', since }),
  recoverMany: (by) => by.recoverMany({ tenant: 'acme', what: 'dead', since }),
  listRecoveries: (by, { webhookId }) => by.listRecoveries(webhookId),
  getRecovery: (by, { webhookId, deliveryId: id }) => by.getRecovery({ webhookId, id }),
  listHandlerDeadLetters: (by) => by.listHandlerDeadLetters(),
  pauseAll: (by) => by.pauseAll({ tenant: 'globex' }),
  resumeAll: (by) => by.resumeAll(),
  pauseHandler: (by) => by.pauseHandler(subscription),
  resumeHandler: (by) => by.resumeHandler(subscription),
  redriveHandler: (by) => by.redriveHandler(subscription),
  deleteHandlerDeadLetter: (by, { deliveryId }) => by.deleteHandlerDeadLetter(deliveryId),
  stats: (by) => by.stats({ tenant: 'acme', by: 'minute' }),
  listInbound: (by) => by.listInbound({ tenant: 'acme' }),
  listSources: (by) => by.listSources(),
  testInbound: (by) => by.testInbound('sender'),
  replayInbound: (by, { requestId }) => by.replayInbound(requestId),
}

const FOREIGN_TENANT = { code: 'SVC_FOREIGN_TENANT' }
const OPERATOR_ONLY = { code: 'SVC_WEBHOOKS_OPERATOR_ONLY', statusCode: 403 }

/** What must come of a call, where it is not a 404. */
const OUTCOMES: { [Name in keyof Within]?: object } = {
  register: FOREIGN_TENANT,
  tryFilter: FOREIGN_TENANT,
  recoverMany: FOREIGN_TENANT,
  list: [],
  listTenants: [],
  listInbound: [],
  // The same for everybody.
  listEvents: [{ name: event }],
  count: { count: 0 },
  countDeadLetters: { count: 0 },
  feed: { events: [] },
  stats: { points: Array.from({ length: 60 }, () => ({ attempts: { delivered: 0 } })) },
  listHandlerDeadLetters: OPERATOR_ONLY,
  pauseAll: OPERATOR_ONLY,
  resumeAll: OPERATOR_ONLY,
  pauseHandler: OPERATOR_ONLY,
  resumeHandler: OPERATOR_ONLY,
  redriveHandler: OPERATOR_ONLY,
  deleteHandlerDeadLetter: OPERATOR_ONLY,
  listSources: OPERATOR_ONLY,
  testInbound: OPERATOR_ONLY,
}

for (const tenant of ['acme', null]) {
  t.test(
    `no route and no operation of one tenant reaches ${tenant ?? 'the operator'}`,
    async (t) => {
      const { app, routes, keyOf, ask } = await startGuarded(t)
      const receiver = await openReceiver(t)
      const { id: webhookId } = await app.svc.webhooks.register({
        url: receiver.url,
        events: ['*'],
        tenant,
      })
      const hook = await app.inject({
        method: 'POST',
        url: `/hooks/${tenant ?? 'none'}`,
        payload: { id: 1 },
      })
      t.equal(hook.statusCode, 200, hook.body)
      const [attempt] = await untilCount(1, () => app.svc.webhooks.listDeliveries(webhookId))
      const [logged] = await untilCount(1, () => app.svc.webhooks.listInbound({}))
      const victim = {
        webhookId,
        deliveryId: attempt?.deliveryId ?? '',
        requestId: logged?.id ?? '',
        eventId: attempt?.eventId ?? '',
      }
      // How its attempts go is written in the background.
      const before = await until(
        () => app.svc.webhooks.get(webhookId),
        ({ lastSuccessAt }) => lastSuccessAt !== null,
      )

      t.ok(routes.length >= 13, routes.join())
      for (const route of routes) {
        const { path, body, refused = isNotFound } = ATTACKS[route] ?? {}
        const [method = ''] = route.split(' ')
        const attacked = path?.(victim) ?? pathWith(route, victim)
        for (const scopes of [['webhooks:manage'], ['admin']]) {
          const key = await keyOf('globex', scopes)
          const answer = await ask(key, method, attacked, body)
          t.ok(refused(answer, victim), `${route} with ${scopes}: ${JSON.stringify(answer)}`)
        }
      }
      const by = app.svc.webhooks.as({ tenant: 'globex' })
      for (const name of Object.keys(by) as (keyof Within)[]) {
        const call = CALLS[name]
        if (!call) t.fail(`nobody has said how to attack ${name}: add it to CALLS`)
        const answer = await call?.(by, victim).catch((error: unknown) => error)
        const expected = OUTCOMES[name] ?? { statusCode: 404 }
        t.match(answer, expected, name)
        if (Array.isArray(expected)) t.equal((answer as unknown[]).length, expected.length, name)
      }
      t.same(await app.svc.webhooks.get(webhookId), before, 'nothing of it has changed')
      t.equal(receiver.received.length, 1)
    },
  )
}

t.test('only an operator with admin sends a delivery to another address', async (t) => {
  const { app, keyOf, ask } = await startGuarded(t)
  const receiver = await openReceiver(t)
  const { id } = await app.svc.webhooks.register({
    url: receiver.url,
    events: ['*'],
    tenant: 'acme',
  })
  await app.svc.events.publish('order.created', {}, { tenant: 'acme' })
  const [attempt] = await untilCount(1, () => app.svc.webhooks.listDeliveries(id))
  const other = await openReceiver(t)
  const path = `/${id}/deliveries/${attempt?.deliveryId}/redeliver`
  for (const [tenant, scope] of [
    ['acme', 'webhooks:manage'],
    ['acme', 'admin'],
    [null, 'webhooks:manage'],
  ] as const) {
    const answer = await ask(await keyOf(tenant, [scope]), 'POST', path, { url: other.url })
    const refused = { status: 403, body: /SVC_WEBHOOKS_ADDRESS_NOT_ALLOWED/ }
    t.match(answer, refused, `${tenant} with ${scope}`)
  }
  const foreign = await keyOf('globex', ['admin'])
  t.equal((await ask(foreign, 'POST', path, { url: other.url })).status, 404)
  t.equal(other.received.length, 0)
  const admin = await keyOf(null, ['admin'])
  t.equal((await ask(admin, 'POST', path, { url: other.url })).status, 202)
  await other.waitFor(1)
})

t.test('a key with a tenant manages the webhooks of its tenant', async (t) => {
  const { app, keyOf, ask } = await startGuarded(t)
  const receiver = await openReceiver(t)
  const key = await keyOf('acme', ['webhooks:manage'])
  const made = await ask(key, 'POST', '', { url: receiver.url, events: ['order.created'] })
  t.equal(made.status, 201)
  const { id, tenant } = JSON.parse(made.body)
  t.equal(tenant, 'acme')
  const ofOperator = await openReceiver(t)
  await app.svc.webhooks.register({ url: ofOperator.url, events: ['*'] })

  const list = async (who: string, query = '') =>
    (JSON.parse((await ask(who, 'GET', query)).body) as { id: string }[]).map((one) => one.id)
  t.strictSame(await list(key), [id])
  const operator = await keyOf(null, ['webhooks:manage'])
  t.equal((await list(operator)).length, 2)
  t.strictSame(await list(operator, '?tenant=acme'), [id])
  t.equal((await list(operator, '?tenant=')).length, 1)
  t.strictSame(await list(operator, '?tenant=globex'), [])

  await app.svc.events.publish('order.created', 1, { tenant: 'acme' })
  await app.svc.events.publish('order.created', 2, { tenant: 'globex' })
  await app.svc.events.publish('order.created', 3)
  const payloadsOf = (requests: ReceivedRequest[]) =>
    requests.map(({ body }) => body.payload as number).toSorted()
  t.strictSame(payloadsOf(await ofOperator.waitFor(3)), [1, 2, 3])
  t.strictSame(payloadsOf(await receiver.waitFor(1)), [1])

  const inside = 'http://169.254.169.254/latest/meta-data'
  const refused = { status: 400, body: /SVC_WEBHOOKS_URL_REFUSED/ }
  t.match(await ask(key, 'PATCH', `/${id}`, { url: inside }), refused)
  t.match(await ask(key, 'POST', '', { url: inside, events: ['*'] }), refused)
  const transform = await ask(key, 'PATCH', `/${id}`, { transform: 'slack' })
  t.match(transform, { status: 403, body: /SVC_WEBHOOKS_TRANSFORM_NOT_ALLOWED/ })
  t.equal((await ask(key, 'DELETE', `/${id}`)).status, 204)
})
