import t, { type Test } from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test(
  'the waiting deliveries of a deleted webhook are logged as skipped and dropped',
  async (t) => {
    const { app, ask, register } = await startHost(t, {
      core: { worker: { retryDelaySeconds: 60 } },
    })
    const receiver = await openReceiver(t, { answer: 500 })
    const { id } = await register(receiver.url)
    for (let n = 0; n < 3; n++) await app.svc.events.publish('order.created', { n })
    await until(
      () => ask('GET', `/${id}/deliveries`),
      ({ body }) => body.length === 3,
    )

    t.equal((await ask('DELETE', `/${id}`)).status, 204)
    await app.svc.events.publish('order.created', { n: 3 })

    const { rows: log } = await app.svc.database.query(
      `select status, attempt, error from svc."__svc.webhooks.delivery_log" order by id`,
    )
    t.same(
      log,
      [
        { status: 'failed', attempt: 1, error: 'http' },
        { status: 'skipped', attempt: 2, error: null },
      ].flatMap((row) => [row, row, row]),
    )
    t.equal(await jobsOf(app.svc.database), 0)
    t.equal(receiver.received.length, 3)
  },
)

t.test('an attempt under way when its webhook is deleted is not retried', async (t) => {
  const { app, ask, register } = await startHost(t)
  const { promise: answered, resolve: answer } = Promise.withResolvers<500>()
  const receiver = await openReceiver(t, { answer: () => answered })
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', {})
  await receiver.waitFor(1)
  t.equal((await ask('DELETE', `/${id}`)).status, 204)
  answer(500)

  const log = async () =>
    (
      await app.svc.database.query(
        `select status from svc."__svc.webhooks.delivery_log" order by id`,
      )
    ).rows
  t.same(await until(log, (rows) => rows.length === 2), [
    { status: 'failed' },
    { status: 'skipped' },
  ])
  t.equal(await jobsOf(app.svc.database), 0)
  t.equal(receiver.received.length, 1)
})

/** A webhook whose delivery has one attempt, which is under way until `answer` is called. */
async function lastAttemptUnderWay(t: Test) {
  const host = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const { promise: answered, resolve: answer } = Promise.withResolvers<500 | 410>()
  const receiver = await openReceiver(t, { answer: () => answered })
  const { id } = await host.register(receiver.url)
  await host.app.svc.events.publish('order.created', {})
  await receiver.waitFor(1)
  const log = async () => {
    const { rows } = await host.app.svc.database.query(
      `select status, attempt, error from svc."__svc.webhooks.delivery_log" order by id`,
    )
    return rows
  }
  return { ...host, id, answer, log }
}

for (const status of [500, 410] as const) {
  t.test(
    `a last attempt that a ${status} ends after the deletion leaves no dead letter`,
    async (t) => {
      const { app, ask, id, answer, log } = await lastAttemptUnderWay(t)
      t.equal((await ask('DELETE', `/${id}`)).status, 204)
      answer(status)
      const rows = await until(log, ({ length }) => length > 0)
      t.same(rows, [
        { status: 'failed', attempt: 1, error: 'http' },
        { status: 'skipped', attempt: 2, error: null },
      ])
      t.equal(await jobsOf(app.svc.database, '__svc.webhooks.deliver.dlq'), 0)
      t.same((await ask('GET', '/dead-letters')).body, [])
    },
  )
}

t.test('nor does one that ends while the transaction of the deletion is open', async (t) => {
  const { app, id, answer, log } = await lastAttemptUnderWay(t)
  const letters = () => jobsOf(app.svc.database, '__svc.webhooks.deliver.dlq')
  await app.svc.transaction(async (db) => {
    await app.svc.webhooks.delete(id, { db })
    answer(500)
    t.match(await until(log, ({ length }) => length > 0), [{ status: 'dead' }])
    t.equal(await letters(), 1, 'the webhook may still be kept')
  })
  await until(async () => (await letters()) === 0)
})

t.test('the dead letters of a deleted webhook are deleted', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', {})
  await until(
    () => ask('GET', `/${id}/dead-letters`),
    ({ body }) => body.length === 1,
  )
  await ask('DELETE', `/${id}`)
  t.equal(await jobsOf(app.svc.database, '__svc.webhooks.deliver.dlq'), 0)
})

interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: { count: number }[] }>
}

async function jobsOf(database: Queryable, queue = '__svc.webhooks.deliver'): Promise<number> {
  const { rows } = await database.query(
    `select count(*)::int from svc_jobs.job where name = $1 and state < 'completed'`,
    [queue],
  )
  return rows[0]!.count
}
