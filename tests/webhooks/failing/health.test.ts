import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { until, untilCount } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

t.test(
  'a webhook shows when its attempts failed, since when, and when one succeeded',
  async (t) => {
    const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 50 } } })
    const receiver = await openReceiver(t)
    const { id } = await register(receiver.url)
    const shown = async () => (await ask('GET', `/${id}`)).body
    const untouched = { failingSince: null, lastSuccessAt: null, lastFailureAt: null, waiting: 0 }
    t.match(await shown(), { ...untouched, disabledAt: null, disabledReason: null })

    await app.svc.events.publish('order.created', { n: 1 })
    const well = await until(
      shown,
      ({ lastSuccessAt, waiting }) => lastSuccessAt !== null && waiting === 0,
    )
    t.match(well, { failingSince: null, lastFailureAt: null })

    receiver.answer(503)
    await app.svc.events.publish('order.created', { n: 2 })
    const failing = await until(shown, ({ failingSince }) => failingSince !== null)
    t.ok(failing.failingSince > well.lastSuccessAt)
    t.match(failing, { active: true, lastSuccessAt: well.lastSuccessAt, waiting: 1 })
    const later = await until(shown, ({ lastFailureAt }) => lastFailureAt > failing.lastFailureAt)
    t.equal(later.failingSince, failing.failingSince)

    receiver.answer(200)
    const again = await until(shown, ({ failingSince }) => failingSince === null)
    t.ok(again.lastSuccessAt > later.lastFailureAt)
    t.ok(again.lastFailureAt >= later.lastFailureAt)
    await until(shown, ({ waiting }) => waiting === 0)
  },
)

t.test('failures of our own do not count for the webhook', async (t) => {
  const { app, ask, register } = await startHost(t, {
    allowedNetworks: [],
    transforms: {
      broken: () => {
        throw new Error('no')
      },
    },
  })
  const blocked = await register('http://localhost:9/hook')
  const broken = await register('http://203.0.113.7/hook').catch(() =>
    register('http://a.test/hook'),
  )
  await app.svc.webhooks.update({ id: broken.id, transform: 'broken' })
  await app.svc.events.publish('order.created', {})
  for (const { id, error } of [
    { id: blocked.id, error: 'blocked' },
    { id: broken.id, error: 'transform' },
  ]) {
    const rows = await until(
      async () => (await ask('GET', `/${id}/deliveries`)).body,
      (found) => found.length >= 2,
    )
    t.equal(rows[0].error, error)
    // What is written at all is written before the second attempt is.
    t.match((await ask('GET', `/${id}`)).body, { failingSince: null, lastFailureAt: null })
  }
})

t.test('waiting counts the queued, parked and active deliveries of each webhook', async (t) => {
  const publisher = await startHost(t, { core: { worker: { enabled: false } } })
  const { app, ask, register } = publisher
  const receiver = await openReceiver(t)
  const { url } = receiver
  const [first, second] = [await register(url), await register(url, ['order.shipped'])]
  for (let n = 0; n < 5; n++) await app.svc.events.publish('order.created', { n })
  await app.svc.events.publish('order.shipped', {})
  await ask('PATCH', `/${second.id}`, { active: false })
  t.equal((await ask('POST', `/${second.id}/test`)).status, 202)

  const listed = (await ask('GET', '')).body as { id: string; waiting: number }[]
  t.strictSame(
    listed.map(({ id, waiting }) => ({ id, waiting })),
    [
      { id: second.id, waiting: 2 },
      { id: first.id, waiting: 6 },
    ],
  )
  t.equal((await ask('GET', `/${first.id}`)).body.waiting, 6)
  t.equal((await ask('PATCH', `/${first.id}`, { label: 'a' })).body.waiting, 6)

  await startHost(t, { database: publisher.database })
  // Started after the host, and so ended before it, which waits for the attempt.
  const slow = await openReceiver(t, { answer: 'timeout' })
  const busy = await register(slow.url, ['order.shipped'])
  await app.svc.events.publish('order.shipped', {})
  await slow.waitFor(1)
  t.equal((await ask('GET', `/${busy.id}`)).body.waiting, 1, 'an attempt is under way')
})

t.test('a transaction that holds the row of a webhook stops no delivery', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await register(receiver.url)
  const lastSuccess = async () => (await ask('GET', `/${id}`)).body.lastSuccessAt
  await app.svc.transaction(async (db) => {
    await app.svc.webhooks.update({ id, label: 'held' }, { db })
    await app.svc.events.publish('order.created', {})
    await untilCount(1, async () => (await ask('GET', `/${id}/deliveries?status=delivered`)).body)
  })
  t.ok(await until(lastSuccess))
})
