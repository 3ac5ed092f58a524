// promise: A host that boots, whatever its version and options, changes nothing that another host needs
import pg from 'pg'
import t, { type Test } from 'tap'
import { ProcessLease } from '../../../packages/core/src/processes/process-lease.ts'
import { WorkerPool } from '../../../packages/core/src/postgres/worker-pool.ts'
import {
  longestDays,
  sweepProcesses,
} from '../../../packages/core/src/processes/processes-table.ts'
import { retireSubscription } from '../../../packages/core/src/events/subscriptions-table.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { pretendServerAge } from '../../support/server-age.ts'
import { startHost } from '../support/host.ts'

const LEASE_MS = 20_000

/** No connection that listens: a process holds no lock. */
const behindPooler = {
  query: async () => ({ rows: [{}] }),
  session: undefined,
  onConnect: () => {},
}

async function ground(t: Test, { serverSeconds = 3600 } = {}) {
  const connectionString = await freshDatabase(t)
  await pretendServerAge(connectionString, serverSeconds)
  const pool = new pg.Pool({ connectionString, max: 3 })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  await pool.query('delete from svc."__svc.processes"')
  const clock = { nowMs: 0 }
  const warnings: string[] = []
  const log = { warn: (_details: object, message: string) => void warnings.push(message) }
  return {
    pool,
    clock,
    warnings,
    /** A process that has declared these events for its subscription `s`. */
    process: async (events: string[] | null, { fansOut = true } = {}) => {
      const lease = new ProcessLease(
        new WorkerPool(pool, false),
        behindPooler,
        log,
        () => clock.nowMs,
      )
      t.teardown(() => lease.close())
      if (events) await lease.declareEvents(wanted(events, fansOut))
      return lease
    },
    eventsOfS: async () => {
      const { rows } = await pool.query(
        `select event_name as event from svc."__svc.subscriptions" where subscription = 's' order by 1`,
      )
      return rows.map(({ event }) => event).join(' ')
    },
    /** As if the process had been killed, or stopped, that long ago. */
    lapse: (lease: ProcessLease) =>
      pool.query(
        `update svc."__svc.processes" set renewed_at = now() - interval '21 seconds' where id = $1`,
        [lease.id],
      ),
    closedAgo: (lease: ProcessLease, seconds: number) =>
      pool.query(
        `update svc."__svc.processes" set closed_at = now() - make_interval(secs => $2) where id = $1`,
        [lease.id, seconds],
      ),
  }
}

const wanted = (events: string[], fansOut = true) => ({
  subscription: 's',
  queue: 'q',
  events,
  idempotent: true,
  fansOut,
})

t.test('events that a living process declares stay when another boots without them', async (t) => {
  const { process, eventsOfS } = await ground(t)
  const one = await process(['a', 'b'])
  await one.ready()
  const other = await process(['b', 'c'])
  await other.ready()
  t.equal(await eventsOfS(), 'a b c')

  await one.close()
  await (await process(['c'])).ready()
  t.equal(await eventsOfS(), 'b c', 'and ends at the next boot after it has closed')
})

t.test('a process that has not booted drops no events', async (t) => {
  const { process, eventsOfS } = await ground(t)
  const one = await process(['a'])
  await one.ready()
  await one.close()
  const other = await process(['b'])
  t.equal(await eventsOfS(), 'a b')
  await other.close()
})

t.test('a killed process keeps its events until its lease lapses', async (t) => {
  const { process, eventsOfS, lapse } = await ground(t)
  const killed = await process(['a'])
  await killed.ready()
  await (await process(['b'])).ready()
  t.equal(await eventsOfS(), 'a b')
  await lapse(killed)
  await (await process(['c'])).ready()
  t.equal(await eventsOfS(), 'b c')
})

t.test('a start of the server renews all leases', async (t) => {
  const { process, eventsOfS, lapse } = await ground(t, { serverSeconds: 10 })
  const killed = await process(['a'])
  await killed.ready()
  await lapse(killed)
  await (await process(['b'])).ready()
  t.equal(await eventsOfS(), 'a b')
})

