// promise: Guessed keys, slow bodies, publishes without an answer of Postgres and hanging receivers pile up to a bound, and delay others by no more than it
import t from 'tap'
import type { EventRow } from '../../../packages/core/src/events/events-table.ts'
import { MicroBatch } from '../../../packages/core/src/events/micro-batch.ts'
import { markCancelled } from '../../../packages/core/src/postgres/connection-errors.ts'
import { until } from '../../support/until.ts'
import { keyOf } from '../../../packages/core/src/events/publish-sql.ts'

const event = (id: string, payload = '1'): EventRow => ({ name: 'n', id, payload })

/** Keeps what it commits, unless `refuse` says why not. */
function makeBatch(
  refuse: (events: EventRow[]) => Error | undefined = () => undefined,
  jobsOfOne = 1,
  nowMs?: () => number,
) {
  const batches: string[][] = []
  const known = new Set<string>()
  const batch = new MicroBatch(
    async (events: EventRow[]) => {
      await new Promise(setImmediate)
      const error = refuse(events)
      if (error) throw error
      batches.push(events.map(({ id }) => id))
      const results = events.map(({ id }) => {
        const duplicate = known.has(id)
        known.add(id)
        return { id, duplicate }
      })
      const made = results.filter(({ duplicate }) => !duplicate).length
      return { results, made, jobs: made * jobsOfOne }
    },
    keyOf,
    nowMs,
  )
  return { batch, batches }
}

t.test('publishes of the same moment share a transaction, up to a thousand', async (t) => {
  const { batch, batches } = makeBatch()
  await batch.publish(event('first'))
  batches.length = 0
  const ids = Array.from({ length: 2500 }, (_, i) => String(i))
  const results = await Promise.all(ids.map((id) => batch.publish(event(id))))
  t.strictSame(
    results.map(({ id }) => id),
    ids,
  )
  t.strictSame(
    batches.map(({ length }) => length),
    [1000, 1000, 500],
  )
})

t.test('a batch is bounded by the jobs that follow from its events', async (t) => {
  const { batch, batches } = makeBatch(undefined, 2000)
  const publish = (from: number, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => batch.publish(event(String(from + i)))))
  await publish(0, 40)
  t.strictSame(
    batches.map(({ length }) => length),
    [20, 20],
    'of a name that is not known yet few are taken together',
  )
  batches.length = 0
  await publish(100, 12)
  t.strictSame(
    batches.map(({ length }) => length),
    [5, 5, 2],
  )
})

t.test('large payloads make small batches, and one that is larger goes alone', async (t) => {
  const { batch, batches } = makeBatch()
  const half = 'x'.repeat(2_000_000)
  await Promise.all([
    ...['a', 'b', 'c'].map((id) => batch.publish(event(id, half))),
    batch.publish(event('d', half.repeat(3))),
    batch.publish(event('e')),
  ])
  t.strictSame(batches, [['a', 'b'], ['c'], ['d'], ['e']])
})

t.test('of one event published twice in a moment the second is a replay', async (t) => {
  const { batch } = makeBatch()
  const results = await Promise.all(['a', 'b', 'a', 'a'].map((id) => batch.publish(event(id))))
  t.strictSame(
    results.map(({ duplicate }) => duplicate),
    [false, false, true, true],
  )
})

t.test('beside a batch that is under way the next one fills', async (t) => {
  let nowMs = 0
  const commits: { ids: string[]; end: () => void }[] = []
  const batch = new MicroBatch<EventRow, string>(
    (events) =>
      new Promise((resolve) => {
        const ids = events.map(({ id }) => id)
        commits.push({ ids, end: () => resolve({ results: ids, made: ids.length, jobs: 0 }) })
      }),
    keyOf,
    () => nowMs,
  )
  let published = 0
  const all: Promise<string>[] = []
  const publish = async (count: number) => {
    for (let n = 0; n < count; n++) all.push(batch.publish(event(String(published++))))
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  }
  const sizes = () => commits.map(({ ids }) => ids.length)

  await publish(7)
  await publish(1)
  t.strictSame(sizes(), [7, 1], 'not beside a small one')
  await publish(1)
  t.strictSame(sizes(), [7, 1], 'two are under way')
  for (const { end } of commits) end()
  await until(() => commits.length === 3)
  commits[2]!.end()
  await batch.idle()

  commits.length = 0
  await publish(10)
  await publish(9)
  t.strictSame(sizes(), [10], 'it waits')
  await publish(1)
  t.strictSame(sizes(), [10, 10], 'until it has as many')
  commits[0]!.end()
  await publish(2)
  t.strictSame(sizes(), [10, 10])
  commits[1]!.end()
  await until(() => commits.length === 3)
  t.equal(commits[2]!.ids.length, 2, 'or until nothing is under way')
  commits[2]!.end()
  await batch.idle()

  commits.length = 0
  await publish(10)
  await publish(2)
  t.strictSame(sizes(), [10])
  nowMs += 5
  await until(() => commits.length === 2)
  t.strictSame(sizes(), [10, 2], 'or until the time is up, whatever the other one waits for')
  for (const { end } of commits) end()
  t.equal((await Promise.all(all)).length, published)
})

