import t from 'tap'
import { lostJobsOf } from '../../support/lost-jobs.ts'
import { startHost } from '../../support/host.ts'
import { RECIPIENT, idOf, QUEUE } from '../../support/worker.ts'

const OWN = '00000000-0000-7000-8000-000000000001'

t.test('a claim that its own process does not know is taken back, and counts', async (t) => {
  const { core } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const { db } = core
  const names = ['known', 'new', 'unknown', 'unknown and the last']
  await core.queues.insert(
    db,
    QUEUE,
    names.map((name) => ({ id: idOf(name), data: { event: 'test' }, recipient: RECIPIENT })),
  )
  await db.query(
    `update svc_jobs.job
        set state = 'active', group_tier = $2, started_on = now() - interval '1 minute',
            retry_count = case when id = $3 then retry_limit else 0 end
      where name = $1`,
    [QUEUE, OWN, idOf('unknown and the last')],
  )
  await db.query('update svc_jobs.job set started_on = now() where id = $1', [idOf('new')])
  const lost = lostJobsOf(db, {
    ownId: OWN,
    holds: (_queue, id) => id === idOf('known'),
  })
  const active = async () => {
    const { rows } = await db.query(
      `select id from svc_jobs.job where name = $1 and state = 'active' order by id`,
      [QUEUE],
    )
    return rows.map(({ id }: { id: string }) => id)
  }
  await lost.recover()
  t.equal((await active()).length, 4, 'it may be on its way from the publish that has claimed it')
  await lost.recover()
  t.same(await active(), [idOf('known'), idOf('new')].toSorted())
  const { rows } = await db.query(
    `select name, state::text, retry_count as "retryCount" from svc_jobs.job
      where state <> 'active' order by name`,
  )
  t.match(rows, [
    { name: QUEUE, state: 'retry' },
    { name: `${QUEUE}.dlq`, state: 'created' },
  ])
})

t.test('as the jobs of a dead process are taken back, others keep theirs', async (t) => {
  const { core } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const { db } = core
  const [dead, alive] = ['00000000-0000-7000-8000-00000000dead', core.lease.id]
  const owners = { own: OWN, dead, alive }
  await core.queues.insert(
    db,
    QUEUE,
    Object.keys(owners).map((name) => ({
      id: idOf(name),
      data: { event: 'test' },
      recipient: RECIPIENT,
    })),
  )
  for (const [name, owner] of Object.entries(owners)) {
    await db.query(
      `update svc_jobs.job
          set state = 'active', group_tier = $2, started_on = now() - interval '1 hour'
        where id = $1`,
      [idOf(name), owner],
    )
  }
  const lost = lostJobsOf(db, {
    ownId: OWN,
    dead: { find: async () => [dead], findAgainInMs: undefined },
  })
  await lost.recoverFromDead()
  const { rows } = await db.query(`select id from svc_jobs.job where state = 'active' order by id`)
  t.same(
    rows.map(({ id }) => id as string),
    [idOf('own'), idOf('alive')].toSorted(),
  )
})

t.test('jobs of queues of the host are left to pg-boss, whatever their tier', async (t) => {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  const { jobs } = app.svc
  await jobs.createQueue('mine')
  await jobs.send('mine', {}, { group: { id: 'acme', tier: 'gold' }, retryLimit: 0 })
  await jobs.fetch('mine')
  await lostJobsOf(core.db).recover()
  const { rows } = await core.db.query(
    `select state::text, group_tier as tier from svc_jobs.job where name = 'mine'`,
  )
  t.strictSame(rows, [{ state: 'active', tier: 'gold' }])
})

t.test('pg-boss makes its own checks once a minute', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  let checks = 0
  const boss = { supervise: async () => void checks++ } as never
  const lost = lostJobsOf(app.svc.database, { boss })
  await lost.recover()
  await lost.recover()
  t.equal(checks, 1)
})

t.test('the search reads no jobs that wait', async (t) => {
  const { core } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('a'), data: {}, recipient: RECIPIENT }])
  // Parked, as those of a paused webhook.
  await core.db.query(
    `insert into svc_jobs.job (name, data, group_id, singleton_key, blocked)
     select name, data, group_id, singleton_key, true
       from svc_jobs.job cross join generate_series(1, 5000) where name = $1`,
    [QUEUE],
  )
  await core.db.query('analyze')
  const asked: [text: string, values: unknown[]][] = []
  const lost = lostJobsOf({
    query(text, values = []) {
      asked.push([text, values])
      return core.db.query(text, values)
    },
  })
  await lost.recover()
  t.equal(asked.length, 1)
  const [[text, values]] = asked as [[string, unknown[]]]
  const { rows } = await core.db.query(`explain (analyze, format json) ${text}`, values)
  t.notMatch(JSON.stringify(rows), /"Rows Removed by Filter": [1-9]/)
  t.match(JSON.stringify(rows), /svc_active_/)
})