t.test('a process drops in the background the events that ended processes declared', async (t) => {
  const { process, eventsOfS, lapse, closedAgo, clock } = await ground(t)
  const [killed, closed, restarts] = [
    await process(['killed']),
    await process(['closed']),
    await process(['restarts']),
  ]
  for (const lease of [killed, closed, restarts]) await lease.ready()
  const one = await process(['one'])
  await one.ready()
  for (const lease of [closed, restarts]) await lease.close()
  await lapse(killed)
  await closedAgo(closed, 61)
  await closedAgo(restarts, 30)

  await one.renew()
  t.equal(await eventsOfS(), 'closed killed one restarts', 'not before its own lease is steady')
  clock.nowMs += LEASE_MS
  await one.renew()
  t.equal(await eventsOfS(), 'one restarts', 'a restart takes less than a minute')
  await closedAgo(restarts, 61)
  await one.renew()
  t.equal(await eventsOfS(), 'one')
})

t.test(
  'after an outage no declared events are dropped before all processes could renew their leases',
  async (t) => {
    const { process, eventsOfS, lapse, clock } = await ground(t)
    const one = await process(['one'])
    const other = await process(['other'])
    for (const lease of [one, other]) await lease.ready()
    clock.nowMs += LEASE_MS
    for (const lease of [one, other]) await lapse(lease)
    await one.renew()
    t.equal(await eventsOfS(), 'one other')
    await other.renew()
    clock.nowMs += LEASE_MS
    await one.renew()
    t.equal(await eventsOfS(), 'one other')
  },
)

t.test('a process whose lease lapsed declares its events again', async (t) => {
  const { process, eventsOfS, lapse, clock } = await ground(t)
  const asleep = await process(['a'])
  const awake = await process(['b'])
  for (const lease of [asleep, awake]) await lease.ready()
  await lapse(asleep)
  clock.nowMs += LEASE_MS
  await awake.renew()
  t.equal(await eventsOfS(), 'b')
  await asleep.renew()
  t.equal(await eventsOfS(), 'a b')
  clock.nowMs += LEASE_MS
  await awake.renew()
  t.equal(await eventsOfS(), 'a b')
})

t.test(
  'a process whose lease lapsed does not declare a subscription that was retired meanwhile',
  async (t) => {
    const { process, eventsOfS, pool } = await ground(t)
    const asleep = await process(['a'], { fansOut: false })
    await asleep.ready()
    await retireSubscription(pool, 's')
    await pool.query('delete from svc."__svc.processes"')
    await asleep.renew()
    t.equal(await eventsOfS(), '')
    const { rowCount } = await pool.query('select from svc."__svc.processes"')
    t.equal(rowCount, 1, 'it lives again')
  },
)

t.test('a process lease that cannot be renewed is logged once, and renewed later', async (t) => {
  const { process, pool, warnings } = await ground(t)
  const lease = await process(['a'])
  await lease.ready()
  await pool.query('alter table svc."__svc.processes" rename to away')
  await lease.renew()
  await lease.renew()
  t.strictSame(warnings, ['could not renew the lease of this process; it tries again'])
  await pool.query('alter table svc.away rename to "__svc.processes"')
  await t.resolves(lease.renew())
})

t.test('the longest setting in days of all living processes holds', async (t) => {
  const { process, pool, closedAgo } = await ground(t)
  t.equal(await longestDays(pool, 'logDays'), 0)
  const leases = []
  for (const days of [30, 90, 60]) {
    const lease = await process(null)
    lease.declareDays('logDays', days)
    lease.declareDays('logDays', 1)
    await lease.ready()
    leases.push(lease)
  }
  t.equal(await longestDays(pool, 'logDays'), 90)
  const [, longest] = leases
  await longest!.close()
  t.equal(await longestDays(pool, 'logDays'), 60)
  t.equal(await longestDays(pool, 'logDays', 60), 90, 'or of those that ended a moment ago')
  await pool.query(`update svc."__svc.processes" set renewed_at = now() - interval '1 hour'
     where closed_at is not null`)
  await closedAgo(longest!, 3600)
  t.equal(await longestDays(pool, 'logDays', 60), 60)
})

t.test('rows of processes that ended long ago are deleted', async (t) => {
  const { process, pool } = await ground(t)
  for (const lease of [await process(['a']), await process(['a'])]) await lease.ready()
  await pool.query(
    `update svc."__svc.processes" set renewed_at = now() - interval '3 days'
      where id = (select id from svc."__svc.processes" limit 1)`,
  )
  await sweepProcesses(pool)
  const { rowCount } = await pool.query('select from svc."__svc.processes"')
  t.equal(rowCount, 1)
})

t.test('a process that only publishes has no connection that listens', async (t) => {
  const database = await freshDatabase(t)
  const { app } = await startHost(t, { core: { database, worker: { enabled: false } } })
  await app.svc.events.publish('order.created', {})
  const { rows } = await app.svc.database.query(
    `select query from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`,
  )
  t.strictSame(rows, [])
})
