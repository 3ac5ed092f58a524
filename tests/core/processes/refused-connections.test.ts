// promise: Other processes take over the jobs of a killed process, and never the jobs of a living one (that this takes seconds is not asserted)
/** A process that lives while Postgres refuses it further connections. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

/** Longer than a process that lost its lock has to take it again. */
const GRACE_MS = 2500

t.test('a process that cannot listen again keeps the jobs of its attempts', async (t) => {
  const database = await freshDatabase(t)
  const admin = new pg.Client(database)
  await admin.connect()
  const role = `svc_test_${process.pid}_refused`
  t.teardown(async () => {
    await admin.query(`drop owned by ${role}; drop role ${role}`)
    await admin.end()
  })
  await admin.query(`create role ${role} login password 'secret';
    grant pg_read_all_data, pg_write_all_data to ${role};
    grant create on database ${new URL(database).pathname.slice(1)} to ${role}`)
  const asRole = new URL(database)
  Object.assign(asRole, { username: role, password: 'secret' })

  const attempts: string[] = []
  const end = Promise.withResolvers<void>()
  t.teardown(() => end.resolve())
  const handler = (by: string) => async () => {
    attempts.push(by)
    await end.promise
  }
  const subscribe = (by: string) => (app: Awaited<ReturnType<typeof startHost>>['app']) =>
    app.svc.events.subscribe('work', handler(by), { subscription: 'work' })
  const refused = await startHost(t, { database: asRole.href, setUp: subscribe('refused') })
  await refused.app.svc.events.publish('work', {})
  await until(() => attempts.length === 1)
  const other = await startHost(t, { database, setUp: subscribe('other') })
  await other.core.underTest.runTasks()

  await admin.query(`alter role ${role} connection limit 0`)
  const { session } = refused.core.notifications
  await admin.query('select pg_terminate_backend($1)', [session])
  await until(() => refused.core.notifications.session === undefined)
  await other.core.underTest.runTasks()
  await pause(GRACE_MS)
  await other.core.underTest.runTasks()
  t.equal(refused.core.notifications.session, undefined)
  t.same(attempts, ['refused'])
  end.resolve()
  const { database: db } = other.app.svc
  await until(async () => (await db.query('select from svc_jobs.job')).rowCount === 0)
  t.same(attempts, ['refused'])
})
