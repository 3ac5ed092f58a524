import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { asIs, namesOf } from '../../../packages/core/src/postgres/schema-names.ts'

const names = namesOf('order')!
/** The thousands of the locks of this schema. */
const LOCKS = names.statement('7763000').slice(0, -3)

const texts: [text: string, named: string][] = [
  ['select key from svc."__svc.kv"', 'select key from "order"."__svc.kv"'],
  [`to_regclass('svc."__svc.migrations"')`, `to_regclass('"order"."__svc.migrations"')`],
  ['(svc."a"), svc."b"::text, -svc."c"()', '("order"."a"), "order"."b"::text, -"order"."c"()'],
  [`format('svc.%I into svc.%3$I', name)`, `format('"order".%I into "order".%3$I', name)`],
  ['update svc_jobs.job as job', 'update order_jobs.job as job'],
  [`'created'::svc_jobs.job_state`, `'created'::order_jobs.job_state`],
  [`to_regclass('svc_jobs.' || name)`, `to_regclass('order_jobs.' || name)`],
  [`nspname in ('svc', 'svc_jobs')`, `nspname in ('order', 'order_jobs')`],
  [
    `to_regnamespace('svc'), 'svc'::regnamespace`,
    `to_regnamespace('order'), 'order'::regnamespace`,
  ],
  ['create schema svc', 'create schema "order"'],
  ['create schema svc;', 'create schema "order";'],
  [`pg_notify('svc.console.ended', '')`, `pg_notify('order.console.ended', '')`],
  [`pg_notify('__svc.auth.keys_changed', '')`, `pg_notify('__order.auth.keys_changed', '')`],
  ['pg_advisory_xact_lock(7763002, 1)', `pg_advisory_xact_lock(${LOCKS}002, 1)`],
]

/** Names of events, queues, indexes, savepoints, columns. */
const unchanged = [
  `starts_with(name, 'svc.') or starts_with(name, 'svc.key.')`,
  `starts_with(name, '__svc.sub/') and queue = '__svc.webhooks.deliver'`,
  'savepoint svc_log; rollback to savepoint svc_log',
  'create index svc_dead_letters_event on job_common (name)',
  'drop index if exists "svc.by_name"',
  'select a.svc, svc from my_svc."x", my_svc_jobs.job, svc_jobs_2.job',
  'select 17763001, 77630011, 7764001',
  'select $1',
]

t.test('names of the schema in a text are those of the host', async (t) => {
  for (const [text, named] of texts) {
    t.equal(names.statement(text), named)
    t.equal(names.statement(named), named, 'and stay')
  }
  for (const text of unchanged) t.equal(names.statement(text), text)
  for (const [text] of texts) t.equal(names.statement(asIs(text)), asIs(text))
})

t.test('the default has no other names', async (t) => {
  t.equal(namesOf('svc'), undefined)
})

t.test('channels fit into what Postgres takes, with the longest name of a schema', async (t) => {
  const longest = namesOf('x'.repeat(41))!
  for (const name of ['svc.wake', 'svc.console.changes', '__svc.auth.keys_changed']) {
    const channel = longest.channel(name)
    t.ok(channel.length <= 63 && !channel.includes('svc'), channel)
    t.equal(longest.statement(`pg_notify('${name}', '')`), `pg_notify('${channel}', '')`)
  }
  t.ok(longest.prepared(`svc_${'0'.repeat(16)}`).length <= 63)
})

t.test('locks are numbers of 32 bits, others in each schema', async (t) => {
  const seen = new Set(['7763001'])
  for (let n = 0; n < 1000; n++) {
    const lock = namesOf(`s${n}`)!.statement('7763001')
    t.ok(Number(lock) > 8_000_000 && Number(lock) < 2 ** 31)
    seen.add(lock)
  }
  t.ok(seen.size > 995)
})

t.test(
  'no statement has a number of a lock as a value, which would be that of all schemas',
  async (t) => {
    const packages = join(import.meta.dirname, '../../../packages')
    const files = (await readdir(packages, { recursive: true })).filter((file) =>
      /^\w+\/src\/.*\.ts$/.test(file),
    )
    t.ok(files.length > 300)
    for (const file of files) {
      const text = await readFile(join(packages, file), 'utf8')
      t.notMatch(text, /(?<!\$\{)\bADVISORY_LOCKS\.\w+/, file)
    }
  },
)
