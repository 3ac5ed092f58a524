import t from 'tap'
import {
  deleteUnusedRecipients,
  setHeld,
} from '../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'
import { startHost } from '../support/host.ts'
import { RECIPIENT, idOf, QUEUE } from '../support/worker.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'

t.test('rows of recipients without jobs aside are found by an index, and deleted', async (t) => {
  const { core } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  for (const recipient of [RECIPIENT, OTHER]) await setHeld(core.db, QUEUE, [recipient], true)
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('a'), data: {}, recipient: RECIPIENT }])
  for (const recipient of [RECIPIENT, OTHER]) await setHeld(core.db, QUEUE, [recipient], false)
  await core.db.query(
    `insert into svc_jobs.job (name, data, group_id, singleton_key, blocked, priority)
     select name, data, group_id, singleton_key, true, -2
       from svc_jobs.job cross join generate_series(1, 5000) where name = $1`,
    [QUEUE],
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
    return deleteUnusedRecipients(explained, QUEUE, [RECIPIENT, OTHER])
  })
  t.strictSame(deleted, [OTHER])
  t.match(plan, /"Index Cond":"[^"]*singleton_key = /)
})
