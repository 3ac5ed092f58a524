import t from 'tap'
import { sessionOn } from '../../support/session.ts'
import { openReceiver } from '../../support/receiver.ts'
import { useCore, uuidv7, type Core } from '@svc/core/internal'
import { until } from '../../support/until.ts'
import { QUEUE } from '../../../packages/webhooks/src/outbound/delivery-queue.ts'
import { disable } from '../../../packages/webhooks/src/outbound/health/disable-and-resume.ts'
import { finished, idOf } from '../support/broken-webhook.ts'
import { startHost } from '../support/host.ts'
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

t.test(
  'what is missed begins five minutes before the disabling, and nothing is sent twice',
  async (t) => {
    const { app, ask, receiver, id, isDisabled } = await scene(t, {
      autoDisable: { failingForSeconds: 0.5, minAttempts: 1 },
    })
    const { database, events } = app.svc
    await database.query(
      `update svc."__svc.webhooks.registrations" set created_at = now() - interval '1 hour'`,
    )
    await ask('PATCH', `/${id}`, { active: false })
    await events.publish('order.created', { n: 'old' }, { id: 'old' })
    await events.publish('order.created', { n: 'late' }, { id: 'late' })
    await database.query(
      `update svc."__svc.events" set published_at = published_at
       - case id when 'old' then interval '6 minutes' else interval '4 minutes' end`,
    )
    await ask('PATCH', `/${id}`, { active: true })
    await events.publish('order.created', { n: 'sent' })
    await receiver.waitFor(1)
    await until(isDisabled)
    await events.publish('order.created', { n: 'missed' })
    receiver.answer(200)
    t.match(await ask('PATCH', `/${id}`, { active: true }), { status: 200 })
    await until(() => receiver.received.some(({ raw }) => raw.includes('"missed"')))
    await finished({ ask }, id)
    const deliveries = new Map(receiver.received.map((one) => [idOf(one), one.body.payload.n]))
    t.same([...deliveries.values()].toSorted(), ['late', 'missed', 'sent'])
  },
)

/** A webhook with more waiting retries than one statement makes due, none of them due. */
async function manyRetries(core: Core, id: string): Promise<void> {
  const jobs = Array.from({ length: 2500 }, () => {
    const deliveryId = uuidv7()
    const data = { event: 'order.created', eventId: null, payload: '{}', recipient: id, deliveryId }
    return { id: deliveryId, data, recipient: id }
  })
  // In one transaction: the worker sees them only as they are then.
  await core.transaction(async (db) => {
    await core.queues.insert(db, QUEUE, jobs)
    await db.query(
      `update svc_jobs.job set state = 'retry', retry_count = 1, started_on = now(),
              start_after = now() + interval '1 hour' where name = $1`,
      [QUEUE],
    )
    await disable(core, db, [id], 'failing')
  })
}

/** Whether no retry waits for its time. */
async function areAllDue(core: Core): Promise<boolean> {
  const { rowCount } = await core.db.query(
    `select from svc_jobs.job
      where name = $1 and state = 'retry' and retry_count = 1
        and start_after > now() + interval '30 minutes' limit 1`,
    [QUEUE],
  )
  return rowCount === 0
}

t.test('a resume in a transaction of the host makes all waiting deliveries due', async (t) => {
  const { app, database, register } = await startHost(t)
  const core = await useCore(app)
  const { id } = await register('http://127.0.0.1:9/')
  await manyRetries(core, id)
  const client = await sessionOn(t, database)
  await client.query('begin')
  await app.svc.webhooks.update({ id, active: true }, { db: client })
  await client.query('commit')
  await until(() => areAllDue(core))
  t.match(await app.svc.webhooks.listRecoveries(id), [{ what: 'missing' }])
})

t.test(
  'a probe makes all waiting deliveries due, without a recovery that counts them',
  async (t) => {
    const autoDisable = { failingForSeconds: 3600, probeEverySeconds: 0.5 }
    const { app, register } = await startHost(t, { autoDisable })
    const core = await useCore(app)
    const receiver = await openReceiver(t)
    const { id } = await register(receiver.url)
    await manyRetries(core, id)
    await until(() => areAllDue(core))
    t.match(await app.svc.webhooks.get(id), { active: true })
    const recoveries = await app.svc.webhooks.listRecoveries(id)
    t.same(
      recoveries.map(({ what }) => what),
      ['missing'],
    )
  },
)

t.test('a resume that is rolled back has told nobody, and changed nothing', async (t) => {
  const { app, register } = await startHost(t)
  await app.svc.events.subscribe('svc.webhook.recovered', () => {})
  const { id } = await register('http://127.0.0.1:9/')
  const { database, webhooks } = app.svc
  await database.query(
    `update svc."__svc.webhooks.registrations"
        set active = false, disabled_at = now(), disabled_reason = 'failing' where id = $1`,
    [id],
  )
  const published = async () => {
    const { rows } = await database.query(
      `select from svc."__svc.events" where name = 'svc.webhook.recovered'`,
    )
    return rows.length
  }
  const undone = new Error('undone')
  const resumed = app.svc.transaction(async (db) => {
    await webhooks.update({ id, active: true }, { db })
    throw undone
  })
  await t.rejects(resumed, undone)
  t.equal(await published(), 0)
  t.match(await webhooks.get(id), { active: false, disabledReason: 'failing' })
  t.same(await webhooks.listRecoveries(id), [])

  await webhooks.update({ id, active: true })
  t.equal(await published(), 1)
})
