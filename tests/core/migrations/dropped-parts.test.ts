// A database that has lost tables, as by a restore of a part of a dump.
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'
import t from 'tap'
import { partsMadeBy } from '../../../packages/core/src/migrations/made-parts.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { sessionOn } from '../../support/session.ts'

t.test('a host that only checks names tables and functions that were dropped', async (t) => {
  const database = await freshDatabase(t)
  const client = await sessionOn(t, database)
  const boot = async () => {
    const app = Fastify({ pluginTimeout: 60_000 })
    try {
      await app.register(svcCore, { database, migrate: 'check' })
      await app.register(svcAuth, { managementBasePath: null })
      await app.register(svcWebhooks, { allowedEvents: ['a'] })
      await app.ready()
    } finally {
      await app.close()
    }
  }
  await t.resolves(boot())
  const parts: [owner: string, kind: string, schema: string, name: string][] = [
    ['@svc/core', 'table', 'svc', '__svc.kv'],
    ['@svc/core', 'table', 'svc', '__svc.processes'],
    ['@svc/auth', 'table', 'svc', '__svc.auth.epoch'],
    ['@svc/auth', 'table', 'svc', '__svc.auth.api_keys'],
    ['@svc/webhooks', 'table', 'svc', '__svc.webhooks.delivery_log'],
    ['@svc/core', 'function', 'svc', '__svc.first_uuid'],
    ['pg-boss', 'table', 'svc_jobs', 'job'],
  ]
  for (const [owner, kind, schema, name] of parts) {
    await client.query(`alter ${kind} ${schema}."${name}" rename to hidden`)
    const message = new RegExp(`parts of ${owner} are missing .*: (the )?${kind} .*${name}`)
    await t.rejects(boot(), { code: 'SVC_CORE_SCHEMA_MISSING', message }, name)
    await client.query(`alter ${kind} ${schema}.hidden rename to "${name}"`)
  }
  await t.resolves(boot())
})

t.test('what later migrations drop is not missed', async (t) => {
  const texts = [
    'create table svc."a" (x int); create function svc."f"() returns void',
    'drop table if exists svc."a"; create or replace function svc."g"(x int) returns void',
    'drop function svc."f"; create table svc."b.c" (y int)',
  ]
  t.same(partsMadeBy(texts), [
    { kind: 'function', name: 'g' },
    { kind: 'table', name: 'b.c' },
  ])
})
