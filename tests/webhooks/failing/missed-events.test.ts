import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { sessionOn } from '../../support/session.ts'
import { openReceiver } from '../../support/receiver.ts'
import { useCore, uuidv7, type Core, type Db } from '@svc/core/internal'
import { until } from '../../support/until.ts'
import { QUEUE } from '../../../packages/webhooks/src/outbound/delivery-queue.ts'
import { disable } from '../../../packages/webhooks/src/outbound/health/disable-and-resume.ts'
import { missedSince } from '../../../packages/webhooks/src/tables/webhook-health.ts'
import { finished } from '../support/broken-webhook.ts'
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

t.test('an event that was not wanted when it was published is not recovered', async (t) => {
  const { app, ask, receiver, id, isDisabled } = await scene(t, {
    autoDisable: { failingForSeconds: 0.5, minAttempts: 1 },
  })
  const { events } = app.svc
  await ask('PATCH', `/${id}`, { filter: { payload: { size: { $gte: 10 } } } })
  await events.publish('order.created', { n: 'filtered', size: 1 })
  await ask('PATCH', `/${id}`, { active: false })
  await events.publish('order.created', { n: 'paused', size: 10 })
  await ask('PATCH', `/${id}`, { active: true })
  await events.publish('order.created', { n: 'before', size: 10 })
  await until(isDisabled)
  await events.publish('order.created', { n: 'missed', size: 10 })
  await ask('PATCH', `/${id}`, { filter: null })
  receiver.answer(200)
  t.match(await ask('PATCH', `/${id}`, { active: true }), { status: 200 })
  await until(() => receiver.received.some(({ raw }) => raw.includes('"missed"')))
  await finished({ ask }, id)
  const names = receiver.received.map(({ body }) => body.payload.n)
  t.same([...new Set(names)].toSorted(), ['before', 'missed'])
})

/** A webhook that exists for an hour, and what its disablings note. */
async function oldWebhook(t: Test) {
  const { app, database, register } = await startHost(t)
  const core = await useCore(app)
  const { id } = await register('http://127.0.0.1:9/')
  await core.db.query(
    `update svc."__svc.webhooks.registrations" set created_at = now() - interval '1 hour'`,
  )
  const disabledBy = async (client: Db) => {
    await client.query('begin')
    await disable(core, client, [id], 'failing')
    await client.query('commit')
  }
  const activate = async () => {
    await core.db.query(`update svc."__svc.webhooks.registrations" set active = true`)
  }
  /** How long before the disabling. */
  const lookBackMs = async () => {
    const { disabledAt } = await app.svc.webhooks.get(id)
    const since = await missedSince(core.db, id)
    return Date.parse(disabledAt!) - Date.parse(since!)
  }
  return { core, database, disabledBy, activate, lookBackMs }
}

const FIVE_MINUTES_MS = 300_000

t.test(
  'a role that cannot see when other transactions began looks back five minutes',
  async (t) => {
    const { database, disabledBy, activate, lookBackMs } = await oldWebhook(t)
    const admin = await sessionOn(t, database)
    const role = `svc_test_role_${randomBytes(5).toString('hex')}`
    await admin.query(`create role ${role} login password 'secret';
    grant usage on schema svc, svc_jobs to ${role};
    grant all on all tables in schema svc, svc_jobs to ${role}`)
    const url = new URL(database)
    url.username = role
    url.password = 'secret'
    const limited = await sessionOn(t, url.href)
    t.teardown(() => admin.query(`drop owned by ${role} cascade; drop role ${role}`))
    const lookBackOf = async (client: pg.Client) => {
      await activate()
      await disabledBy(client)
      return lookBackMs()
    }
    // The host's own transactions end soon.
    await until(async () => (await lookBackOf(limited)) < FIVE_MINUTES_MS)
    const other = await sessionOn(t, database)
    await other.query('begin')
    t.ok((await lookBackOf(admin)) < FIVE_MINUTES_MS)
    t.equal(await lookBackOf(limited), FIVE_MINUTES_MS)
  },
)

t.test('transactions that end at the disabling are none whose begin is not known', async (t) => {
  const { database, disabledBy, activate, lookBackMs } = await oldWebhook(t)
  const busy = await Promise.all(Array.from({ length: 6 }, () => sessionOn(t, database)))
  let isOver = false
  const work = Promise.all(
    busy.map(async (client) => {
      while (!isOver) await client.query('select 1')
    }),
  )
  const admin = await sessionOn(t, database)
  for (let round = 0; round < 60; round++) {
    await disabledBy(admin)
    const ms = await lookBackMs()
    if (ms === FIVE_MINUTES_MS) t.fail(`round ${round}`)
    await activate()
  }
  isOver = true
  await work
  t.pass()
})

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
