import pg from 'pg'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost } from '../support/host.ts'

const JSONB_OID = 3802

t.test("a value is the one that was set, whatever the host's pool makes of JSON", async (t) => {
  const connectionString = await freshDatabase(t)
  const getTypeParser = (oid: number, format: 'text') =>
    oid === JSONB_OID ? (text: string) => text : pg.types.getTypeParser(oid, format)
  const types = { getTypeParser } as unknown as pg.CustomTypesConfig
  const pool = new pg.Pool({ connectionString, max: 4, types })
  t.teardown(() => pool.end())
  const { app } = await startHost(t, { database: connectionString, core: { database: pool } })
  const { kv } = app.svc

  for (const value of [{ a: [1, null] }, 'text', '{"a":1}', 5, true, null]) {
    await kv.set('key', value)
    t.strictSame(await kv.get('key'), value)
  }
  t.equal(await kv.get('other'), undefined)
  t.equal(await kv.increment('count'), 1)
  t.equal(await kv.increment('count', { by: 2 }), 3)
  const inTransaction = await app.svc.transaction((db) => kv.get('count', { db }))
  t.equal(inTransaction, 3)
})
