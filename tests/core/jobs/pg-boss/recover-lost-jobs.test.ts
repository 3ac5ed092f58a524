import t from 'tap'
import type { PgBoss } from '../../../../packages/core/src/jobs/pg-boss/boss.ts'
import { LostJobs } from '../../../../packages/core/src/jobs/pg-boss/recover-lost-jobs.ts'
import { startHost } from '../../support/host.ts'

t.test('a process at rest has pg-boss search only where a lease has expired', async (t) => {
  const { app } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('order.placed', () => {}),
  })
  const { database } = app.svc
  let searches = 0
  let isAtRest = true
  const lost = new LostJobs({
    boss: { supervise: async () => void searches++ } as unknown as PgBoss,
    db: database,
    dead: { find: async () => [], findAgainInMs: undefined },
    isAtRest: () => isAtRest,
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
  isAtRest = false
  t.equal(await searchesAfter(), 4)
})
