import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { startHost } from '../support/host.ts'

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

t.test('a host runs beside a later migration, unless its name says breaking', async (t) => {
  const { core } = await startHost(t)
  const older = await folderOf(t, { '001-first.sql': 'create table first ()' })
  const later = new URL('later/', older)
  await mkdir(later)
  const file = (name: string, text: string) => writeFile(new URL(name, later), text)
  await file('001-first.sql', '')
  await file('002-second.sql', 'create table second ()')
  await core.migrate('test', older)
  await core.migrate('test', later)
  await core.migrate('test', older)

  await file('003-third.breaking.sql', 'drop table first')
  await core.migrate('test', later)
  await core.migrate('test', later)
  await t.rejects(core.migrate('test', older), {
    code: 'SVC_CORE_SCHEMA_TOO_NEW',
    message:
      'svcCore: the database has tables of a later version of test, which this version cannot use (003-third.breaking.sql): deploy that version or a later one',
  })
})
