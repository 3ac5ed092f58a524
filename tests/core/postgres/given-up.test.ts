import pg from 'pg'
import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test('a statement that timed out does not go on in the server', async (t) => {
  const { core, database } = await startHost(t, { core: { worker: { enabled: false } } })
  const other = new pg.Pool({ connectionString: database, max: 2 })
  other.on('error', () => {})
  t.teardown(() => other.end())
  const holder = await other.connect()
  await holder.query('begin')
  await holder.query('lock table svc."__svc.kv" in access exclusive mode')

  const waiting = async () => {
    const { rows } = await other.query(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and query like '%__svc.kv%' and wait_event_type = 'Lock'`,
    )
    return rows[0].count as number
  }
  t.equal(await waiting(), 0)
  // Long enough to be seen in the server meanwhile, also on a busy machine.
  const given = core.db.within(4000).query('select key from svc."__svc.kv"')
  const rejected = t.rejects(given, { message: 'Query read timeout' })
  await until(waiting, (count) => count === 1)
  await rejected
  await until(waiting, (count) => count === 0)

  await t.rejects(
    core.transaction(async (db) => {
      await db.query(`set local statement_timeout = 100`)
      await db.query('select key from svc."__svc.kv"')
    }),
    { code: '57014' },
  )
  await holder.query('rollback')
  holder.release()
  t.equal(await waiting(), 0)
})
