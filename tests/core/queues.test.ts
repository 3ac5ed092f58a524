import type { Core, Worker } from '@svc/core/kit'
import t, { type Test } from 'tap'
import { startHost } from './support/host.ts'
import { until } from './support/until.ts'
import { GROUP, idOf, QUEUE, testWorker, type TestWorker } from './support/worker.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'

interface HostOf {
  isDying?: () => boolean
  enabled?: boolean
  maxAttempts?: number
  discarded?: Worker['discarded']
}

async function hostOf(t: Test, { isDying = () => false, discarded, ...options }: HostOf = {}) {
  let worker: TestWorker | undefined
  const host = await startHost(t, {
    core: { worker: options },
    setUp: async (_app, core) => {
      worker = await testWorker(
        core,
        () => (isDying() ? { kind: 'dead', output: { why: 'told to' } } : { kind: 'done' }),
        discarded ? { discarded } : {},
      )
    },
  })
  t.context.database = host.database
  return { ...host, worker: worker as TestWorker, queues: host.core.queues }
}

const namesOf = (jobs: { data: { eventId: string } }[]) =>
  jobs.map(({ data }) => data.eventId).toSorted()

t.test('jobs of a group that is held wait, and go on when it is released', async (t) => {
  const { worker, queues, core } = await hostOf(t)
  await queues.hold(core.db, QUEUE, GROUP)
  queues.groupsChanged(QUEUE)
  await worker.insert(['a', 'b'], GROUP, true)
  await worker.insert(['c'], OTHER)
  await until(() => worker.settled.length === 1)
  t.strictSame(namesOf(worker.jobs), ['c'])

  await queues.release(core.db, QUEUE, GROUP)
  queues.groupsChanged(QUEUE)
  await until(() => worker.settled.length === 3)
  t.strictSame(namesOf(worker.jobs), ['a', 'b', 'c'])
})

t.test('what a group has waiting is discarded, parked or not', async (t) => {
  const { core, queues } = await hostOf(t, { enabled: false })
  const jobs = ['a', 'b', 'c'].map((name, index) => ({
    id: idOf(name),
    data: { event: 'test', eventId: name, deliveryId: idOf(name) },
    group: GROUP,
    parked: index === 0,
  }))
  await queues.insert(core.db, QUEUE, jobs)
  await queues.insert(core.db, QUEUE, [{ id: idOf('d'), data: {}, group: OTHER }])
  const discarded = await core.transaction((db) => queues.discard(db, QUEUE, GROUP))
  t.strictSame(namesOf(discarded), ['a', 'b', 'c'])
  t.match(discarded, [{ attempt: 1, group: GROUP, createdAt: Date, lost: false }, {}, {}])
  t.equal(await waitingIn(core), 1)
  await core.transaction((db) => queues.discard(db, QUEUE, OTHER))
  t.equal(await waitingIn(core), 0)
})

t.test('what is too much for one transaction is discarded in the background', async (t) => {
  const discarded: string[] = []
  const { core, queues } = await hostOf(t, {
    enabled: false,
    discarded: async (_db, jobs) => void discarded.push(...jobs.map(({ id }) => id)),
  })
  const count = 3200
  await queues.insert(
    core.db,
    QUEUE,
    Array.from({ length: count }, (_, n) => ({
      id: idOf(String(n)),
      data: { event: 'test', eventId: String(n), deliveryId: idOf(String(n)) },
      group: GROUP,
      parked: n % 3 === 0,
    })),
  )
  const first = await core.transaction((db) => queues.discard(db, QUEUE, GROUP))
  t.ok(first.length < count)
  queues.groupsChanged(QUEUE)
  await until(async () => (await waitingIn(core)) === 0)
  await until(async () => (await movesOf(core)) === 0)
  t.equal(new Set([...first.map(({ id }) => id), ...discarded]).size, count)
})

