import t from 'tap'
import {
  deleteUnusedGroups,
  recordParked,
} from '../../../packages/core/src/jobs/pg-boss/groups-table.ts'
import { startHost } from '../support/host.ts'
import { GROUP, idOf, QUEUE } from '../support/worker.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'

t.test('rows of groups without parked jobs are found by an index, and deleted', async (t) => {
  const { core } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const parked = { id: idOf('a'), data: {}, group: GROUP, parked: true }
  await core.transaction((db) => core.queues.insert(db, QUEUE, [parked]))
  await recordParked(core.db, QUEUE, [OTHER])
  await core.db.query(
    `insert into svc_jobs.job (name, data, group_id, singleton_key, blocked)
     select name, data, group_id, singleton_key, true
       from svc_jobs.job cross join generate_series(1, 5000) where name = $1`,
    [QUEUE],
  )
  await core.db.query(
    `update svc."__svc.recipient_states" set parked_at = now() - interval '1 minute'`,
  )
  await core.db.query('analyze')

  let plan = ''
  const deleted = await core.transaction(async (db) => {
    // As on the connections of workers.
    for (const scan of ['seqscan', 'bitmapscan']) await db.query(`set local enable_${scan} = off`)
    const explained = {
      async query(text: string, values?: unknown[]) {
        const { rows } = await db.query(`explain (format json) ${text}`, values)
        plan = JSON.stringify(rows)
        return db.query(text, values)
      },
    }
    return deleteUnusedGroups(explained, QUEUE, [GROUP, OTHER])
  })
  t.strictSame(deleted, [OTHER])
  t.match(plan, /"Index Cond":"[^"]*singleton_key = /)
})
