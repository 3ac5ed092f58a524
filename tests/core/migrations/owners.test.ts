import { randomBytes } from 'node:crypto'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { useCore } from '@svc/core/internal'
import { svcWebhooks } from '@svc/webhooks'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { newHost } from '../../support/new-host.ts'

/** An owner, and two logins that are its members, as where passwords change with each deploy. */
async function rolesOf(t: Test) {
  const database = await emptyDatabase(t)
  const admin = new pg.Client(database)
  await admin.connect()
  const run = randomBytes(5).toString('hex')
  const [owner, first, second] = ['owner', 'first', 'second'].map(
    (name) => `svc_test_${name}_${run}`,
  )
  await admin.query(`create role ${owner} login password 'p'`)
  for (const login of [first, second]) {
    await admin.query(`create role ${login} login password 'p' in role ${owner}`)
  }
  await admin.query(`grant create on database ${new URL(database).pathname.slice(1)} to ${owner}`)
  t.teardown(async () => {
    for (const role of [first, second, owner]) {
      await admin.query(`drop owned by ${role} cascade; drop role ${role}`).catch(() => {})
    }
    await admin.end()
  })
  return {
    admin,
    roles: { owner: `${owner}`, first: `${first}`, second: `${second}` },
    boot: async (role: string, packages: 'core' | 'all') => {
      const url = new URL(database)
      url.username = role
      url.password = 'p'
      const app = newHost(t)
      await app.register(svcCore, { database: { connectionString: url.href, max: 2 } })
      if (packages === 'all') {
        await app.register(svcAuth)
        await app.register(svcWebhooks, { allowedEvents: ['a'] })
        await app.svc.events.subscribe('a', () => {})
      }
      await app.ready()
      return app
    },
    owners: async (): Promise<string[]> => {
      const { rows } = await admin.query(
        `with schema as (
           select oid, nspowner from pg_namespace where nspname in ('svc', 'svc_jobs'))
         select nspowner::regrole::text as owner from schema
         union select relowner::regrole::text from pg_class, schema where relnamespace = schema.oid
         union select proowner::regrole::text from pg_proc, schema where pronamespace = schema.oid
         union select typowner::regrole::text from pg_type, schema where typnamespace = schema.oid`,
      )
      return rows.map((row: { owner: string }) => row.owner)
    },
  }
}

t.test('what a login makes belongs to the owner of the tables, and the login can go', async (t) => {
  const { admin, roles, boot, owners } = await rolesOf(t)
  await (await boot(roles.owner, 'core')).close()
  // The tables of two packages, the queue of deliveries with its table, and days of the log.
  const app = await boot(roles.first, 'all')
  await admin.query('select svc."__svc.webhooks.drop_log_days"(-2)')
  await (await useCore(app)).underTest.runTasks()
  await app.close()
  t.same(await owners(), [roles.owner])

  await admin.query(`drop role ${roles.first}`)
  const next = await boot(roles.second, 'all')
  await next.close()
  t.same(await owners(), [roles.owner])
  await admin.query(
    `set role ${roles.owner}; alter table svc."__svc.webhooks.delivery_log" add column later int; reset role`,
  )
})

t.test('processes of one login that boot at once hand over what they made', async (t) => {
  const { roles, boot, owners } = await rolesOf(t)
  await (await boot(roles.owner, 'core')).close()
  await Promise.all([boot(roles.first, 'all'), boot(roles.first, 'all')])
  t.same(await owners(), [roles.owner])
})
