// promise: A webhook whose receiver is slow, down or flooded delays other webhooks by no more than the stated bound
import pg from 'pg'
import t from 'tap'
import { receiver as openReceiver } from '@svc/testing'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

// What docs/how-it-works/deliveries.md promises beside endpoints that hang, at three concurrencies.

/** More than the lane of new deliveries takes of 64 in flight, and fewer than it takes of 256. */
const HANGING = 60
const BACKLOG = 200

for (const concurrency of [32, 64, 256]) {
  t.test(`beside ${HANGING} endpoints that hang, with ${concurrency} in flight`, async (t) => {
    const host = await startHost(t, {
      // In a busy process a healthy endpoint may take longer: it gets its delivery later, all the same.
      deliveryTimeoutMs: 500,
      core: { worker: { concurrency, maxAttempts: 50 } },
    })
    const { app, ask, register } = host
    const publish = (name: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, n) => app.svc.events.publish(name, { n })))
    const openCircuits = async () => {
      const { rows } = await app.svc.database.query(
        `select count(*)::int as count from svc."__svc.recipient_states" where circuit_open`,
      )
      return rows[0].count as number
    }

    const hanging = await openReceiver({ answer: 'timeout' })
    t.teardown(() => hanging.close())
    for (let n = 0; n < HANGING; n++) await register(`${hanging.url}${n}`, ['order.created'])
    await publish('order.created', 5)
    await until(openCircuits, (count) => count >= HANGING)

    const healthy = await openReceiver()
    t.teardown(() => healthy.close())
    await register(healthy.url, ['order.shipped'])
    await publish('order.shipped', 10)
    t.ok(await healthy.waitFor(10), 'a webhook that answers gets its deliveries')

    // What a paused webhook has waiting comes when it is resumed.
    const resumed = await openReceiver()
    t.teardown(() => resumed.close())
    const { id } = await register(resumed.url, ['order.shipped'])
    await publish('order.shipped', 1)
    await resumed.waitFor(1)
    await ask('PATCH', `/${id}`, { active: false })
    for (let n = 0; n < 20; n++) await ask('POST', `/${id}/test`)
    await ask('PATCH', `/${id}`, { active: true })
    t.ok(await resumed.waitFor(21), 'so does one that was resumed')

    // What an endpoint that was down has waiting comes when it is up.
    const recovered = await openReceiver({ answer: 500 })
    t.teardown(() => recovered.close())
    await register(recovered.url, ['order.shipped'])
    await publish('order.shipped', BACKLOG)
    await until(openCircuits, (count) => count > HANGING)
    recovered.answer(200)
    await until(
      async () => (await deliveredTo(app.svc.database, recovered.url)) === BACKLOG,
      Boolean,
    )
    t.pass('and one that recovered')
  })
}

interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: { count: number }[] }>
}

async function deliveredTo(database: Queryable, url: string): Promise<number> {
  const { rows } = await database.query(
    `select count(*)::int as count
       from svc."__svc.webhooks.delivery_log" as log
       join svc."__svc.webhooks.registrations" as webhook on webhook.id = log.webhook_id
      where webhook.url = $1 and log.status = 'delivered'`,
    [url],
  )
  return rows[0]!.count
}

t.test('beside endpoints that hang, a delivery to another one needs no fetch', async (t) => {
  const { app, register } = await startHost(t, { core: { worker: { concurrency: 64 } } })
  const hanging = await openReceiver({ answer: 'timeout' })
  const healthy = await openReceiver()
  for (const one of [hanging, healthy]) t.teardown(() => one.close())
  for (let n = 0; n < 40; n++) await register(`${hanging.url}${n}`, ['order.created'])
  await register(healthy.url, ['order.shipped'])
  await app.svc.events.publish('order.created', {})
  await hanging.waitFor(40)
  await app.svc.events.publish('order.shipped', {})
  await healthy.waitFor(1)

  const { value: query } = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query')!
  const statements = t.capture(pg.Client.prototype, 'query', query)
  const startedAt = performance.now()
  for (let n = 2; n <= 80; n++) {
    await app.svc.events.publish('order.shipped', { n })
    await healthy.waitFor(n)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const texts = statements().map(({ args: [statement] }) =>
    typeof statement === 'string' ? statement : String((statement as { text?: string }).text),
  )
  const fetches = texts.filter((text) => text.includes('with next as materialized')).length
  t.ok(texts.length > 79)
  t.comment(`${fetches} fetches in ${seconds.toFixed(1)} s`)
  t.ok(fetches < 40 + 10 * seconds, `${fetches} fetches for 79 deliveries`)
})

t.test('the first failures of endpoints that hang take few statements', async (t) => {
  const HOST = { concurrency: 64, retryDelaySeconds: 60 }
  const { app, register } = await startHost(t, {
    deliveryTimeoutMs: 1500,
    core: { worker: HOST },
  })
  const hanging = await openReceiver({ answer: 'timeout' })
  t.teardown(() => hanging.close())
  for (let n = 0; n < 40; n++) await register(`${hanging.url}${n}`, ['order.created'])
  await app.svc.events.publish('order.created', {})
  await hanging.waitFor(40)

  const { value: query } = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query')!
  const statements = t.capture(pg.Client.prototype, 'query', query)
  await until(async () => {
    const { rows } = await app.svc.database.query(
      `select count(*)::int as count from svc_jobs.job
          where state = 'retry' and start_after > now()`,
    )
    return rows[0].count === 40
  }, Boolean)
  const texts = statements().map(({ args: [statement] }) =>
    typeof statement === 'string' ? statement : String((statement as { text?: string }).text),
  )
  t.ok(texts.some((text) => text.includes('__svc.settle')))
  const scans = texts.filter((text) => text.includes('with portion as materialized'))
  t.ok(scans.length < 20, `${scans.length} scans for deliveries to park`)
})
