import t from 'tap'
import {
  listRecipients,
  setHeld,
} from '../../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'
import { RECIPIENT, QUEUE } from '../../support/worker.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'

t.test(
  'of the table of recipients that is read which has changed, and no change is missed',
  async (t) => {
    const { core } = await startHost(t, {
      core: { worker: { enabled: false } },
      setUp: (_app, core) => core.queues.define(QUEUE),
    })
    let seen: string | null = null
    const read = async () => {
      const answer = await listRecipients(core.db, QUEUE, seen)
      seen = answer.seen
      return answer.rows.map(({ recipient, held }) => [recipient, held])
    }
    // A transaction of any database that is open meanwhile has the rows read once more.
    const isEmpty = (rows: unknown[]) => rows.length === 0
    for (const recipient of [RECIPIENT, OTHER]) await setHeld(core.db, QUEUE, [recipient], true)
    t.same((await read()).toSorted(), [
      [RECIPIENT, true],
      [OTHER, true],
    ])
    await until(read, isEmpty)
    await core.transaction(async (db) => {
      await setHeld(db, QUEUE, [OTHER], false)
      await setHeld(core.db, QUEUE, [RECIPIENT], false)
      t.same(await read(), [[RECIPIENT, false]])
    })
    t.match(
      (await read()).filter(([recipient]) => recipient === OTHER),
      [[OTHER, false]],
      'its transaction had begun before the last reading',
    )
    await until(read, isEmpty)

    await core.db.query(
      `update svc."__svc.recipient_states" set changed_by = '9000000000' where recipient = $1`,
      [RECIPIENT],
    )
    // As restored from another server.
    await until(read, isEmpty)
    seen = null
    t.equal((await read()).length, 2)
  },
)