t.test(
  'a thousand dead letters are redriven in the background, and are there no more',
  async (t) => {
    let isDying = true
    const { worker, core, queues } = await hostOf(t, { isDying: () => isDying })
    const names = Array.from({ length: 1300 }, (_, n) => String(n))
    await worker.insert(names, GROUP)
    await until(
      () => queues.deadLetters(core.db, QUEUE, {}),
      ({ length }) => length === names.length,
    )
    isDying = false
    await core.transaction(async (db) => {
      t.equal(await queues.redrive(db, QUEUE, GROUP), names.length)
      t.strictSame(await queues.deadLetters(db, QUEUE, { group: GROUP }), [])
      t.equal(await queues.redrive(db, QUEUE, GROUP), 0, 'they are counted once')
    })
    queues.groupsChanged(QUEUE)
    const done = () => worker.settled.filter(({ became }) => became === 'done')
    await until(() => done().length === names.length)
    t.equal(new Set(done().map(({ job }) => job.data.eventId)).size, names.length)
    t.ok(done().every(({ job }) => job.data.attemptsBefore === 1))
  },
)

t.test('a page of dead letters may begin after a letter that is gone', async (t) => {
  const { worker, core, queues } = await hostOf(t, { isDying: () => true })
  for (const name of ['a', 'b', 'c']) {
    await worker.insert([name], GROUP)
    await until(
      () => queues.deadLetters(core.db, QUEUE, { group: GROUP }),
      (letters) => namesOf(letters).includes(name),
    )
  }
  const [newest] = await queues.deadLetters(core.db, QUEUE, { group: GROUP, limit: 1 })
  const after = newest?.id ?? ''
  const ids = [after]
  await core.transaction((db) => queues.redrive(db, QUEUE, GROUP, ids))
  t.strictSame(
    (await queues.deadLetters(core.db, QUEUE, { group: GROUP, after })).map(
      ({ data }) => data.eventId,
    ),
    ['b', 'a'],
  )
})

t.test('dead letters are listed newest first, by group and in pages', async (t) => {
  const { worker, queues, core } = await hostOf(t, { isDying: () => true })
  for (const name of ['a', 'b', 'c']) {
    await worker.insert([name], GROUP)
    await until(
      () => queues.deadLetters(core.db, QUEUE, { group: GROUP }),
      (letters) => namesOf(letters).includes(name),
    )
  }
  await worker.insert(['other'], OTHER)
  await until(
    () => queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 4,
  )

  const all = await queues.deadLetters(core.db, QUEUE, { group: GROUP })
  t.strictSame(
    all.map(({ data }) => data.eventId),
    ['c', 'b', 'a'],
  )
  const [first] = await queues.deadLetters(core.db, QUEUE, { group: GROUP, limit: 1 })
  t.strictSame(first, all[0])
  const rest = await queues.deadLetters(core.db, QUEUE, { group: GROUP, after: first?.id ?? '' })
  t.strictSame(rest, all.slice(1))
  t.strictSame(await queues.deadLetters(core.db, QUEUE, { ids: [rest[0]?.id ?? ''] }), [rest[0]])
})

t.test('redriven dead letters have all their attempts again, and go on counting', async (t) => {
  let isDying = true
  const { worker, queues, core } = await hostOf(t, { isDying: () => isDying })
  await worker.insert(['a', 'b'], GROUP)
  const letters = await until(
    () => queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 2,
  )
  isDying = false

  const [letter] = letters
  t.equal(await queues.redrive(core.db, QUEUE, GROUP, [letter?.id ?? '']), 1)
  t.equal(await queues.redrive(core.db, QUEUE, OTHER), 0)
  queues.groupsChanged(QUEUE)
  await until(() => worker.settled.some(({ became }) => became === 'done'))

  t.match(worker.jobs.at(-1), {
    attempt: 1,
    isLastAttempt: false,
    group: GROUP,
    data: { ...letter?.data, attemptsBefore: 1 },
  })
  t.equal((await queues.deadLetters(core.db, QUEUE, {})).length, 1)
  await core.transaction((db) => queues.discard(db, QUEUE, GROUP))
  t.strictSame(await queues.deadLetters(core.db, QUEUE, {}), [])
})

