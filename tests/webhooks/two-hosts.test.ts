// promise: A host that boots, whatever its version and options, changes nothing that another host needs
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { useCore } from '@svc/core/internal'
import t from 'tap'
import { openReceiver } from '../support/receiver.ts'
import { dropLogDays } from '../../packages/webhooks/src/tables/delivery-log-days.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { queryOn } from '../support/session.ts'
import { pretendServerAge } from '../support/server-age.ts'
import { startHost, type Host } from './support/host.ts'

const eventsOf = async ({ app }: Host) => {
  const { rows } = await app.svc.database.query(
    `select event_name as event from svc."__svc.subscriptions"
      where not starts_with(event_name, 'svc.') order by 1`,
  )
  return rows.map(({ event }) => event)
}

t.test('a host with other allowedEvents removes none of a running host', async (t) => {
  const receiver = await openReceiver(t)
  const one = await startHost(t, { allowedEvents: ['a'] })
  await one.register(receiver.url)
  const other = await startHost(t, { database: one.database, allowedEvents: ['b'] })
  await one.app.svc.events.publish('a', 1)
  await other.app.svc.events.publish('b', 2)
  await receiver.waitFor(2)
  t.strictSame(await eventsOf(one), ['a', 'b'])

  await one.app.close()
  const third = await startHost(t, { database: one.database, allowedEvents: ['b'] })
  t.strictSame(await eventsOf(third), ['b'])
})

t.test('the events of a process that was killed end when its lease has lapsed', async (t) => {
  const database = await freshDatabase(t)
  const child = fork(join(import.meta.dirname, 'support/worker-process.ts'), [database, '3'])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  child.kill('SIGKILL')
  await once(child, 'exit')

  // A start of the server renews all leases.
  await pretendServerAge(database, 3600)
  // However long the host takes to boot, the lease has not lapsed before that.
  await queryOn(database, `update svc."__svc.processes" set renewed_at = now() + interval '1 hour'`)
  // Only this test moves the clock: the host's own timers may come whenever they like.
  const now = performance.now.bind(performance)
  // A whole number: the sum of twenty seconds is then exact.
  let nowMs = Math.floor(performance.now())
  performance.now = () => nowMs
  t.teardown(() => {
    performance.now = now
  })
  const host = await startHost(t, { database, allowedEvents: ['order.made'] })
  t.strictSame(await eventsOf(host), ['order.created', 'order.made', 'order.shipped'])
  const { lease } = await useCore(host.app)
  await host.app.svc.database.query(
    `update svc."__svc.processes" set renewed_at = now() - interval '1 minute' where id <> $1`,
    [lease.id],
  )
  // The beats of the host's own lease, of which none may come late: no process drops anything in its
  // first twenty seconds.
  for (let seconds = 0; seconds < 20; seconds += 10) {
    t.equal((await eventsOf(host)).length, 3, `after ${seconds} seconds`)
    nowMs += 10_000
    await lease.renew()
  }
  t.strictSame(await eventsOf(host), ['order.made'])
})

t.test('the log is kept as long as the host that keeps it longest says', async (t) => {
  // Without the hourly tasks, which drop days as well.
  const core = { worker: { enabled: false } }
  const one = await startHost(t, { core, deliveryLogRetentionDays: 90 })
  const { database: shared } = one
  const other = await startHost(t, { core, database: shared, deliveryLogRetentionDays: 10 })
  const { database } = other.app.svc
  const day = (await database.query(`select (now() at time zone 'utc')::date - 40 as day`)).rows[0]
    .day as Date
  const name = `svc."__svc.webhooks.delivery_log.${day.toLocaleDateString('sv')}"`
  await database.query(
    `create table ${name} partition of svc."__svc.webhooks.delivery_log"
       for values from ('00000000-0001-0000-0000-000000000000') to ('00000000-0002-0000-0000-000000000000')`,
  )
  const used = await useCore(other.app)
  const isThere = async () =>
    (await database.query('select to_regclass($1) is not null as yes', [name])).rows[0].yes

  await used.transaction((db) => dropLogDays(db, 10))
  t.equal(await isThere(), true)
  await one.app.close()
  await used.transaction((db) => dropLogDays(db, 10))
  t.equal(await isThere(), true, 'also where that host is down for some hours')

  await database.query(
    `update svc."__svc.processes" set renewed_at = now() - interval '2 days',
       closed_at = now() - interval '2 days' where closed_at is not null`,
  )
  await used.transaction((db) => dropLogDays(db, 10))
  t.equal(await isThere(), false)
})

t.test('the longest times that are accepted are ones that Postgres takes', async (t) => {
  await t.resolves(
    startHost(t, {
      deadLetterRetentionDays: 24_855,
      deliveryLogRetentionDays: 2000,
      deliveryTimeoutMs: 3_600_000,
      core: { eventRetentionDays: 36_500 },
    }),
  )
})
