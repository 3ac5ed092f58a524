import t from 'tap'
import { receiver as openReceiver } from '@svc/core/testing'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test(
  'the waiting deliveries of a deleted webhook are logged as skipped and dropped',
  async (t) => {
    const { app, ask, register } = await startHost(t, {
      core: { worker: { retryDelaySeconds: 60 } },
    })
    const receiver = await openReceiver({ answer: 500 })
    t.teardown(() => receiver.close())
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
  const receiver = await openReceiver({ answer: () => answered })
  t.teardown(() => receiver.close())
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

t.test('the dead letters of a deleted webhook are deleted', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const receiver = await openReceiver({ answer: 500 })
  t.teardown(() => receiver.close())
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
