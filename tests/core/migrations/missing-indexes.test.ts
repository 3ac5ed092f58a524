import { readFile } from 'node:fs/promises'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import Fastify from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { run } from '../../../packages/core/src/cli/run.ts'
import { freshDatabase } from '../../support/fresh-database.ts'

/** What the migrations leave out where the tables are large. */
const INDEXES = [
  '__svc.audit_action_id_idx',
  '__svc.audit_actor_kind_id_idx',
  '__svc.audit_target_kind_id_idx',
  'api_keys_disabled',
  'api_keys_expiring',
  'api_keys_revoked',
]

async function adminOf(t: Test, database: string) {
  const admin = new pg.Client(database)
  await admin.connect()
  t.teardown(() => admin.end())
  const definitions = async () => {
    const { rows } = await admin.query(
      `select indexdef from pg_indexes
        where schemaname = 'svc' and indexname = any($1) order by indexname`,
      [INDEXES],
    )
    return rows
  }
  return { admin, definitions }
}

async function migrated(database: string, ...options: string[]) {
  const errors: string[] = []
  const env = { DATABASE_URL: database }
  const output = { out: () => {}, err: (line: string) => void errors.push(line) }
  return { exitCode: await run(['migrate', ...options], env, output), errors }
}

t.test(
  'what builds the indexes that a large table went without is said, until it was done',
  async (t) => {
    const database = await freshDatabase(t)
    const { admin, definitions } = await adminOf(t, database)
    const whole = await definitions()
    for (const name of INDEXES) await admin.query(`drop index svc."${name}"`)
    t.equal(whole.length, INDEXES.length)

    const { exitCode, errors } = await migrated(database)
    t.equal(exitCode, 0)
    t.equal(errors.filter((line) => line.startsWith('indexes are missing')).length, 2, 'a package')
    const statements = errors.filter((line) => line.startsWith('create index concurrently'))
    t.equal(statements.length, INDEXES.length)
    const docs = await readFile(new URL('../../../docs/migrations.md', import.meta.url), 'utf8')
    t.same(docs.match(/^create index concurrently [^;]+;/gm)?.toSorted(), statements.toSorted())
    t.same((await migrated(database, '--check')).errors, errors)

    const log: { msg: string; statements?: string[] }[] = []
    const stream = { write: (line: string) => void log.push(JSON.parse(line)) }
    const app = Fastify({ logger: { level: 'warn', stream }, pluginTimeout: 60_000 })
    t.teardown(() => app.close())
    await app.register(svcCore, { database, migrate: 'check', worker: { enabled: false } })
    await app.register(svcAuth)
    await app.ready()
    t.same(
      log.flatMap((line) => line.statements ?? []),
      statements,
    )

    for (const statement of statements) await admin.query(statement)
    t.same(await definitions(), whole)
    t.same(await migrated(database), { exitCode: 0, errors: [] })
  },
)

t.test('what an interrupted build has left is to be dropped first', async (t) => {
  const database = await freshDatabase(t)
  const { admin, definitions } = await adminOf(t, database)
  const whole = await definitions()
  await admin.query(
    `update pg_index set indisvalid = false where indexrelid = 'svc.api_keys_revoked'::regclass`,
  )
  const { errors } = await migrated(database)
  t.match(errors.slice(1), [
    'drop index concurrently svc."api_keys_revoked";',
    /^create index concurrently if not exists api_keys_revoked/,
  ])
  for (const statement of errors.slice(1)) await admin.query(statement)
  t.same(await definitions(), whole)
  t.same((await migrated(database, '--check')).errors, [])
})
