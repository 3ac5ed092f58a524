import t, { type Test } from 'tap'
import { startHost } from './support/host.ts'
import { until } from './support/until.ts'
import { GROUP, idOf, QUEUE, testWorker, type TestWorker } from './support/worker.ts'

const HOUR_MS = 3_600_000
const OTHER = '00000000-0000-4000-8000-000000000002'

async function hostOf(t: Test, isDying: () => boolean = () => false) {
  let worker: TestWorker | undefined
  const host = await startHost(t, {
    setUp: async (_app, core) => {
      worker = await testWorker(core, () =>
        isDying() ? { kind: 'dead', output: { why: 'told to' } } : { kind: 'done' },
      )
    },
  })
  return { ...host, worker: worker as TestWorker, queues: host.core.queues }
}

const namesOf = (jobs: { data: { eventId: string } }[]) =>
  jobs.map(({ data }) => data.eventId).toSorted()

t.test('what a group has waiting is deferred, and comes back', async (t) => {
  const { worker, queues } = await hostOf(t)
  const later = new Date(Date.now() + HOUR_MS)
  await worker.insert(['a', 'b'], GROUP, later)
  await worker.insert(['c'], OTHER, later)
  t.equal(await queues.defer(QUEUE, GROUP, new Date(Date.now() + 2 * HOUR_MS)), 2)
  t.equal(await queues.defer(QUEUE, GROUP, new Date()), 2)
  queues.wake(QUEUE)
  await until(() => worker.settled.length === 2)
  t.strictSame(namesOf(worker.jobs), ['a', 'b'])
})

t.test(
  'what a group has waiting is discarded, with the attempt that would have come next',
  async (t) => {
    const { worker, queues } = await hostOf(t)
    await worker.insert(['a', 'b'], GROUP, new Date(Date.now() + HOUR_MS))
    const jobs = await queues.discard(QUEUE, GROUP)
    t.strictSame(namesOf(jobs), ['a', 'b'])
    t.match(jobs, [{ attempt: 1, group: GROUP, createdAt: Date, lost: false }, { attempt: 1 }])
    t.strictSame(await queues.discard(QUEUE, GROUP), [])
  },
)

t.test('dead letters are listed newest first, by group and in pages', async (t) => {
  const { worker, queues } = await hostOf(t, () => true)
  for (const name of ['a', 'b', 'c']) {
    await worker.insert([name], GROUP)
    await until(
      () => queues.deadLetters(QUEUE, { group: GROUP }),
      (letters) => namesOf(letters).includes(name),
    )
  }
  await worker.insert(['other'], OTHER)
  await until(
    () => queues.deadLetters(QUEUE, {}),
    ({ length }) => length === 4,
  )

  const all = await queues.deadLetters(QUEUE, { group: GROUP })
  t.strictSame(
    all.map(({ data }) => data.eventId),
    ['c', 'b', 'a'],
  )
  const [first] = await queues.deadLetters(QUEUE, { group: GROUP, limit: 1 })
  t.strictSame(first, all[0])
  const rest = await queues.deadLetters(QUEUE, { group: GROUP, after: first?.id ?? '' })
  t.strictSame(rest, all.slice(1))
  t.strictSame(await queues.deadLetters(QUEUE, { ids: [rest[0]?.id ?? ''] }), [rest[0]])
})

t.test('redriven dead letters have all their attempts again, and go on counting', async (t) => {
  let isDying = true
  const { worker, queues } = await hostOf(t, () => isDying)
  await worker.insert(['a', 'b'], GROUP)
  const letters = await until(
    () => queues.deadLetters(QUEUE, {}),
    ({ length }) => length === 2,
  )
  isDying = false

  const [letter] = letters
  t.equal(await queues.redrive(QUEUE, { group: GROUP, ids: [letter?.id ?? ''] }), 1)
  t.equal(await queues.redrive(QUEUE, { group: OTHER }), 0)
  queues.wake(QUEUE)
  await until(() => worker.settled.length === 3)

  t.match(worker.jobs.at(-1), {
    attempt: 1,
    isLastAttempt: false,
    group: GROUP,
    data: { ...letter?.data, attemptsBefore: 1 },
  })
  t.equal((await queues.deadLetters(QUEUE, {})).length, 1)
  t.equal(await queues.discardDeadLetters(QUEUE, GROUP), 1)
  t.strictSame(await queues.deadLetters(QUEUE, {}), [])
})

t.test('a redrive is rolled back with its transaction, and may wait', async (t) => {
  const { worker, queues, core } = await hostOf(t, () => true)
  await worker.insert(['a'], GROUP)
  await until(
    () => queues.deadLetters(QUEUE, {}),
    ({ length }) => length === 1,
  )
  await t.rejects(
    core.transaction(async (db) => {
      t.equal(await queues.redrive(QUEUE, { group: GROUP }, db), 1)
      throw new Error('no')
    }),
  )
  t.equal((await queues.deadLetters(QUEUE, {})).length, 1)
  t.equal(
    await queues.redrive(QUEUE, { group: GROUP, startAfter: new Date(Date.now() + HOUR_MS) }),
    1,
  )
  const [waiting] = await queues.discard(QUEUE, GROUP)
  t.match(waiting, { data: { attemptsBefore: 1 } })
})

t.test('two who redrive at once share the letters', async (t) => {
  let isDying = true
  const { worker, queues } = await hostOf(t, () => isDying)
  const names = Array.from({ length: 20 }, (_, i) => String(i))
  await worker.insert(names, GROUP)
  await until(
    () => queues.deadLetters(QUEUE, {}),
    ({ length }) => length === 20,
  )
  isDying = false
  const counts = await Promise.all([1, 2].map(() => queues.redrive(QUEUE, { group: GROUP })))
  t.equal(counts[0]! + counts[1]!, 20)
})

t.test(
  'a queue is brought to the settings of the last boot, and its table is tended',
  async (t) => {
    const { app, core } = await hostOf(t)
    await core.queues.define(QUEUE, { expireInSeconds: 99, deadLetterRetentionDays: 7 })
    const [queue, dead] = await Promise.all(
      [QUEUE, `${QUEUE}.dlq`].map((name) => app.svc.jobs.getQueue(name)),
    )
    t.match(queue, {
      expireInSeconds: 99,
      retryLimit: 2,
      deadLetter: `${QUEUE}.dlq`,
      partition: true,
    })
    t.match(dead, { retentionSeconds: 7 * 24 * 3600, retryLimit: 0 })
    const { rows } = await app.svc.database.query(
      `select reloptions from pg_class where relname = $1`,
      [(queue as { table?: string }).table],
    )
    t.match(rows[0].reloptions, ['autovacuum_vacuum_scale_factor=0.02'])
  },
)

t.test('a job is inserted once under its id', async (t) => {
  const { worker, queues } = await hostOf(t)
  const later = new Date(Date.now() + HOUR_MS)
  await worker.insert(['a'], GROUP, later)
  await worker.insert(['a'], GROUP, later)
  await worker.insert([])
  t.strictSame(
    (await queues.discard(QUEUE, GROUP)).map(({ id }) => id),
    [idOf('a')],
  )
})
