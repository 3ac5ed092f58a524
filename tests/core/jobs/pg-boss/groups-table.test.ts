import t from 'tap'
import { listJobGroups, setHeld } from '../../../../packages/core/src/jobs/pg-boss/groups-table.ts'
import { startHost } from '../../support/host.ts'
import { GROUP, QUEUE } from '../../support/worker.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'

t.test(
  'of the table of groups that is read which has changed, and no change is missed',
  async (t) => {
    const { core } = await startHost(t, {
      core: { worker: { enabled: false } },
      setUp: (_app, core) => core.queues.define(QUEUE),
    })
    let seen: string | null = null
    const read = async () => {
      const answer = await listJobGroups(core.db, QUEUE, seen)
      seen = answer.seen
      return answer.rows.map(({ group, held }) => [group, held])
    }
    for (const group of [GROUP, OTHER]) await setHeld(core.db, QUEUE, group, true)
    t.same((await read()).toSorted(), [
      [GROUP, true],
      [OTHER, true],
    ])
    t.same(await read(), [])
    await core.transaction(async (db) => {
      await setHeld(db, QUEUE, OTHER, false)
      await setHeld(core.db, QUEUE, GROUP, false)
      t.same(await read(), [[GROUP, false]])
    })
    t.match(
      (await read()).filter(([group]) => group === OTHER),
      [[OTHER, false]],
      'its transaction had begun before the last reading',
    )
    t.same(await read(), [])

    await core.db.query(
      `update svc."__svc.recipient_states" set changed_by = '9000000000' where recipient = $1`,
      [GROUP],
    )
    t.same(await read(), [], 'as restored from another server')
    seen = null
    t.equal((await read()).length, 2)
  },
)
