/** What a boot makes on tables of jobs, while others use them. */
import t from 'tap'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'
import { sessionOn } from '../../../support/session.ts'

const subscribed = (app: { svc: { events: { subscribe: Function } } }) =>
  app.svc.events.subscribe('a', () => {}, { subscription: 'test' })

t.test('an index that has to wait for its table holds up no publish', async (t) => {
  const database = await freshDatabase(t)
  const { app } = await startHost(t, {
    database,
    core: { worker: { enabled: false } },
    setUp: subscribed,
  })
  await app.svc.database.query('drop index svc_jobs.svc_dead_letters')
  const client = await sessionOn(t, database)
  await client.query('begin')
  await app.svc.events.publish('a', 1, { db: client })

  const booted = startHost(t, { database, setUp: subscribed })
  for (let n = 0; n < 3; n++) {
    await until(async () => {
      const { rowCount } = await app.svc.database.query(
        `select from pg_locks where mode = 'ShareRowExclusiveLock' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      )
      return rowCount === 1
    })
    // It would be refused after fifteen seconds behind a lock that waits without end.
    await app.svc.events.publish('a', n)
  }
  await client.query('rollback')
  await booted
  const { rows } = await app.svc.database.query(
    `select to_regclass('svc_jobs.svc_dead_letters') is not null as made`,
  )
  t.same(rows, [{ made: true }])
})

t.test('an index of ours that is missing is made while others read the queues', async (t) => {
  const { app, core, database } = await startHost(t)
  const client = await sessionOn(t, database)
  await core.queues.define('__svc.test')
  const { rows } = await app.svc.database.query(
    `select 'svc_jobs.svc_due_' || table_name as index from svc_jobs.queue where name = '__svc.test'`,
  )
  const index: string = rows[0].index.slice(0, 'svc_jobs.'.length + 63)
  await app.svc.database.query(`drop index ${index}`)
  await client.query('begin')
  await client.query('select from svc_jobs.queue')
  await core.queues.define('__svc.test')
  const { rows: found } = await app.svc.database.query(
    'select to_regclass($1) is not null as made',
    [index],
  )
  t.same(found, [{ made: true }])
})
