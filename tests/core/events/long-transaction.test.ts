// In a process of its own: it moves the clock.
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import type { Db } from '@svc/core/internal'
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
  const clock = movedClock(t)

  const published = async (openMs: number) => {
    const claim = await svc.transaction(async (db) => {
      const { id } = await svc.events.publish('a', 1, { db })
      const { rows } = await db.query(
        `select data ->> 'eventId' as id, heartbeat_on::text from svc_jobs.job
          where state = 'active' and data ->> 'eventId' = $1`,
        [id],
      )
      clock.forward(openMs)
      return rows[0] as { id: string; heartbeat_on: string } | undefined
    })
    clock.reset()
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
    clock.forward(6000)
  })
  await t.rejects(failed, { code: 'SVC_CORE_TRANSACTION_ROLLED_BACK' })
  clock.reset()
  const long = await claimed(6000)
  t.ok(long.atCommit > long.before, `${long.atCommit} is later than ${long.before}`)
})

t.test('what is not awaited does not come between the renewal and the commit', async (t) => {
  const { svc, got } = await hostWithHandler(t)
  const clock = movedClock(t)
  const late = Promise.withResolvers<unknown>()
  late.promise.catch(() => {})
  await svc.transaction(async (db) => {
    await publishClaimed(svc, db)
    clock.forward(6000)
    setImmediate(() => {
      svc.events.publish('a', 'late', { db }).then(late.resolve, late.reject)
    })
  })
  clock.reset()
  await t.rejects(late.promise, { code: 'SVC_CORE_INVALID_TRANSACTION' })
  await until(() => got.length > 0)
  const { rowCount } = await svc.database.query(
    `select from svc."__svc.events" where payload = '"late"'`,
  )
  t.equal(rowCount, 0)
  t.notOk(got.includes('late'))
})

t.test('a transaction in which leases may not be renewed is committed all the same', async (t) => {
  const { svc, got } = await hostWithHandler(t)
  const clock = movedClock(t)
  await svc.transaction(async (db) => {
    await publishClaimed(svc, db)
    // A role without rights to our tables.
    await db.query('set local role pg_monitor')
    clock.forward(6000)
  })
  clock.reset()
  await until(() => got.length > 0)
})

async function hostWithHandler(t: Test) {
  const got: unknown[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  return { svc: app.svc, got }
}

function movedClock(t: Test) {
  const now = performance.now.bind(performance)
  const reset = () => {
    performance.now = now
  }
  t.teardown(reset)
  return { reset, forward: (ms: number) => void (performance.now = () => now() + ms) }
}

/** Publishes until this process has claimed a job: while its worker fetches, a publish claims none. */
async function publishClaimed({ events }: FastifyInstance['svc'], db: Db): Promise<void> {
  await until(async () => {
    await events.publish('a', 'in time', { db })
    const { rowCount } = await db.query(`select from svc_jobs.job where state = 'active'`)
    return rowCount === 1
  })
}
