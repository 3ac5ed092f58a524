import pg from 'pg'
import t from 'tap'
import { Hot, openHot } from '../../packages/core/src/hot.ts'
import { emptyDatabase } from '../support/fresh-database.ts'

const show = 'show synchronous_commit'

t.test('claims and settles do not wait for the disk, with and without a pooler', async (t) => {
  const connectionString = await emptyDatabase(t)
  const direct = await openHot({ connectionString, max: 1 }, () => {})
  const pooled = new Hot(new pg.Pool({ connectionString, max: 1 }), true)
  t.teardown(() => Promise.all([direct.pool.end(), pooled.pool.end()]))

  for (const hot of [direct, pooled]) {
    t.same((await hot.query(show)).rows, [{ synchronous_commit: 'off' }])
    t.same((await hot.transaction((db) => db.query(show))).rows, [{ synchronous_commit: 'off' }])
  }
  t.equal(direct.pooled, false)
  t.same(
    (await pooled.pool.query(show)).rows,
    [{ synchronous_commit: 'on' }],
    'what the pooler gives to others afterwards does',
  )
})
