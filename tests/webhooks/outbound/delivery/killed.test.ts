// promise: Other processes take over the jobs of a killed process, and never the jobs of a living one (that this takes seconds is not asserted)
import { fork } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { useCore } from '@svc/core/internal'
import { QUEUE } from '../../../../packages/webhooks/src/outbound/delivery-queue.ts'
import { openReceiver } from '../../../support/receiver.ts'
import { bringLostJobsBack } from '../../../core/support/lost-jobs.ts'
import { startHost } from '../../support/host.ts'
import { until, untilCount } from '../../../support/until.ts'

async function startWorker(t: Test, database: string, maxAttempts = 5): Promise<{ kill(): void }> {
  const process = new URL('../../support/worker-process.ts', import.meta.url)
  const child = fork(process, [database, String(maxAttempts)])
  t.teardown(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return { kill: () => void child.kill('SIGKILL') }
}

t.test(
  'deliveries of a killed worker are made by another, and its attempts are recorded',
  async (t) => {
    const { app, ask, register, database } = await startHost(t, {
      core: { worker: { enabled: false } },
    })
    const receiver = await openReceiver(t, { answer: 'timeout' })
    const { id } = await register(receiver.url)
    const first = await startWorker(t, database)
    for (let n = 0; n < 5; n++) await app.svc.events.publish('order.created', { n })
    await receiver.waitFor(5)

    receiver.answer(200)
    first.kill()
    // Before the other worker starts: jobs that it attempts already would be taken from it.
    await bringLostJobsBack(app)
    await startWorker(t, database)

    const list = async () => (await ask('GET', `/${id}/deliveries`)).body
    const rows = await until(list, (found) => found.length === 10)
    const of = (status: string) => rows.filter((row: { status: string }) => row.status === status)
    t.equal(of('delivered').length, 5)
    for (const row of of('delivered')) t.match(row, { attempt: 2, statusCode: 200 })
    for (const row of of('failed')) t.match(row, { attempt: 1, statusCode: null, error: 'lost' })
    const ids = (from: number, to: number) =>
      receiver.received.slice(from, to).map(({ headers }) => headers['x-svc-delivery-id'])
    t.same(new Set(ids(0, 5)), new Set(ids(5, 10)))
  },
)

t.test('every attempt is recorded whose process died, however many in a row', async (t) => {
  const { app, ask, register, database } = await startHost(t, {
    core: { worker: { enabled: false } },
  })
  const receiver = await openReceiver(t, { answer: ['timeout', 'timeout', 200] })
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', { n: 1 })
  for (const attempt of [1, 2]) {
    const worker = await startWorker(t, database)
    await receiver.waitFor(attempt)
    worker.kill()
    await bringLostJobsBack(app)
  }
  await startWorker(t, database)

  const list = async () => (await ask('GET', `/${id}/deliveries`)).body
  const rows = await until(list, (found) => found.length === 3)
  t.match(rows, [
    { attempt: 3, status: 'delivered', error: null },
    { attempt: 2, status: 'failed', error: 'lost' },
    { attempt: 1, status: 'failed', error: 'lost' },
  ])
})

t.test('an attempt that was the last one is recorded too', async (t) => {
  const { app, ask, register, database } = await startHost(t, {
    core: { worker: { enabled: false, maxAttempts: 1 } },
  })
  const receiver = await openReceiver(t, { answer: 'timeout' })
  const { id } = await register(receiver.url)
  await app.svc.events.subscribe('svc.delivery.dead', () => {})
  const worker = await startWorker(t, database, 1)
  const event = await app.svc.events.publish('order.created', { n: 1 })
  await receiver.waitFor(1)
  worker.kill()
  await startWorker(t, database, 1)
  await Promise.all([bringLostJobsBack(app), bringLostJobsBack(app)])
  const [letter] = await untilCount(1, async () => (await ask('GET', `/${id}/dead-letters`)).body)
  t.match(letter, { status: 'dead', error: 'lost', attempt: 1, payload: { n: 1 } })

  const rows = (await ask('GET', `/${id}/deliveries`)).body
  t.equal(rows.length, 1, 'once')
  const { id: _, ...shown } = letter
  t.match(rows[0], { ...shown, eventId: event.id })
  const { rows: told } = await app.svc.database.query(
    `select payload::json ->> 'webhookId' as id, payload::json ->> 'attempts' as attempts
       from svc."__svc.events" where name = 'svc.delivery.dead'`,
  )
  t.same(told, [{ id, attempts: '1' }])
})

t.test('of a webhook that was deleted during the attempt no dead letter is left', async (t) => {
  const { app, ask, register, database } = await startHost(t, {
    core: { worker: { enabled: false, maxAttempts: 1 } },
  })
  const receiver = await openReceiver(t, { answer: 'timeout' })
  const { id } = await register(receiver.url)
  const worker = await startWorker(t, database, 1)
  await app.svc.events.publish('order.created', { n: 1 })
  await receiver.waitFor(1)
  t.equal((await ask('DELETE', `/${id}`)).status, 204)
  worker.kill()
  await bringLostJobsBack(app)
  const { rows } = await app.svc.database.query(
    `select (select json_agg(array[status, error]) from svc."__svc.webhooks.delivery_log") as log,
            (select count(*) from svc_jobs.job where name like '%.dlq')::int as letters`,
  )
  t.same(rows, [
    {
      log: [
        ['failed', 'lost'],
        ['skipped', null],
      ],
      letters: 0,
    },
  ])
})

t.test('a crash uses up an attempt of those that the webhook has, not the publisher', async (t) => {
  const { app, ask } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const { db } = await useCore(app)
  for (const [maxAttempts, letters] of [
    [3, 0],
    [2, 1],
  ] as const) {
    const receiver = await openReceiver(t, { answer: [500, 'timeout'] })
    const retry = { maxAttempts, delaysSeconds: [3600] }
    const { id } = await app.svc.webhooks.register({ url: receiver.url, events: ['*'], retry })
    await app.svc.webhooks.test({ id })
    await until(async () => (await ask('GET', `/${id}/deliveries`)).body.length === 1)
    // The process of the second attempt has died.
    await db.query(
      `update svc_jobs.job set state = 'active', retry_count = 1, started_on = now()
        where name = $1 and singleton_key = $2`,
      [QUEUE, id],
    )
    await bringLostJobsBack(app)
    t.match(
      await until(
        () => ask('GET', `/${id}/deliveries`),
        ({ body }) => body.length > 1,
      ),
      { body: [{ attempt: 2, error: 'lost', status: letters === 1 ? 'dead' : 'failed' }, {}] },
      `${maxAttempts} attempts`,
    )
    t.equal((await ask('GET', `/${id}/dead-letters`)).body.length, letters)
  }
})
