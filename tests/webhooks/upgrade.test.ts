import t from 'tap'
import { receiver as openReceiver } from '@svc/core/testing'
import { until } from '../support/until.ts'
import { startHoldingReceiver } from './limits/support/holding-receiver.ts'
import { numbersOf, upTo } from './limits/support/numbers-of.ts'
import { registerWith } from './limits/support/register-with.ts'
import { startHost } from './support/host.ts'

t.test(
  'deliveries that an older version put off until their webhook is active go on',
  async (t) => {
    const older = await startHost(t, { core: { worker: { enabled: false } } })
    const receiver = await openReceiver()
    t.teardown(() => receiver.close())
    const { id } = await older.register(receiver.url)
    for (let n = 0; n < 3; n++) await older.app.svc.events.publish('order.created', { n })
    // As the older version left it.
    await older.app.svc.database.query(
      `update svc_jobs.job set start_after = '9999-01-01' where singleton_key = '${id}';
     update svc."__svc.webhooks.registrations" set active = false;
     delete from svc."__svc.migrations" where name = '002-parked-deliveries.sql'`,
    )

    const { ask } = await startHost(t, { database: older.database })
    await ask('PATCH', `/${id}`, { active: true })
    t.equal((await receiver.waitFor(3)).length, 3)
  },
)

/** How an older version, which knows no limits of webhooks, deletes the groups that it finds unused. */
const DELETE_UNUSED = `
  delete from svc."__svc.job_groups" as job_group
   where queue = '__svc.webhooks.deliver' and not held and not circuit_open
     and parked_at < now() - interval '10 seconds'
     and (select true from svc_jobs.job
           where job.name = job_group.queue and job.singleton_key = job_group.group_id
             and job.blocked and job.state < 'active' limit 1) is null`

t.test('beside an older version no delivery of a limited webhook waits for ever', async (t) => {
  const host = await startHost(t)
  const { events, database } = host.app.svc
  const receiver = await startHoldingReceiver(t)
  await registerWith(host, receiver.url, { maxInFlight: 1 })
  await events.publish('order.created', { n: 0 })
  await receiver.waitFor(1)
  // Its only job is under way: the older one takes the group for unused.
  await database.query(`update svc."__svc.job_groups" set parked_at = now() - interval '1 hour'`)
  await database.query(DELETE_UNUSED)
  for (const n of [1, 2]) await events.publish('order.created', { n })
  for (const count of upTo(3)) {
    await receiver.waitFor(count + 1)
    receiver.answerOne()
  }
  t.equal(receiver.most(), 1)
  t.same(numbersOf(receiver.received), upTo(3))
})

t.test('what an older version writes into the limits of a webhook holds', async (t) => {
  const host = await startHost(t)
  const { events, database } = host.app.svc
  const write = (change: string) =>
    database.query(`update svc."__svc.webhooks.registrations" set ${change}`)
  const receiver = await startHoldingReceiver(t)
  await registerWith(host, receiver.url, {})
  await write('max_in_flight = 1')
  for (const n of upTo(3)) await events.publish('order.created', { n })
  for (const count of upTo(3)) {
    await receiver.waitFor(count + 1)
    t.equal(receiver.held.length, 1)
    receiver.answerOne()
  }
  await write('max_in_flight = null')
  for (const n of [3, 4]) await events.publish('order.created', { n })
  await until(() => receiver.held.length === 2)
  for (const _ of [3, 4]) receiver.answerOne()

  await write('ordered = true')
  const restricted = async () => {
    const { rows } = await database.query(
      'select from svc."__svc.job_groups" where restricted or ordered',
    )
    return rows.length
  }
  t.equal(await restricted(), 1)
  await database.query('delete from svc."__svc.webhooks.registrations"')
  t.equal(await restricted(), 0)
})
