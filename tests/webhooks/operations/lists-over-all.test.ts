import t, { type Test } from 'tap'
import type { DeliveryAttempt } from '@svc/webhooks'
import { openReceiver } from '../../support/receiver.ts'
import { startHost, type Host } from '../support/host.ts'
import { until, untilCount } from '../../support/until.ts'

interface Listed extends DeliveryAttempt {
  payload: { n: number }
}

/** Two webhooks, of which one fails at once with 503, and a third of the tenant acme. */
async function busyHost(t: Test): Promise<Host & { good: string; bad: string; acme: string }> {
  const host = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const receiver = await openReceiver(t)
  const broken = await openReceiver(t, { answer: 503 })
  const good = (await host.register(receiver.url)).id
  const bad = (await host.register(broken.url, ['order.shipped'])).id
  const { svc } = host.app
  const of = { url: receiver.url, events: ['order.created'], tenant: 'acme' }
  const acme = (await svc.webhooks.register(of)).id
  await svc.events.publish('order.created', { n: 1 }, { id: 'first' })
  await svc.events.publish('order.shipped', { n: 2 })
  await svc.events.publish('order.created', { n: 3 }, { id: 'first', tenant: 'acme' })
  await untilCount(5, () => svc.webhooks.listDeliveries())
  return { ...host, good, bad, acme }
}

const webhooksOf = (rows: Listed[]) => rows.map(({ webhookId }) => webhookId).toSorted()

t.test('the log over all webhooks is filtered and paged as that of one', async (t) => {
  const { ask, good, bad, acme } = await busyHost(t)
  const list = async (query: string): Promise<Listed[]> =>
    (await ask('GET', `/deliveries${query}`)).body
  const all = await list('')
  t.equal(all.length, 5)
  t.same(
    all.map(({ id }) => id),
    all
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  )
  t.same(webhooksOf(await list(`?webhookId=${bad}`)), [bad])
  t.same(webhooksOf(await list('?tenant=acme')), [acme])
  t.same(webhooksOf(await list('?tenant=')), [good, good, good, bad].toSorted())
  t.same(webhooksOf(await list('?status=dead')), [bad])
  t.same(webhooksOf(await list('?statusCode=503')), [bad])
  t.same(webhooksOf(await list('?event=order.shipped')), [good, bad].toSorted())
  // The operator's event and acme's have the same id.
  t.same(webhooksOf(await list('?eventId=first')), [good, good, acme].toSorted())
  t.same(webhooksOf(await list('?eventId=first&tenant=acme')), [acme])
  for (const [webhook, query, found] of [
    [acme, 'tenant=acme', 1],
    [acme, 'tenant=', 0],
    [bad, 'tenant=', 1],
    [bad, 'tenant=acme', 0],
  ] as const) {
    const { body } = await ask('GET', `/${webhook}/deliveries?${query}`)
    t.equal(body.length, found, query)
  }
  const [one] = all
  t.same(
    (await list(`?deliveryId=${one?.deliveryId}`)).map(({ id }) => id),
    [one?.id],
  )
  t.same(await list('?webhookId=0190a1b2-0000-7000-8000-000000000000'), [])

  const page = await ask('GET', `/deliveries?limit=2&event=order.created`)
  t.equal(page.body.length, 2)
  const [, next = ''] =
    /^<\/_webhooks(\/deliveries\?.+)>; rel="next"$/.exec(String(page.headers['link'])) ?? []
  const rest = await ask('GET', next)
  t.equal(rest.body.length, 1)
  t.notOk('link' in rest.headers)
})

