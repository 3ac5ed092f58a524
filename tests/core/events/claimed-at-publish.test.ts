import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

/** Whether a job that is published now is claimed, and names the process that has it. */
async function claims({ svc }: FastifyInstance): Promise<boolean> {
  return svc.transaction(async (db) => {
    const { id } = await svc.events.publish('a', 1, { db })
    const { rowCount } = await db.query(
      `select from svc_jobs.job
        where state = 'active' and group_tier is not null and data ->> 'eventId' = $1`,
      [id],
    )
    return rowCount === 1
  })
}

t.test(
  'a job that this process can start is claimed as it is published, without a fetch or a read',
  async (t) => {
    const got: unknown[] = []
    const { app } = await startHost(t, {
      setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
    })
    // While the worker fetches, it has no slots to offer.
    await until(() => claims(app))
    await until(() => got.length > 0)
    const jobsLeft = () => app.svc.database.query('select from svc_jobs.job')
    await until(jobsLeft, ({ rowCount }) => rowCount === 0)
  },
)

t.test(
  'an event published after a savepoint that is rolled back to is not attempted',
  async (t) => {
    const got: unknown[] = []
    const { app } = await startHost(t, {
      setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
    })
    await app.svc.transaction(async (db) => {
      await db.query('savepoint before')
      await app.svc.events.publish('a', 'never', { db })
      await db.query('rollback to before')
      await app.svc.events.publish('a', 'then', { db })
    })
    await until(() => got.length === 1)
    await app.svc.events.publish('a', 'last')
    await until(() => got.length === 2)
    t.strictSame(got, ['then', 'last'])
  },
)

t.test(
  'a publish claims as many jobs as its process can start, and the rest waits for any process',
  async (t) => {
    const go = Promise.withResolvers<void>()
    const got: unknown[] = []
    const { app } = await startHost(t, {
      setUp: ({ svc }) =>
        svc.events.subscribe(
          'a',
          async (payload) => {
            got.push(payload)
            await go.promise
          },
          { concurrency: 2 },
        ),
    })
    for (const n of [1, 2]) await app.svc.events.publish('a', n)
    // Both slots are taken: no fetch that runs beside a publish claims for them too.
    await until(() => got.length === 2)
    for (const n of [3, 4]) await app.svc.events.publish('a', n)
    const { rows } = await app.svc.database.query(
      `select state::text, count(*)::int from svc_jobs.job group by 1 order by 1`,
    )
    t.strictSame(rows, [
      { state: 'active', count: 2 },
      { state: 'created', count: 2 },
    ])
    go.resolve()
    await until(() => got.length === 4)
    t.strictSame(new Set(got), new Set([1, 2, 3, 4]))
  },
)

t.test(
  'a host that closes attempts or gives back what its last publishes have claimed',
  async (t) => {
    const first: unknown[] = []
    const second: unknown[] = []
    const host = await startHost(t, {
      setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void first.push(payload)),
    })
    const publishes = Array.from({ length: 20 }, (_, n) => host.app.svc.events.publish('a', n))
    await Promise.all([...publishes, host.app.close()])
    await startHost(t, {
      database: host.database,
      setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void second.push(payload)),
    })
    await until(() => first.length + second.length === 20)
  },
)
