import t from 'tap'
import type { PgBoss } from '../../../../packages/core/src/jobs/pg-boss/boss.ts'
import { LostJobs } from '../../../../packages/core/src/jobs/pg-boss/recover-lost-jobs.ts'
import { startHost } from '../../support/host.ts'
import { GROUP, idOf, QUEUE } from '../../support/worker.ts'

t.test('pg-boss searches once a minute, and where a lease has expired', async (t) => {
  const { app } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('order.placed', () => {}),
  })
  const { database } = app.svc
  let searches = 0
  const lost = new LostJobs({
    boss: { supervise: async () => void searches++ } as unknown as PgBoss,
    db: database,
    dead: { find: async () => [], findAgainInMs: undefined },
    recovered: () => {},
    log: { warn: () => {} },
  })
  const searchesAfter = async () => {
    await lost.recoverExpired()
    return searches
  }
  t.equal(await searchesAfter(), 1, 'pg-boss has other work to do, at first and once a minute')
  await database.query(
    `insert into svc_jobs.job (name, data, state, started_on, heartbeat_on, heartbeat_seconds)
     values ('__svc.sub/order.placed', '{}', 'active', now(), now() - interval '10 seconds', 20)`,
  )
  t.equal(await searchesAfter(), 1)
  await database.query(`update svc_jobs.job set heartbeat_on = now() - interval '21 seconds'`)
  t.equal(await searchesAfter(), 2)
  await database.query(
    `update svc_jobs.job set heartbeat_on = now(), started_on = now() - interval '2 days'`,
  )
  t.equal(await searchesAfter(), 3, 'an attempt that takes too long')
  await database.query(`update svc_jobs.job set started_on = now()`)
  t.equal(await searchesAfter(), 3)
})

t.test('the search for expired leases reads no jobs that wait', async (t) => {
  const { core } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('a'), data: {}, group: GROUP }])
  // Parked, as those of a paused webhook.
  await core.db.query(
    `insert into svc_jobs.job (name, data, group_id, singleton_key, blocked)
     select name, data, group_id, singleton_key, true
       from svc_jobs.job cross join generate_series(1, 5000) where name = $1`,
    [QUEUE],
  )
  await core.db.query('analyze')
  const texts: string[] = []
  const lost = new LostJobs({
    boss: { supervise: async () => {} } as unknown as PgBoss,
    db: {
      query(text, values) {
        texts.push(text)
        return core.db.query(text, values)
      },
    },
    dead: { find: async () => [], findAgainInMs: undefined },
    recovered: () => {},
    log: { warn: () => {} },
  })
  await lost.recoverExpired()
  texts.length = 0
  await lost.recoverExpired()
  t.equal(texts.length, 1)
  const { rows } = await core.db.query(`explain (analyze, format json) ${texts[0]}`)
  t.notMatch(JSON.stringify(rows), /"Rows Removed by Filter": [1-9]/)
  t.match(JSON.stringify(rows), /svc_active_/)
})