t.test('with latest each delivery is in the list once, as its latest attempt', async (t) => {
  const worker = { maxAttempts: 3, retryDelaySeconds: 0, retryBackoff: false }
  const { app, ask, register } = await startHost(t, { core: { worker } })
  const { svc } = app
  const good = await openReceiver(t)
  const broken = await openReceiver(t, { answer: 503 })
  await register(good.url)
  const { id: bad } = await register(broken.url)
  for (const n of [1, 2, 3]) await svc.events.publish('order.created', { n })
  const all = await until(
    () => svc.webhooks.listDeliveries(),
    (attempts) => attempts.length === 3 + 3 * 3,
  )
  const latest = await svc.webhooks.listDeliveries({ latest: true })
  t.equal(new Set(all.map(({ deliveryId }) => deliveryId)).size, 6)
  t.equal(latest.length, 6)
  t.same(
    latest,
    all.filter(({ id, deliveryId }) => all.find((one) => one.deliveryId === deliveryId)?.id === id),
  )
  t.same(
    latest.map(({ status, attempt }) => `${status} after ${attempt}`).toSorted(),
    [...Array(3).fill('dead after 3'), ...Array(3).fill('delivered after 1')].toSorted(),
  )
  const ids: string[] = []
  let next: string | undefined = '/deliveries?latest=true&limit=2'
  while (next) {
    const page: { body: Listed[]; headers: Record<string, unknown> } = await ask('GET', next)
    ids.push(...page.body.map(({ id }) => id))
    next = /^<\/_webhooks(\/deliveries\?.+)>; rel="next"$/.exec(String(page.headers['link']))?.[1]
  }
  t.same(
    ids,
    latest.map(({ id }) => id),
    'page by page',
  )
  t.same((await ask('GET', `/deliveries?latest=true&status=failed`)).body, [])
  t.equal((await ask('GET', `/${bad}/deliveries?latest=true`)).body.length, 3)
  t.equal((await ask('GET', `/${bad}/deliveries?latest=perhaps`)).status, 400)
})

t.test('a list includes rows of since, and none of until', async (t) => {
  const { ask } = await busyHost(t)
  const all: Listed[] = (await ask('GET', '/deliveries')).body
  const times = all.map(({ attemptedAt }) => attemptedAt).toSorted()
  const middle = times[2] ?? ''
  const list = async (query: string): Promise<Listed[]> =>
    (await ask('GET', `/deliveries${query}`)).body
  t.same(
    (await list(`?since=${middle}`)).map(({ attemptedAt }) => attemptedAt).toSorted(),
    times.filter((time) => time >= middle),
  )
  t.same(
    (await list(`?until=${middle}`)).map(({ attemptedAt }) => attemptedAt).toSorted(),
    times.filter((time) => time < middle),
  )
  for (const query of ['since=yesterday', 'statusCode=x', 'webhookId=x', 'eventId=%00']) {
    t.equal((await ask('GET', `/deliveries?${query}`)).status, 400, query)
    t.equal((await ask('GET', `/dead-letters?${query}`)).status, 400, query)
  }
})

t.test('the dead letters of all webhooks are filtered as the log is', async (t) => {
  const { ask, app, bad } = await busyHost(t)
  const broken = await openReceiver(t, { answer: 500 })
  const of = { url: broken.url, events: ['order.created'], tenant: 'acme' }
  const { id: acme } = await app.svc.webhooks.register(of)
  await app.svc.events.publish('order.created', { n: 4 }, { id: 'fourth', tenant: 'acme' })
  const list = async (query: string): Promise<Listed[]> =>
    (await ask('GET', `/dead-letters${query}`)).body
  const all = await untilCount(2, () => list(''))
  t.same(
    all.map(({ webhookId }) => webhookId),
    [acme, bad],
    'newest first',
  )
  for (const query of [
    `webhookId=${acme}`,
    'tenant=acme',
    'event=order.created',
    'eventId=fourth',
    `deliveryId=${all[0]?.deliveryId}`,
    'statusCode=500',
    'limit=1',
    `webhookId=${acme}&tenant=acme&status=dead&statusCode=500`,
  ]) {
    t.same(webhooksOf(await list(`?${query}`)), [acme], query)
  }
  t.same(webhooksOf(await list('?tenant=')), [bad])
  t.same(await list(`?tenant=acme&webhookId=${bad}`), [])
  t.equal((await ask('GET', `/${bad}/dead-letters?tenant=`)).body.length, 1)
  t.same((await ask('GET', `/${bad}/dead-letters?tenant=acme`)).body, [])
  t.same(await list('?status=failed'), [])
  t.same(await list(`?since=${new Date(Date.now() + 60_000).toISOString()}`), [])
  t.equal((await list(`?until=${new Date(Date.now() + 60_000).toISOString()}`)).length, 2)
  t.same(webhooksOf((await app.svc.webhooks.listDeadLetters({ tenant: 'acme' })) as Listed[]), [
    acme,
  ])
})

t.test('rows of a webhook that is deleted stay with its tenant', async (t) => {
  const { app } = await startHost(t)
  const { svc } = app
  const of = { url: 'https://receiver.example', events: ['order.created'], tenant: 'acme' }
  const { id } = await svc.webhooks.register(of)
  await svc.webhooks.update({ id, active: false })
  await svc.webhooks.test(id)
  await svc.webhooks.delete(id)
  const listed = await untilCount(1, () => svc.webhooks.listDeliveries({ tenant: 'acme' }))
  t.match(listed, [{ webhookId: id, status: 'skipped' }])
})
