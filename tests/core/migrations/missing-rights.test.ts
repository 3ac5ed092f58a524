import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { whatIsMissing } from '../../../packages/core/src/migrations/missing-rights.ts'
import { emptyDatabase, freshDatabase } from '../../support/fresh-database.ts'
import { hostRole } from '../support/host-role.ts'
import { startHost } from '../support/host.ts'
import { nextVersion } from '../support/next-version.ts'
import { newHost } from '../../support/new-host.ts'

/** A database where a host of another role has made everything. */
async function madeDatabase(t: Test): Promise<string> {
  const database = await freshDatabase(t)
  const host = await startHost(t, {
    database,
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
  })
  await host.app.close()
  return database
}

/** A role without rights, and the way to give it some. */
async function roleOf(t: Test, database: string) {
  const { role, url, sql } = await hostRole(t, database)
  return {
    role,
    name: url.pathname.slice(1),
    sql,
    boot: async (register: (app: FastifyInstance) => unknown = () => {}) => {
      const app = newHost(t)
      await app.register(svcCore, { database: { connectionString: url.href, max: 2 } })
      await app.register(svcWebhooks, { allowedEvents: ['a'] })
      await app.svc.events.subscribe('a', () => {})
      await register(app)
      await app.ready()
      return app
    },
  }
}

const code = 'SVC_CORE_RIGHTS_MISSING'

t.test('the error for a role that may not create a schema says so', async (t) => {
  const { role, name, boot } = await roleOf(t, await emptyDatabase(t))
  await t.rejects(boot(), {
    code,
    message: `svcCore: the role "${role}" lacks create on the database "${name}" (to make the schema "svc"), create on the database "${name}" (to make the schema "svc_jobs") (permission denied for database ${name}): grant it, or boot once as a role that has it`,
  })
})

t.test('the error for a role that may not create a table in a schema says so', async (t) => {
  const { role, sql, boot } = await roleOf(t, await emptyDatabase(t))
  await sql('create schema svc; create schema svc_jobs')
  await sql('grant usage on schema svc, svc_jobs to $role')
  await t.rejects(boot(), {
    code,
    message: `svcCore: the role "${role}" lacks create on the schema "svc", create on the schema "svc_jobs" (permission denied for schema svc): grant it, or boot once as a role that has it`,
  })
  await sql('grant create on schema svc to $role')
  await t.rejects(boot(), { code, message: /lacks create on the schema "svc_jobs" \(/ })
  await sql('grant create on schema svc_jobs to $role')
  await t.resolves(boot())
})

t.test('the error for a role that may not read the tables lists the missing rights', async (t) => {
  const { sql, boot } = await roleOf(t, await madeDatabase(t))
  await t.rejects(boot(), { code, message: /lacks usage on the schema "svc"/ })
  await sql('grant usage on schema svc, svc_jobs to $role')
  await t.rejects(boot(), {
    code,
    message:
      /lacks select, insert, update, delete on "__svc\.[^"]+", .* and \d+ more tables in the schema "svc"/,
  })
  await sql(
    `grant select, insert, update, delete on all tables in schema svc, svc_jobs to $role;
     revoke delete on svc."__svc.subscriptions" from $role`,
  )
  await sql(
    `insert into svc."__svc.subscriptions" (event_name, subscription, queue) values ('old', 'a', 'q')`,
  )
  await t.rejects(boot(), {
    code,
    message:
      /lacks delete on "__svc.subscriptions" in the schema "svc" \(permission denied.*\): grant it$/,
  })
})

t.test('rights on rows are enough where all tables exist', async (t) => {
  const { sql, boot } = await roleOf(t, await madeDatabase(t))
  await sql('grant usage on schema svc, svc_jobs to $role')
  await sql('grant select, insert, update, delete on all tables in schema svc, svc_jobs to $role')
  const app = await boot()
  t.match(await app.svc.events.publish('a', 1), { duplicate: false })
})

t.test('the error for a role that may not alter a table names its owner', async (t) => {
  const { sql, boot } = await roleOf(t, await madeDatabase(t))
  await sql('grant usage, create on schema svc, svc_jobs to $role')
  await sql('grant select, insert, update, delete on all tables in schema svc, svc_jobs to $role')
  const next = nextVersion(t, 'alter table svc."__svc.subscriptions" add column next int')
  await t.rejects(boot(next), {
    code,
    message:
      /lacks ownership of "__svc.* in the schema "svc", .*\(must be owner of table __svc.subscriptions\)/,
  })
})

t.test('a refusal whose missing right is not found has the message of Postgres', async (t) => {
  t.equal(
    whatIsMissing('denied', undefined),
    'svcCore: Postgres denies what the boot needs (denied)',
  )
  t.equal(
    whatIsMissing('denied', { role: 'a', database: 'b', mayCreateSchemas: true, schemas: [] }),
    'svcCore: Postgres denies the role "a" what the boot needs (denied)',
  )
})
