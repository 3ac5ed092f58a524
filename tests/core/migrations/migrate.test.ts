// promise: A process refuses to boot on the tables of a newer version that it cannot work beside
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SvcCoreOptions } from '@svc/core'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost, type Host } from '../support/host.ts'
import { nextVersion } from '../support/next-version.ts'
import { until } from '../../support/until.ts'

/** A folder of migrations. */
async function folderOf(t: Test, files: Record<string, string>): Promise<URL> {
  const folder = t.testdir(files)
  return pathToFileURL(`${folder}/`)
}

t.test('files run once, in the order of their names, and later ones when they come', async (t) => {
  const { core, app } = await startHost(t)
  const folder = await folderOf(t, {
    '002-second.sql': `insert into notes values ('second')`,
    '001-first.sql': `create table notes (text text); insert into notes values ('first')`,
    'notes.md': 'no migration',
  })
  await core.migrate('test', folder)
  await core.migrate('test', folder)
  await writeFile(join(folder.pathname, '003-third.sql'), `insert into notes values ('third')`)
  await Promise.all([core.migrate('test', folder), core.migrate('test', folder)])
  const { rows } = await app.svc.database.query('select text from notes')
  t.strictSame(
    rows.map(({ text }) => text),
    ['first', 'second', 'third'],
  )
})

t.test(
  'a migration that fails leaves nothing, and those before it are not run again',
  async (t) => {
    const { core, app } = await startHost(t)
    const folder = await folderOf(t, {
      '001-good.sql': 'create table good ()',
      '002-bad.sql': 'create table bad (); create table bad (; )',
    })
    await t.rejects(core.migrate('test', folder), { code: '42601' })
    await t.rejects(core.migrate('test', folder), { code: '42601' })
    const { rows } = await app.svc.database.query(
      `select to_regclass('good')::text as good, to_regclass('bad') as bad,
            array(select name from svc."__svc.migrations" where owner = 'test') as done`,
    )
    t.strictSame(rows, [{ good: 'good', bad: null, done: ['001-good.sql'] }])
  },
)

t.test('migrations of two packages with the same file name both run', async (t) => {
  const { core, app } = await startHost(t)
  const one = await folderOf(t, { '001.sql': 'create table made_by_one ()' })
  await core.migrate('one', one)
  await core.migrate('other', one).catch(() => {})
  const { rows } = await app.svc.database.query(
    `select owner from svc."__svc.migrations" where name = '001.sql'`,
  )
  t.strictSame(rows, [{ owner: 'one' }], 'the second was tried, and found the table made')
})

t.test('a host of one version works beside the next, unless a migration is breaking', async (t) => {
  const database = await freshDatabase(t)
  const got: unknown[] = []
  const hostOf = (next: (app: FastifyInstance) => unknown = () => {}, core: SvcCoreOptions = {}) =>
    startHost(t, {
      database,
      core,
      setUp: async (app) => {
        await app.svc.events.subscribe('a', (payload) => void got.push(payload))
        await next(app)
      },
    })
  const older = await hostOf()
  const publishes = async (what: string, { app }: Pick<Host, 'app'>) => {
    await app.svc.events.publish('a', what)
    await until(() => got.includes(what))
  }
  await hostOf(
    nextVersion(
      t,
      `alter table svc."__svc.events" add column next int not null default 1;
       create table svc."__svc.next" (id int primary key);
       create function svc."__svc.next_function"() returns int language sql as 'select 1'`,
    ),
  )
  await publishes('from a process that was there before', older)
  await publishes('from one that boots afterwards', await hostOf())
  await publishes('from one that only checks', await hostOf(undefined, { migrate: 'check' }))

  const version = (files: Record<string, string>) => pathToFileURL(`${t.testdir(files)}/`)
  const known = { '001-first.sql': 'create table first ()' }
  await older.core.migrate('test', version(known))
  await older.core.migrate('test', version({ ...known, '002-x.breaking.sql': 'drop table first' }))
  await t.rejects(older.core.migrate('test', version(known)), {
    code: 'SVC_CORE_SCHEMA_TOO_NEW',
    message:
      'svcCore: the database has tables of a later version of test, which this version cannot use (002-x.breaking.sql): deploy that version or a later one',
  })
})
