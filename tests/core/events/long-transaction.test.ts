// In a process of its own: it moves the clock.
import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

t.test('claims of a transaction that stays open are renewed before it commits', async (t) => {
  const { app } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
  })
  const { svc } = app
  // What a commit makes visible to the processes that look for expired leases.
  await svc.database.query(`
    create table at_commit (id text, heartbeat_on text);
    create function note_commit() returns trigger language plpgsql as $$
      begin
        insert into at_commit
          select data ->> 'eventId', heartbeat_on from svc_jobs.job
           where name = new.name and id = new.id and state = 'active';
        return null;
      end $$;
    create constraint trigger at_commit after insert on svc_jobs.job
      deferrable initially deferred for each row execute function note_commit()`)
  const now = performance.now.bind(performance)
  t.teardown(() => {
    performance.now = now
  })

  const published = async (openMs: number) => {
    const claim = await svc.transaction(async (db) => {
      const { id } = await svc.events.publish('a', 1, { db })
      const { rows } = await db.query(
        `select data ->> 'eventId' as id, heartbeat_on::text from svc_jobs.job
          where state = 'active' and data ->> 'eventId' = $1`,
        [id],
      )
      performance.now = () => now() + openMs
      return rows[0] as { id: string; heartbeat_on: string } | undefined
    })
    performance.now = now
    return claim
  }
  const claimed = async (openMs: number) => {
    // While the worker fetches, it has no slots to offer.
    const claim = (await until(
      () => published(openMs),
      (one) => one !== undefined,
    ))!
    const { rows } = await svc.database.query('select heartbeat_on from at_commit where id = $1', [
      claim.id,
    ])
    return { before: claim.heartbeat_on, atCommit: rows[0].heartbeat_on as string }
  }

  const short = await claimed(1000)
  t.equal(short.atCommit, short.before)
  const failed = svc.transaction(async (db) => {
    await svc.events.publish('a', 1, { db })
    await db.query('select 1 / 0').catch(() => {})
    performance.now = () => now() + 6000
  })
  await t.rejects(failed, { code: 'SVC_CORE_TRANSACTION_ROLLED_BACK' })
  performance.now = now
  const long = await claimed(6000)
  t.ok(long.atCommit > long.before, `${long.atCommit} is later than ${long.before}`)
})

t.test('what is not awaited does not come between the renewal and the commit', async (t) => {
  const got: unknown[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  const { svc } = app
  const now = performance.now.bind(performance)
  t.teardown(() => {
    performance.now = now
  })
  const late = Promise.withResolvers<unknown>()
  late.promise.catch(() => {})
  // While the worker fetches, a publish claims nothing: then nothing is renewed.
  let isClaimed = false
  await svc.transaction(async (db) => {
    await until(async () => {
      await svc.events.publish('a', 'in time', { db })
      const { rowCount } = await db.query(`select from svc_jobs.job where state = 'active'`)
      isClaimed = rowCount === 1
      return isClaimed
    })
    performance.now = () => now() + 6000
    setImmediate(() => {
      svc.events.publish('a', 'late', { db }).then(late.resolve, late.reject)
    })
  })
  performance.now = now
  t.ok(isClaimed)
  await t.rejects(late.promise, { code: 'SVC_CORE_INVALID_TRANSACTION' })
  await until(() => got.length > 0)
  const { rowCount } = await svc.database.query(
    `select from svc."__svc.events" where payload = '"late"'`,
  )
  t.equal(rowCount, 0)
  t.notOk(got.includes('late'))
})

t.test('a transaction in which leases may not be renewed is committed all the same', async (t) => {
  const got: unknown[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  const { svc } = app
  const now = performance.now.bind(performance)
  t.teardown(() => {
    performance.now = now
  })
  await svc.transaction(async (db) => {
    await until(async () => {
      await svc.events.publish('a', 'once more', { db })
      const { rowCount } = await db.query(`select from svc_jobs.job where state = 'active'`)
      return rowCount === 1
    })
    // A role without rights to our tables.
    await db.query('set local role pg_monitor')
    performance.now = () => now() + 6000
  })
  performance.now = now
  await until(() => got.length > 0)
})
