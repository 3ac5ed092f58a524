import t from 'tap'
import { OutcomeBuffer } from '../../../../packages/core/src/jobs/pump/outcome-buffer.ts'
import type { JobOutcome } from '../../../../packages/core/src/jobs/worker.ts'
import { until } from '../../../support/until.ts'

const performed = (id: string) => ({ job: { id }, outcome: { kind: 'completed' } }) as JobOutcome
const away = () => Object.assign(new Error('gone'), { code: '57P01' })

/** Settles into `settled`, unless `refuse` says why not. */
function makeBuffer(
  refuse: (ids: string[], isRecorded: boolean) => Error | undefined = () => undefined,
  { mayWait = (_id: string): boolean => false, togetherMs = 1 } = {},
) {
  const settled: string[] = []
  const batches: number[] = []
  const errors: string[] = []
  const forgotten: string[] = []
  const parts = {
    mayWait: ({ job }: JobOutcome) => mayWait(job.id),
    async settle(batch: JobOutcome[], _lockMs: number, isRecorded: boolean) {
      const ids = batch.map(({ job }) => job.id)
      const error = refuse(ids, isRecorded)
      if (error) throw error
      batches.push(ids.length)
      settled.push(...ids)
    },
    settled() {},
    forget: (jobs: JobOutcome['job'][]) => void forgotten.push(...jobs.map(({ id }) => id)),
    log: { error: (_details: object, message: string) => void errors.push(message) },
  }
  const buffer = new OutcomeBuffer(parts, togetherMs)
  return { buffer, settled, batches, errors, forgotten }
}

t.test('outcomes of the same moment are settled together, up to 200', async (t) => {
  const { buffer, settled, batches, forgotten } = makeBuffer()
  for (let i = 0; i < 450; i++) buffer.add(performed(String(i)))
  await buffer.close()
  t.equal(settled.length, 450)
  t.equal(forgotten.length, 450)
  t.strictSame(batches, [200, 200, 50])
})

t.test('each probe that has succeeded is settled alone, and keeps no others waiting', async (t) => {
  const { buffer, settled, batches } = makeBuffer()
  const probed = (id: string) =>
    ({ job: { id, isProbe: true }, outcome: { kind: 'completed' } }) as JobOutcome
  for (const id of ['p1', 'p2', 'p3']) buffer.add(probed(id))
  for (const id of ['a', 'b']) buffer.add(performed(id))
  await buffer.close()
  t.strictSame(settled, ['a', 'b', 'p1', 'p2', 'p3'])
  t.strictSame(batches, [2, 1, 1, 1])
})

t.test('a probe waits while Postgres does not answer', async (t) => {
  let isAway = true
  const { buffer, settled } = makeBuffer(() => (isAway ? away() : undefined))
  const probe = { job: { id: 'p', isProbe: true }, outcome: { kind: 'completed' } } as JobOutcome
  const rejected = { job: { id: 'r' }, outcome: { kind: 'rejected' } } as JobOutcome
  buffer.add(probe)
  buffer.add(rejected)
  await new Promise(setImmediate)
  buffer.add(performed('a'))
  await new Promise(setImmediate)
  t.equal(buffer.size, 3)
  isAway = false
  await until(() => buffer.size === 0)
  t.strictSame(settled.toSorted(), ['a', 'p', 'r'])
})

const LONG_MS = 3600_000

t.test('outcomes that may wait are settled together when there are sixteen', async (t) => {
  const { buffer, batches } = makeBuffer(undefined, { mayWait: () => true, togetherMs: LONG_MS })
  for (let i = 0; i < 15; i++) {
    buffer.add(performed(String(i)))
    await new Promise(setImmediate)
  }
  t.strictSame(batches, [])
  buffer.add(performed('15'))
  await until(() => buffer.size === 0)
  t.strictSame(batches, [16])
})

t.test('fewer outcomes wait for a moment only, and not while the host closes', async (t) => {
  const short = makeBuffer(undefined, { mayWait: () => true, togetherMs: 1 })
  short.buffer.add(performed('a'))
  await until(() => short.settled.length === 1)

  const long = makeBuffer(undefined, { mayWait: () => true, togetherMs: LONG_MS })
  long.buffer.add(performed('a'))
  await new Promise(setImmediate)
  await long.buffer.close()
  t.strictSame(long.settled, ['a'])
})

t.test('an outcome that may not wait is settled at once, with those that wait', async (t) => {
  const mayWait = (id: string) => id !== 'failed'
  const { buffer, batches } = makeBuffer(undefined, { mayWait, togetherMs: LONG_MS })
  buffer.add(performed('a'))
  await new Promise(setImmediate)
  buffer.add(performed('failed'))
  await until(() => buffer.size === 0)
  t.strictSame(batches, [2])
})