t.test('a redrive is rolled back with its transaction', async (t) => {
  const { worker, queues, core } = await hostOf(t, { isDying: () => true })
  await worker.insert(['a'], GROUP)
  await until(
    () => queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 1,
  )
  await t.rejects(
    core.transaction(async (db) => {
      t.equal(await queues.redrive(db, QUEUE, GROUP), 1)
      throw new Error('no')
    }),
  )
  t.equal((await queues.deadLetters(core.db, QUEUE, {})).length, 1)
})

t.test('two who redrive at once share the letters', async (t) => {
  let isDying = true
  const { worker, queues, core } = await hostOf(t, { isDying: () => isDying })
  const names = Array.from({ length: 20 }, (_, i) => String(i))
  await worker.insert(names, GROUP)
  await until(
    () => queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 20,
  )
  isDying = false
  const counts = await Promise.all([1, 2].map(() => queues.redrive(core.db, QUEUE, GROUP)))
  t.equal(counts[0]! + counts[1]!, 20)
})

t.test('every boot gives a queue the same settings, and its table is tended', async (t) => {
  const { app, core } = await hostOf(t, { maxAttempts: 3 })
  const before = await queueRows(core)
  await startHost(t, {
    database: t.context.database as string,
    core: { worker: { enabled: false, maxAttempts: 7, retryDelaySeconds: 99 } },
    setUp: (_app, other) => other.queues.define(QUEUE),
  })
  t.strictSame(await queueRows(core), before, 'another host changes nothing')
  const queue = await app.svc.jobs.getQueue(QUEUE)
  t.match(queue, { retryLimit: 16, deadLetter: `${QUEUE}.dlq`, partition: true })
  const { rows } = await app.svc.database.query(
    `select reloptions from pg_class where relname = $1`,
    [(queue as { table?: string }).table],
  )
  t.match(rows[0].reloptions, ['autovacuum_vacuum_scale_factor=0.02'])
})

t.test('attempts and delays of a job are those of the process that published it', async (t) => {
  const { app, core } = await hostOf(t, { enabled: false, maxAttempts: 3 })
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('a'), data: {}, group: GROUP }])
  await startHost(t, {
    database: t.context.database as string,
    core: {
      worker: {
        enabled: false,
        maxAttempts: 17,
        retryDelaySeconds: 40,
        retryBackoff: false,
      },
    },
    setUp: (_app, other) =>
      other.queues.insert(other.db, QUEUE, [{ id: idOf('b'), data: {}, group: GROUP }]),
  })
  const { rows } = await app.svc.database.query(
    `select retry_limit as "retryLimit", retry_delay as "retryDelay", retry_backoff as "retryBackoff"
       from svc_jobs.job where name = $1 order by retry_limit`,
    [QUEUE],
  )
  t.strictSame(rows, [
    { retryLimit: 2, retryDelay: 0, retryBackoff: false },
    { retryLimit: 16, retryDelay: 40, retryBackoff: false },
  ])
})

t.test('a job is inserted once under its id', async (t) => {
  const { core, queues } = await hostOf(t, { enabled: false })
  const job = { id: idOf('a'), data: {}, group: GROUP }
  await queues.insert(core.db, QUEUE, [job])
  await queues.insert(core.db, QUEUE, [job])
  await queues.insert(core.db, QUEUE, [])
  t.equal(await waitingIn(core), 1)
})

async function waitingIn(core: Core): Promise<number> {
  const { rows } = await core.db.query(
    `select count(*)::int as count from svc_jobs.job where name = $1 and state < 'active'`,
    [QUEUE],
  )
  return rows[0].count
}

async function movesOf(core: Core): Promise<number> {
  const { rows } = await core.db.query(`select count(*)::int as count from svc."__svc.job_moves"`)
  return rows[0].count
}

async function queueRows(core: Core): Promise<unknown[]> {
  const { rows } = await core.db.query(
    `select name, retry_limit, retry_delay, expire_seconds, heartbeat_seconds, retention_seconds,
            updated_on
       from svc_jobs.queue order by name`,
  )
  return rows
}
