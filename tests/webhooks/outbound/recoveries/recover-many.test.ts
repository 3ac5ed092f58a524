// promise: What a recovery over many webhooks counts beforehand is what it puts on its way
/** Recoveries over many webhooks: what is counted beforehand is what is put on its way. */
import { openReceiver } from '../../../support/receiver.ts'
import t from 'tap'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

const since = '2020-01-01T00:00:00Z'

t.test('what failed over a tenant, some webhooks or all is recovered with one call', async (t) => {
  const { app, ask } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const broken = await openReceiver(t, { answer: 500 })
  const fine = await openReceiver(t)
  const { webhooks, events } = app.svc
  const register = (url: string | null, tenant: string | null) =>
    webhooks.register({ url, events: '*', tenant })
  const [one, two, three] = [
    await register(broken.url, 'acme'),
    await register(broken.url, 'acme'),
    await register(broken.url, null),
  ]
  await register(fine.url, 'acme')
  const withoutUrl = await register(null, 'acme')
  await events.publish('order.created', { n: 1 }, { tenant: 'acme' })
  await events.publish('order.created', { n: 2 }, { tenant: 'acme' })
  await until(async () => (await webhooks.countDeadLetters()).count === 6)
  const recover = (body: object) => ask('POST', '/recover', { what: 'dead', since, ...body })
  const counts = async (of: object) => (await recover({ ...of, dryRun: true })).body
  t.same(await counts({ tenant: 'acme' }), { deliveries: 4, webhooks: 2 })
  t.same(await counts({ webhookIds: [one.id, three.id] }), { deliveries: 4, webhooks: 2 })
  t.same(await counts({ all: true }), { deliveries: 6, webhooks: 3 })
  t.same(await counts({ all: true, until: '2021-01-01T00:00:00Z' }), { deliveries: 0, webhooks: 0 })
  t.same(
    await webhooks
      .as({ tenant: 'acme' })
      .recoverMany({ all: true, what: 'dead', since, dryRun: true }),
    {
      deliveries: 4,
      webhooks: 2,
    },
  )
  for (const [body, status, code] of [
    [{}, 400, 'SVC_INVALID_INPUT'],
    [{ all: true, tenant: 'acme' }, 400, 'SVC_INVALID_INPUT'],
    [{ all: false }, 400, 'SVC_INVALID_INPUT'],
    [{ webhookIds: [] }, 400, 'SVC_INVALID_INPUT'],
    [{ webhookIds: [one.id, 'x'] }, 404, 'SVC_WEBHOOKS_NOT_FOUND'],
    [{ webhookIds: Array(1001).fill(one.id) }, 400, 'SVC_INVALID_INPUT'],
    [{ webhookIds: [withoutUrl.id] }, 409, 'SVC_WEBHOOKS_NO_URL'],
    [{ all: true, until: since }, 400, 'SVC_WEBHOOKS_INVALID_SPAN'],
  ] as const) {
    t.match(await recover(body), { status, body: { code } }, JSON.stringify(body))
  }
  t.equal((await webhooks.countDeadLetters()).count, 6, 'nothing of it has happened')

  broken.answer(200)
  const answer = await recover({ tenant: 'acme' })
  t.equal(answer.status, 202)
  t.same(answer.body, { deliveries: 4, webhooks: 2 })
  await until(async () => (await webhooks.countDeadLetters()).count === 2)
  for (const { id } of [one, two]) {
    const [recovery] = await webhooks.listRecoveries(id)
    t.match(recovery, { what: 'dead', deliveries: 2 })
  }
  t.same(await webhooks.listRecoveries(three.id), [])
  t.same((await recover({ all: true })).body, { deliveries: 2, webhooks: 1 })
  await until(async () => (await webhooks.countDeadLetters()).count === 0)
})

t.test('missing events and waiting retries are recovered over many webhooks', async (t) => {
  const { app, ask } = await startHost(t, {
    core: { worker: { maxAttempts: 5, retryDelaySeconds: 600 } },
  })
  const receiver = await openReceiver(t, { answer: 500 })
  const { webhooks, events } = app.svc
  await events.publish('order.created', { n: 1 })
  const made = await Promise.all(
    [1, 2, 3].map(() => webhooks.register({ url: receiver.url, events: '*' })),
  )
  const recover = async (body: object) =>
    (await ask('POST', '/recover', { all: true, since, ...body })).body
  const asked = { what: 'missing' }
  t.same(await recover({ ...asked, dryRun: true }), { deliveries: 3, webhooks: 3 })
  t.same(await recover(asked), { deliveries: 3, webhooks: 3 })
  await receiver.waitFor(3)
  t.same(await recover({ ...asked, dryRun: true }), { deliveries: 0, webhooks: 0 })
  const waiting = async () =>
    Promise.all(made.map(async ({ id }) => (await webhooks.get(id)).failingSince))
  await until(waiting, (all) => all.every((since) => since !== null))
  receiver.answer(200)
  t.same(await recover({ what: 'failed', dryRun: true }), { deliveries: 3, webhooks: 3 })
  t.same(await recover({ what: 'failed' }), { deliveries: 3, webhooks: 3 })
  await receiver.waitFor(6)
})