t.test('one that was settled at once does not hurry those that come after it', async (t) => {
  const mayWait = (id: string) => id !== 'failed'
  const { buffer, batches } = makeBuffer(undefined, { mayWait, togetherMs: LONG_MS })
  buffer.add(performed('failed'))
  await until(() => buffer.size === 0)
  for (let i = 0; i < 16; i++) {
    buffer.add(performed(String(i)))
    await new Promise(setImmediate)
    await new Promise(setImmediate)
  }
  await until(() => buffer.size === 0)
  t.strictSame(batches, [1, 16])
})

t.test('an outcome that is added just as the last batch ends is settled too', async (t) => {
  const { buffer, settled } = makeBuffer()
  buffer.add(performed('0'))
  for (let next = 1; next < 50; next++) {
    await until(() => settled.length === next)
    buffer.add(performed(String(next)))
  }
  await buffer.close()
  t.equal(settled.length, 50)
})

t.test('during an outage of Postgres no outcome is lost, and one line is logged', async (t) => {
  let failures = 3
  const { buffer, settled, errors } = makeBuffer(() => (failures-- > 0 ? away() : undefined))
  for (const id of ['a', 'b', 'c']) buffer.add(performed(id))
  await until(() => settled.length === 3)
  t.strictSame(settled, ['a', 'b', 'c'])
  t.strictSame(errors, ['could not record the outcomes of jobs; it tries again'])
})

t.test(
  'an outcome that is refused does not delay the others, and is given up after five tries',
  async (t) => {
    let refusals = 0
    const { buffer, settled, errors } = makeBuffer((ids, isRecorded) => {
      if (!ids.includes('bad')) return undefined
      if (ids.length === 1 && isRecorded) refusals++
      return new Error('refused')
    })
    for (const id of ['a', 'b', 'bad', 'c', 'd']) buffer.add(performed(id))
    await until(() => settled.length === 4)
    t.strictSame(settled, ['a', 'b', 'c', 'd'])
    await until(() => refusals === 5)
    buffer.add(performed('e'))
    await until(() => settled.includes('e'))
    t.match(errors.at(-1), /could not record the outcome of a job/)
    t.equal(refusals, 5)
    t.equal(buffer.size, 0)
  },
)

t.test('where the rows of an outcome are refused, its job is settled without them', async (t) => {
  const withoutRows: string[] = []
  const { buffer, settled, errors } = makeBuffer((ids, isRecorded) => {
    if (!isRecorded) withoutRows.push(...ids)
    return isRecorded && ids.some((id) => id.startsWith('bad')) ? new Error('refused') : undefined
  })
  for (const id of ['a', 'bad', 'b', 'bad too']) buffer.add(performed(id))
  await buffer.close()
  t.strictSame(settled.toSorted(), ['a', 'b', 'bad', 'bad too'])
  t.strictSame(withoutRows, ['bad', 'bad too'])
  t.match(errors.at(-1), /settled without them/)
})

t.test('outcomes that may need a row of the host are settled apart', async (t) => {
  const tried: string[][] = []
  const { buffer, settled } = makeBuffer((ids) => {
    tried.push(ids)
    return ids.includes('gone') ? Object.assign(new Error('locked'), { code: '55P03' }) : undefined
  })
  const rejected = (id: string) => ({ job: { id }, outcome: { kind: 'rejected' } }) as JobOutcome
  buffer.add(performed('a'))
  buffer.add(rejected('gone'))
  buffer.add(rejected('other'))
  buffer.add(performed('b'))
  await until(() => settled.includes('other'))
  t.strictSame(tried, [['a', 'b'], ['gone'], ['other']])
  for (let n = 0; n < 200; n++) {
    buffer.add(performed(String(n)))
    await until(() => settled.includes(String(n)))
  }
  t.ok(tried.slice(2).every((ids) => !ids.includes('gone') || ids.length === 1))
  t.equal(buffer.size, 1)
  t.equal(buffer.fresh, 0)
  await buffer.close()
  t.equal(buffer.size, 0, 'it is given up')
})

t.test('after a loss of Postgres in a batch, settled outcomes are not settled twice', async (t) => {
  let calls = 0
  const { buffer, settled } = makeBuffer(() => {
    calls++
    if (calls === 1) return new Error('refused as a whole')
    return calls === 3 ? away() : undefined
  })
  for (const id of ['a', 'b', 'c', 'd']) buffer.add(performed(id))
  await until(() => settled.length === 4)
  t.strictSame(settled.toSorted(), ['a', 'b', 'c', 'd'])
})

t.test('a host closes while Postgres stays unavailable', async (t) => {
  const { buffer, settled } = makeBuffer(away)
  buffer.add(performed('a'))
  await buffer.close()
  t.strictSame(settled, [])
  t.equal(buffer.size, 1, 'its lease expires')
})
