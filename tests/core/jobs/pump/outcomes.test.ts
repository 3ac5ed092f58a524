import t from 'tap'
import type { FanOutJob, Outcome } from '@svc/core/internal'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'
import { RECIPIENT, idOf, QUEUE, testWorker, type TestWorker } from '../../support/worker.ts'

const HOUR_MS = 3_600_000

/** A host whose jobs, by their names, come to these outcomes. */
async function hostWith(
  t: Parameters<typeof startHost>[0],
  outcomes: Record<string, () => Outcome>,
  retries: { retryDelaySeconds?: number } = {},
) {
  let worker: TestWorker | undefined
  const host = await startHost(t, {
    core: { worker: retries },
    setUp: async (_app, core) => {
      worker = await testWorker(core, (name) => outcomes[name]?.() ?? { kind: 'completed' })
    },
  })
  const stateOf = async (name: string) => {
    const { rows } = await host.app.svc.database.query(
      `select state, retry_count as "retryCount", start_after > now() + interval '50 minutes' as later, priority, blocked
         from svc_jobs.job where name = $1 and id = $2`,
      [QUEUE, idOf(name)],
    )
    return rows[0]
  }
  /** A job is recorded in the transaction that settles it: its row changes a moment later. */
  const settledStateOf = (name: string) =>
    until(
      () => stateOf(name),
      (row) => row?.state !== 'active',
    )
  return { ...host, worker: worker as TestWorker, stateOf: settledStateOf }
}

t.test('each outcome is settled and recorded with its result', async (t) => {
  const { worker, core, stateOf } = await hostWith(t, {
    completed: () => ({ kind: 'completed', detail: 1 }),
    cancelled: () => ({ kind: 'cancelled', detail: 2 }),
    later: () => ({ kind: 'failed', retryAfterMs: HOUR_MS, detail: 3 }),
    dead: () => ({ kind: 'rejected', detail: 4, output: { why: 'gone' } }),
    postponed: () => ({ kind: 'postponed', delayMs: HOUR_MS }),
    parked: () => ({ kind: 'parked' }),
  })
  await worker.insert(['completed', 'cancelled', 'later', 'dead', 'postponed'])
  await worker.insert(['parked'], RECIPIENT)
  // The one that is parked is claimed and parked again and again: its recipient is not held.
  const names = () => new Set(worker.settled.map(({ job }) => job.data.eventId))
  await until(async () => (await stateOf('parked'))?.blocked && names().size === 6)

  const results = Object.fromEntries(
    worker.settled.map(({ job, result, nextAttemptAt }) => [
      job.data.eventId,
      [result, nextAttemptAt === null ? null : 'later'],
    ]),
  )
  t.strictSame(results, {
    completed: ['completed', null],
    cancelled: ['cancelled', null],
    later: ['retry', 'later'],
    dead: ['dead', null],
    postponed: ['postponed', 'later'],
    parked: ['parked', null],
  })
  t.equal(await stateOf('completed'), undefined)
  t.equal(await stateOf('cancelled'), undefined)
  t.match(await stateOf('later'), { state: 'retry', later: true, priority: -1 })
  t.equal(await stateOf('dead'), undefined)
  t.match(await stateOf('postponed'), { state: 'created', retryCount: 0, later: true })
  const letters = await until(
    () => core.queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 1,
  )
  t.match(letters, [{ data: { eventId: 'dead' }, output: { why: 'gone' }, attempts: 1 }])
})

t.test(
  'a receiver may ask for a longer pause than the back-off, never for a shorter one',
  async (t) => {
    const { worker } = await hostWith(
      t,
      {
        shorter: () => ({ kind: 'failed', retryAfterMs: 1000 }),
        longer: () => ({ kind: 'failed', retryAfterMs: HOUR_MS }),
      },
      { retryDelaySeconds: 600 },
    )
    await worker.insert(['shorter', 'longer'])
    await until(() => worker.settled.length === 2)
    const waitOf = (name: string) => {
      const one = worker.settled.find(({ job }) => job.data.eventId === name)
      return (one?.nextAttemptAt?.getTime() ?? 0) - Date.now()
    }
    t.ok(waitOf('shorter') > 500_000, 'the back-off of 600 seconds holds')
    t.ok(waitOf('longer') > 3_500_000)
  },
)

