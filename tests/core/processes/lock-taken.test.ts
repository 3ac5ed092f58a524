import pg from 'pg'
import t from 'tap'
import { ProcessLease } from '../../../packages/core/src/processes/process-lease.ts'
import { WorkerPool } from '../../../packages/core/src/postgres/worker-pool.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

t.test('a process notifies the others when its row has its lock as held', async (t) => {
  const pool = new pg.Pool({ connectionString: await freshDatabase(t), max: 3 })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  const notified: string[] = []
  const notifications = {
    query: async () => ({ rows: [{ isHeld: true }] }),
    session: 1 as number | undefined,
    onConnect: () => {},
    send: async (channel: string, payload: string) => {
      const { rows } = await pool.query(
        'select is_locked from svc."__svc.processes" where id = $1',
        [payload],
      )
      notified.push(`${channel} ${rows[0].is_locked}`)
    },
  }
  const lease = new ProcessLease(new WorkerPool(pool, false), notifications, { warn() {} })
  t.teardown(() => lease.close())
  await lease.ready({ holdsLock: true })
  await lease.renew()
  await until(() => notified.length > 0)
  t.equal(notified.length, 1)

  // Another process took the lost connection for the death of this one, before its next renewal.
  notifications.session = undefined
  await pool.query('update svc."__svc.processes" set is_locked = false where id = $1', [lease.id])
  notifications.session = 2
  await lease.keepLock()
  await lease.renew()
  await lease.renew()
  await until(() => notified.length > 1)
  t.strictSame(notified, ['svc.lock true', 'svc.lock true'])
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
