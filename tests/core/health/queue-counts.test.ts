import t from 'tap'
import { countQueues } from '../../../packages/core/src/jobs/pg-boss/queue-counts-table.ts'
import { SharedCall } from '../../../packages/core/src/health/shared-call.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../../../packages/core/src/postgres/worker-pool.ts'
import { transaction } from '../../../packages/core/src/postgres/transaction.ts'
import { startHost } from '../support/host.ts'

const QUEUE = '__svc.sub/order.placed'

t.test(
  'beyond a limit the counts are those of pg-boss, and the oldest job is still found',
  async (t) => {
    const { app } = await startHost(t, {
      core: { worker: { enabled: false } },
      setUp: ({ svc }) => svc.events.subscribe('order.placed', () => {}),
    })
    const { database, jobs } = app.svc
    await database.query(
      `insert into svc_jobs.job (name, data, priority, created_on, start_after, dead_letter)
     select $1, '{}', -(n % 2), now() - n * interval '1 second',
            now() + case when n = 400 then -400 when n % 2 = 1 then 3600 else -n end * interval '1 second',
            $1 || '.dlq'
       from generate_series(1, 400) as n`,
      [QUEUE],
    )
    const counted = (limit: number) =>
      transaction(database, (db) => countQueues(db, [], limit), { begin: BEGIN_WITH_WORKER_PLANS })

    const [exact] = await counted(400)
    t.match(exact, { queue: QUEUE, waiting: 400, active: 0, dead: 0 })
    t.ok(Math.abs(exact!.oldestSeconds - 400) < 60)

    const [stale] = await counted(100)
    t.match(stale, { waiting: 101 }, 'pg-boss has not counted yet')
    t.ok(Math.abs(stale!.oldestSeconds - 400) < 60)
    await jobs.supervise(QUEUE)
    t.match(await counted(100), [{ waiting: 400, active: 0 }])
  },
)

t.test('a long queue is not read as a whole', async (t) => {
  const { app } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('order.placed', () => {}),
  })
  const { database } = app.svc
  await database.query(
    `insert into svc_jobs.job (name, data) select $1, '{}' from generate_series(1, 3000)`,
    [QUEUE],
  )
  const plans: string[] = []
  await transaction(
    database,
    (db) =>
      countQueues(
        {
          async query(text, values) {
            const { rows } = await db.query(`explain (analyze, timing off) ${text}`, values)
            plans.push(...rows.map((row: Record<string, string>) => row['QUERY PLAN'] ?? ''))
            return { rows: [] }
          },
        },
        [],
        100,
      ),
    { begin: BEGIN_WITH_WORKER_PLANS },
  )
  const read = plans.filter((line) => / on (job|jdbbb|j[0-9a-f]{20})/.test(line))
  const rows = read.map((line) => Number(/actual.*rows=([\d.]+)/.exec(line)?.[1] ?? 0))
  t.ok(read.length > 0)
  t.ok(Math.max(...rows) <= 1001, plans.join('\n'))
})

t.test('calls of one moment share a query, and a gauge takes the last answer', async (t) => {
  let asked = 0
  const counts = new SharedCall(async () => ++asked, 1000)
  t.same(await Promise.all([counts.recent(5000), counts.answer(), counts.answer()]), [1, 1, 1])
  t.equal(await counts.recent(5000), 1)
  t.equal(await counts.recent(0), 2, 'it is too old')
  t.equal(await counts.answer(), 3, 'health asks again')
})

t.test('a query that failed is repeated', async (t) => {
  let asked = 0
  const counts = new SharedCall(() => Promise.reject(new Error(`no answer ${++asked}`)), 1000)
  await t.rejects(counts.answer(), /no answer 1/)
  await t.rejects(counts.recent(5000), /no answer 2/)
})
