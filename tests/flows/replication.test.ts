import type { FastifyInstance } from 'fastify'
import { useCore } from '@svc/core/internal'
import { drain } from '@svc/testing'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { queryOn } from '../support/session.ts'
import { until } from '../support/until.ts'
import { wholeHost } from '../support/whole-host.ts'
import { openReceiver } from '../support/receiver.ts'

/** As Debezium and Supabase make it: Postgres then refuses updates and deletes of rows that nothing identifies. */
async function replicatedHost(t: Test): Promise<FastifyInstance> {
  const database = await freshDatabase(t)
  await queryOn(database, 'create publication everything for all tables')
  const app = await wholeHost(
    t,
    { database: { connectionString: database, max: 4 } },
    { webhooks: { allowedEvents: ['a'] } },
  )
  await app.ready()
  return app
}

/** The tables, partitions of ours and of pg-boss that have rows, and no way to name one of them. */
const namelessTables = async (app: FastifyInstance): Promise<string[]> => {
  const { rows } = await app.svc.database.query(
    `select relname from pg_class
      where relnamespace in ('svc'::regnamespace, 'svc_jobs'::regnamespace) and relkind in ('r', 'p')
        and (relreplident = 'n' or relreplident = 'd' and not exists (
              select from pg_index where indrelid = pg_class.oid and indisprimary))`,
  )
  return rows.map(({ relname }) => relname)
}

t.test('each table has a replica identity, also days of the log that come later', async (t) => {
  const app = await replicatedHost(t)
  await app.svc.database.query('select svc."__svc.webhooks.make_log_days"(10)')
  t.same(await namelessTables(app), [])
})

t.test(
  'under a publication for all tables everything is delivered, swept and erased',
  async (t) => {
    const app = await replicatedHost(t)
    const partner = await openReceiver(t)
    const filter = { payload: { n: 1 } }
    const webhook = { url: partner.url, events: ['a'], tenant: 'acme' }
    const { id } = await app.svc.webhooks.register(webhook)
    await app.svc.webhooks.register({ ...webhook, filter })
    await app.svc.events.publish('a', { n: 1 }, { tenant: 'acme' })
    await partner.waitFor(2)
    await drain(app)

    const core = await useCore(app)
    await app.svc.database.query(
      `update svc."__svc.filter_changes" set changed_at = now() - interval '1 year'`,
    )
    // A day that is gone, and one that is to come.
    await app.svc.database.query('select svc."__svc.webhooks.drop_log_days"(-1)')
    await core.underTest.runTasks()
    await until(async () => (await app.svc.health()).ok)
    const { rows } = await app.svc.database.query(
      `select count(*)::int from pg_inherits where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass`,
    )
    t.same(rows, [{ count: 5 }])
    t.match(await app.svc.webhooks.stats({ webhookId: id }), Object)
    t.match(await app.svc.eraseTenant('acme'), { webhooks: 2, events: 1 })
  },
)
