// The rows of attempts whose process died, beside rows that the retention has deleted.
import t from 'tap'
import { uuidv7, useCore } from '@svc/core/internal'
import { receiver as openReceiver } from '@svc/testing'
import { crashedAttemptsBefore } from '../../../../packages/webhooks/src/outbound/delivery/crashed-attempts.ts'
import { LostLetters } from '../../../../packages/webhooks/src/outbound/delivery/lost-letters.ts'
import type { DeliveryJob } from '../../../../packages/webhooks/src/outbound/delivery/delivery-job.ts'
import { QUEUE } from '../../../../packages/webhooks/src/outbound/constants.ts'
import { bringLostJobsBack } from '../../../core/support/lost-jobs.ts'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

const url = 'http://127.0.0.1:9/'
const idle = { core: { worker: { enabled: false } } }

t.test('only attempts after the last one in the log are missing', async (t) => {
  const { app, ask, register } = await startHost(t, idle)
  const { id: webhookId } = await register(url)
  const deliveryId = uuidv7()
  const attempt = { webhookId, event: 'order.created', payload: {}, deliveryId, attempt: 3 }
  await app.svc.actions.call('__svc.webhooks.deliver', attempt)
  t.equal((await ask('GET', `/${webhookId}/deliveries`)).body.length, 1)

  const data = { event: 'order.created', eventId: null, recipient: webhookId, deliveryId }
  const lost = { id: deliveryId, data, lost: true, createdAt: new Date() } as DeliveryJob
  const missing = async (job: DeliveryJob) => {
    const rows = await crashedAttemptsBefore(app.svc.database, 30, [job])
    return rows.map((row) => row.attempt)
  }
  t.same(await missing({ ...lost, attempt: 6 }), [4, 5])
  t.same(await missing({ ...lost, attempt: 4 }), [])
  const other = { ...lost, attempt: 3, data: { ...data, deliveryId: uuidv7() } }
  t.same(await missing(other), [1, 2], 'none of its attempts has a row')
  const redriven = { ...other, data: { ...other.data, attemptsBefore: 5 } }
  t.same(await missing(redriven), [6, 7])
})

t.test('a dead letter that is older than the log gets no row again', async (t) => {
  const { app, ask, register } = await startHost(t, idle)
  const core = await useCore(app)
  const { id: webhookId } = await register(url)
  const heard: object[] = []
  await app.svc.events.subscribe('svc.delivery.dead', (payload) => {
    heard.push(payload)
  })
  const letter = (days: number) => {
    const deliveryId = uuidv7()
    const data = {
      event: 'order.created',
      eventId: null,
      payload: '{}',
      recipient: webhookId,
      deliveryId,
    }
    return core.db.query(
      `insert into svc_jobs.job (id, name, data, singleton_key, source_retry_count, source_output,
                                 created_on)
       values ($1, $2, $3, $4, 0, '{"value":{"message":"its process died"}}', now() - make_interval(days => $5))`,
      [deliveryId, `${QUEUE}.dlq`, data, webhookId, days],
    )
  }
  await letter(2)
  await new LostLetters(core, 30).record()
  t.same((await ask('GET', `/${webhookId}/deliveries`)).body, [])
  await letter(0)
  await new LostLetters(core, 30).record()
  t.match((await ask('GET', `/${webhookId}/deliveries`)).body, [{ status: 'dead', error: 'lost' }])
  const { rows } = await core.db.query(
    `select count(*)::int as count from svc."__svc.events" where name = 'svc.delivery.dead'`,
  )
  t.equal(rows[0].count, 1)
})

t.test('a crash uses up an attempt of those that the webhook has, not the publisher', async (t) => {
  // After a crash the job waits for this delay: no attempt begins before its state is read.
  const worker = { maxAttempts: 1, retryDelaySeconds: 3600 }
  const { app, ask } = await startHost(t, { core: { worker } })
  const receiver = await openReceiver({ answer: 500 })
  t.teardown(() => receiver.close())
  const { db } = await useCore(app)
  const stateOf = async (webhookId: string) => {
    const { rows } = await db.query(
      `select state from svc_jobs.job where name in ($1, $1 || '.dlq') and singleton_key = $2 and state <> 'failed'`,
      [QUEUE, webhookId],
    )
    return rows.map(({ state }) => state)
  }
  for (const [maxAttempts, after] of [
    [3, 'retry'],
    [2, 'created'],
  ] as const) {
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
    t.same(await stateOf(id), [after], `${maxAttempts} attempts`)
  }
})
