import pg from 'pg'
import t from 'tap'

import { emptyDatabase, freshDatabase } from './fresh-database.ts'
import { sessionOn } from './session.ts'

t.test('two databases of one template are independent', async (t) => {
  const [one, other] = await Promise.all([
    sessionOn(t, await freshDatabase(t)),
    sessionOn(t, await freshDatabase(t)),
  ])
  await one.query('create table public.mine ()')

  const { rows } = await other.query(`select to_regclass('public.mine') as found`)

  t.same(rows, [{ found: null }])
})

t.test(
  'a database is dropped when the test that created it has ended, even if it has connections',
  async (t) => {
    let url = ''
    await t.test('a test that forgets to close its connection', async (t) => {
      url = await freshDatabase(t)
      const forgotten = new pg.Client(url)
      forgotten.on('error', () => {})
      await forgotten.connect()
    })

    await t.rejects(new pg.Client(url).connect(), { code: '3D000' })
  },
)

t.test('an empty database has no schema of ours', async (t) => {
  const client = await sessionOn(t, await emptyDatabase(t))

  const { rows } = await client.query(`select from pg_namespace where nspname like 'svc%'`)

  t.equal(rows.length, 0)
})