t.test('a postponed retry keeps the count of its attempts', async (t) => {
  let calls = 0
  const { worker, stateOf } = await hostWith(t, {
    a: () => (calls++ === 0 ? { kind: 'failed' } : { kind: 'postponed', delayMs: HOUR_MS }),
  })
  await worker.insert(['a'])
  await until(() => worker.settled.length === 2)
  t.strictSame(
    worker.jobs.map(({ attempt }) => attempt),
    [1, 2],
  )
  t.match(await stateOf('a'), { state: 'retry', retryCount: 0 })
})

t.test('the last attempt is marked, and the dead letter has its output', async (t) => {
  const { worker, core } = await hostWith(t, {
    a: () => ({ kind: 'failed', output: { code: 500 } }),
  })
  await worker.insert(['a'])
  await until(() => worker.settled.length === 3)
  t.strictSame(
    worker.jobs.map(({ attempt, attemptsLeft }) => [attempt, attemptsLeft === 0]),
    [
      [1, false],
      [2, false],
      [3, true],
    ],
  )
  t.strictSame(
    worker.settled.map(({ result }) => result),
    ['retry', 'retry', 'dead'],
  )
  const letters = await until(
    () => core.queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 1,
  )
  t.match(letters, [{ output: { code: 500 }, attempts: 3 }])
})

t.test('an attempt that throws has failed', async (t) => {
  const { worker, core } = await hostWith(t, {
    a: () => {
      throw new Error('a bug')
    },
  })
  await worker.insert(['a'])
  const letters = await until(
    () => core.queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 1,
  )
  t.match(letters, [{ output: { message: 'a bug' } }])
})

t.test('jobs that die in one batch keep their own outputs', async (t) => {
  const names = Array.from({ length: 20 }, (_, i) => `job ${i}`)
  const { worker, core } = await hostWith(
    t,
    Object.fromEntries(
      names.map((name, i) => [name, () => ({ kind: 'rejected', output: { i: i % 3 } })]),
    ),
  )
  await worker.insert(names)
  const letters = await until(
    () => core.queues.deadLetters<FanOutJob>(core.db, QUEUE, {}),
    ({ length }) => length === 20,
  )
  for (const { data, output } of letters) {
    t.strictSame(output, { i: names.indexOf(data.eventId) % 3 })
  }
})

t.test('a job whose row Postgres refuses does not keep others from being settled', async (t) => {
  const settled: string[] = []
  const { core } = await startHost(t, {
    async setUp(_app, core) {
      await core.queues.define(QUEUE)
      core.work<FanOutJob, string, unknown>({
        queue: QUEUE,
        concurrency: 8,
        prepare:
          async () =>
          ({ data }) =>
            data.eventId,
        perform: async () => ({ kind: 'completed' }),
        record: { function: 'none', rowsOf: () => null },
        async follow(db, batch) {
          const names = batch.map(({ job }) => job.data.eventId)
          await db.query('select $1::int[]', [
            names.map((name) => (name === 'bad' ? 'no number' : 1)),
          ])
          settled.push(...names)
        },
      })
    },
  })
  const names = ['a', 'b', 'bad', 'c']
  await core.queues.insert(
    core.db,
    QUEUE,
    names.map((name) => ({
      id: idOf(name),
      data: { event: 'e', eventId: name, deliveryId: name },
    })),
  )
  core.queues.wake(QUEUE)
  await until(() => settled.length === 3)
  t.strictSame(settled.toSorted(), ['a', 'b', 'c'])
})

t.test('a job of which nothing can be read waits, and uses up no attempt', async (t) => {
  let isReadable = false
  const attempts: number[] = []
  const { core } = await startHost(t, {
    core: { worker: { maxAttempts: 1 } },
    async setUp(_app, core) {
      await core.queues.define(QUEUE)
      core.work<FanOutJob, string, unknown>({
        queue: QUEUE,
        concurrency: 8,
        async prepare() {
          if (!isReadable) throw new Error('cannot be read')
          return ({ data }) => data.eventId
        },
        async perform({ attempt }) {
          attempts.push(attempt)
          return { kind: 'completed' }
        },
      })
    },
  })
  const data = { event: 'e', eventId: 'a', deliveryId: 'a' }
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('a'), data }])
  core.queues.wake(QUEUE)
  await until(
    async () => (await core.db.query('select data from svc_jobs.job')).rows,
    ([job]) => job?.data.unsentSince !== undefined,
  )
  isReadable = true
  await until(() => attempts.length === 1)
  t.strictSame(attempts, [1])
  t.same(await core.queues.deadLetters<FanOutJob>(core.db, QUEUE, {}), [])
})
