import t from 'tap'
import { useCore } from '@svc/core/kit'
import { QUEUE, UNTIL_ACTIVE } from '../../packages/webhooks/src/outbound/names.ts'
import { reconsider } from '../../packages/webhooks/src/outbound/pause.ts'
import { startHost, until } from './support/host.ts'
import { startReceiver } from './support/receiver.ts'

// A worker reads that a webhook is paused, and puts its job off; what if that has changed meanwhile?

t.test('a job that was put off while its webhook was resumed goes on', async (t) => {
  const { app, register } = await startHost(t)
  const core = await useCore(app)
  const receiver = await startReceiver(t)
  const { id } = await register(receiver.url)
  await putOff(core, id)

  await core.transaction((db) => reconsider(core, db, [id]))
  t.equal((await receiver.got(1)).length, 1)
})

t.test('a job that was put off while its webhook was deleted is dropped', async (t) => {
  const { app, ask, register } = await startHost(t)
  const core = await useCore(app)
  const receiver = await startReceiver(t)
  const { id } = await register(receiver.url)
  await ask('DELETE', `/${id}`)
  await putOff(core, id)

  await core.transaction((db) => reconsider(core, db, [id]))
  const { rows } = await until(
    () => app.svc.database.query('select status from svc."__svc.webhooks.delivery_log"'),
    (log) => log.rows.length === 1,
  )
  t.same(rows, [{ status: 'skipped' }])
  t.equal(receiver.requests.length, 0)
})

t.test('a job of a webhook that is paused still waits on', async (t) => {
  const { app, ask, register } = await startHost(t)
  const core = await useCore(app)
  const { id } = await register('https://receiver.example/')
  await ask('PATCH', `/${id}`, { active: false })
  await putOff(core, id)

  await core.transaction((db) => reconsider(core, db, [id]))
  const [waiting] = await core.queues.discard(QUEUE, id)
  t.match(waiting, { group: id, attempt: 1 })
})

async function putOff(core: Awaited<ReturnType<typeof useCore>>, target: string): Promise<void> {
  const deliveryId = '0190a1b2-0000-7000-8000-000000000000'
  const data = { event: 'order.created', eventId: null, payload: '1', target, deliveryId }
  await core.queues.insert(QUEUE, [
    { id: deliveryId, data, group: target, startAfter: UNTIL_ACTIVE },
  ])
}
