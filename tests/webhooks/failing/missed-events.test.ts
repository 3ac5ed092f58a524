import t from 'tap'
import { until } from '../../support/until.ts'
import { scene } from './support/scene.ts'

t.test('an event of a transaction that was open at the disabling is recovered', async (t) => {
  const { app, ask, receiver, id, isDisabled } = await scene(t, {
    autoDisable: { failingForSeconds: 0.5, minAttempts: 1 },
  })
  await app.svc.events.publish('order.created', { n: 'before' })
  await receiver.waitFor(1)
  await app.svc.transaction(async (db) => {
    await db.query('select now()')
    await until(isDisabled)
    await app.svc.events.publish('order.created', { n: 'open' }, { db })
  })
  receiver.answer(200)
  t.match(await ask('PATCH', `/${id}`, { active: true }), { status: 200 })
  await until(() => receiver.received.some(({ raw }) => raw.includes('"open"')))
  const { body } = await ask('GET', `/${id}/recoveries`)
  t.match(body, [{ what: 'missing' }])
})
