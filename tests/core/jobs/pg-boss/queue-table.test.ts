import t from 'tap'
import { QueueTable } from '../../../../packages/core/src/jobs/pg-boss/queue-table.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { complete, fetch, hostWith, insert, retry, statesOf } from '../../support/claimed-jobs.ts'
import { idOf, QUEUE } from '../../support/worker.ts'
import { sessionOn } from '../../../support/session.ts'

t.test('the table of a queue is its own, or that of all queues without one', async (t) => {
  const { app, core } = await hostWith(t, await freshDatabase(t))
  await app.svc.jobs.createQueue('shared')
  t.match(await new QueueTable(QUEUE).name(core.db), /^svc_jobs\.j[0-9a-f]{56}$/)
  const shared = new QueueTable('shared')
  t.equal(await shared.name(core.db), 'svc_jobs.job_common')
  t.equal(await new QueueTable('none').name(core.db), 'svc_jobs.job')

  await insert(core, ['own'])
  await app.svc.jobs.send('shared', { its: 'own' })
  t.match(await fetch(core.db, shared, 10), [{ data: { its: 'own' } }], 'no jobs of others')
})

t.test(
  'a fetch of a deleted queue brings no jobs, and after the queue is created again its own',
  async (t) => {
    const { app, core } = await hostWith(t, await freshDatabase(t))
    await insert(core, ['a'])
    const table = new QueueTable(QUEUE)
    t.equal((await fetch(core.db, table, 10)).length, 1)
    await core.db.query('delete from svc_jobs.job')
    await app.svc.jobs.deleteQueue(QUEUE)
    t.strictSame(await fetch(core.db, table, 10), [])
    await core.queues.define(QUEUE)
    await insert(core, ['b'])
    t.match(await fetch(core.db, table, 10), [{ id: idOf('b') }])
  },
)

t.test('a role with rights on the table of all queues alone uses that', async (t) => {
  const database = await freshDatabase(t)
  const { app, core } = await hostWith(t, database)
  await app.svc.jobs.createQueue('shared')
  const role = `app_${idOf(database).replaceAll('-', '')}`
  await core.db.query(`create role ${role}`)
  t.teardown(async () => {
    await core.db.query(`drop owned by ${role}`)
    await core.db.query(`drop role ${role}`)
  })
  for (const right of [
    'usage on schema svc, svc_jobs',
    'select on all tables in schema svc',
    'select, update, delete on svc_jobs.job, svc_jobs.queue',
    // To lock the rows of recipients.
    'update on svc."__svc.recipient_states"',
    'insert on settled',
  ]) {
    await core.db.query(`grant ${right} to ${role}`)
  }
  const client = await sessionOn(t, database)
  await client.query(`set role ${role}`)
  await insert(core, ['a', 'b', 'c', 'd'])
  await app.svc.jobs.send('shared', {})

  const own = await new QueueTable(QUEUE).name(core.db)
  for (const rights of ['select, update', 'select, delete', 'update, delete']) {
    await core.db.query(`grant ${rights} on ${own} to ${role}`)
    t.equal(await new QueueTable(QUEUE).name(client), 'svc_jobs.job', rights)
    await core.db.query(`revoke ${rights} on ${own} from ${role}`)
  }
  const table = new QueueTable(QUEUE)
  await core.db.query(`grant select, update, delete on ${own} to ${role}`)
  t.equal(await table.name(client), own)
  await core.db.query(`revoke all on ${own} from ${role}`)
  const jobs = await fetch(client, table, 10)
  t.equal(jobs.length, 4, 'also where the rights are revoked later')
  await complete(client, jobs.slice(0, 2))
  await retry(client, jobs.slice(2))
  t.strictSame(await statesOf(core), ['retry', 'retry'])
})