t.test('an event that Postgres refuses fails alone, and not its batch', async (t) => {
  const { batch } = makeBatch((events) =>
    events.some(({ id }) => id === 'bad') ? new Error('refused') : undefined,
  )
  const ids = [...Array.from({ length: 100 }, (_, i) => String(i)), 'bad', 'last']
  const results = await Promise.allSettled(ids.map((id) => batch.publish(event(id))))
  t.strictSame(
    results.flatMap(({ status }, index) => (status === 'rejected' ? [ids[index]] : [])),
    ['bad'],
  )
})

t.test('while Postgres is unavailable a whole batch is refused at once', async (t) => {
  let commits = 0
  const { batch } = makeBatch(() => {
    commits++
    return Object.assign(new Error('gone'), { code: '57P01' })
  })
  const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => batch.publish(event(id))))
  t.ok(results.every(({ status }) => status === 'rejected'))
  t.equal(commits, 1)
})

t.test('a micro-batch is idle when every publish has been committed or refused', async (t) => {
  const { batch, batches } = makeBatch()
  await batch.idle()
  const ended = Promise.all(['a', 'b', 'a'].map((id) => batch.publish(event(id))))
  await batch.idle()
  t.equal(batches.flat().length, 3)
  await ended
})

t.test(
  'a batch that finds no Postgres takes those with it that have waited for long',
  async (t) => {
    let nowMs = 0
    const away = Promise.withResolvers<never>()
    const batch = new MicroBatch<EventRow, string>(
      async (events) => {
        if (nowMs === 0) await away.promise
        return { results: events.map(({ id }) => id), made: events.length, jobs: 0 }
      },
      keyOf,
      () => nowMs,
    )
    const asked = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => batch.publish(event(String(from + n))))
    // Two batches are under way at a time, each of up to twenty events of a name that is new.
    const first = asked(0, 100)
    await new Promise(setImmediate)
    nowMs = 2000
    const [later] = asked(100, 1)
    away.reject(Object.assign(new Error('Connection terminated'), { code: '57P01' }))
    const settled = await Promise.allSettled(first)
    t.ok(settled.every(({ status }) => status === 'rejected'))
    t.equal(await later, '100', 'what has not waited for long is tried')
  },
)

t.test('repeats say nothing about the jobs of new events', async (t) => {
  const { batch, batches } = makeBatch(undefined, 2000)
  const publish = (from: number, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => batch.publish(event(String(from + i)))))
  await publish(0, 20)
  await publish(0, 5)
  batches.length = 0
  await publish(100, 10)
  t.strictSame(
    batches.map(({ length }) => length),
    [5, 5],
  )
})

t.test('of a batch that takes too long the events are tried apart, for a minute', async (t) => {
  let nowMs = 0
  const tooLong = () => {
    nowMs += 16_000
    return markCancelled(new Error('Query read timeout'))
  }
  const { batch, batches } = makeBatch(
    (events) => (events.some(({ id }) => id === 'bad') ? tooLong() : undefined),
    1,
    () => nowMs,
  )
  const four = ['a', 'b', 'bad', 'c'].map((id) => batch.publish(event(id)))
  t.same(
    (await Promise.allSettled(four)).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  t.strictSame(batches, [['a', 'b'], ['c']])

  // Here every statement takes too long.
  const sizes: number[] = []
  const slow = makeBatch(
    (events) => {
      sizes.push(events.length)
      return tooLong()
    },
    1,
    () => nowMs,
  )
  const many = Array.from({ length: 16 }, (_, n) => slow.batch.publish(event(String(n))))
  for (const one of many) await t.rejects(one, { code: 'SVC_UNAVAILABLE' })
  t.strictSame(sizes, [16, 8, 4, 2])
})

t.test('waiting publishes are bounded, and further ones refused at once', async (t) => {
  const slow = Promise.withResolvers<never>()
  const batch = new MicroBatch<EventRow, string>(() => slow.promise, keyOf)
  const payload = 'x'.repeat(1_000_000)
  // One string for all of them.
  const waiting = Array.from({ length: 300 }, (_, n) => batch.publish(event(String(n), payload)))
  const settled = Promise.allSettled(waiting)
  await t.rejects(batch.publish(event('one more')), {
    code: 'SVC_UNAVAILABLE',
    statusCode: 503,
    cause: { message: /publishes wait for Postgres, which is slower than they come/ },
  })
  await new Promise(setImmediate)
  slow.reject(new Error('Connection terminated'))
  await settled
  await batch.idle()
})
