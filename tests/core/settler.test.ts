import t from 'tap'
import { Settler } from '../../packages/core/src/jobs/pump/outcome-buffer.ts'
import type { JobOutcome } from '../../packages/core/src/jobs/worker.ts'
import { until } from './support/until.ts'

const performed = (id: string) => ({ job: { id }, outcome: { kind: 'completed' } }) as JobOutcome
const away = () => Object.assign(new Error('gone'), { code: '57P01' })

/** Settles into `settled`, unless `refuse` says why not. */
function makeSettler(refuse: (ids: string[]) => Error | undefined = () => undefined) {
  const settled: string[] = []
  const batches: number[] = []
  const errors: string[] = []
  const forgotten: string[] = []
  const settler = new Settler({
    async settle(batch) {
      const ids = batch.map(({ job }) => job.id)
      const error = refuse(ids)
      if (error) throw error
      batches.push(ids.length)
      settled.push(...ids)
    },
    settled() {},
    forget: (jobs) => void forgotten.push(...jobs.map(({ id }) => id)),
    log: { error: (_details, message) => void errors.push(message) },
  })
  return { settler, settled, batches, errors, forgotten }
}

t.test('outcomes of the same moment are settled together, up to 200', async (t) => {
  const { settler, settled, batches, forgotten } = makeSettler()
  for (let i = 0; i < 450; i++) settler.add(performed(String(i)))
  await settler.close()
  t.equal(settled.length, 450)
  t.equal(forgotten.length, 450)
  t.strictSame(batches, [200, 200, 50])
})

t.test('an outcome that comes just as the last batch ends is settled too', async (t) => {
  const { settler, settled } = makeSettler()
  settler.add(performed('0'))
  for (let next = 1; next < 50; next++) {
    await until(() => settled.length === next)
    settler.add(performed(String(next)))
  }
  await settler.close()
  t.equal(settled.length, 50)
})

t.test('while Postgres is away nothing is dropped, and the log hears of it once', async (t) => {
  let failures = 3
  const { settler, settled, errors } = makeSettler(() => (failures-- > 0 ? away() : undefined))
  for (const id of ['a', 'b', 'c']) settler.add(performed(id))
  await until(() => settled.length === 3)
  t.strictSame(settled, ['a', 'b', 'c'])
  t.strictSame(errors, ['jobs could not be settled'])
})

t.test(
  'one that is refused does not hold the others up, and is given up after five times',
  async (t) => {
    let refusals = 0
    const { settler, settled, errors } = makeSettler((ids) => {
      if (!ids.includes('bad')) return undefined
      if (ids.length === 1) refusals++
      return new Error('refused')
    })
    for (const id of ['a', 'b', 'bad', 'c', 'd']) settler.add(performed(id))
    await until(() => settled.length === 4)
    t.strictSame(settled, ['a', 'b', 'c', 'd'])
    await until(() => refusals === 5)
    settler.add(performed('e'))
    await until(() => settled.includes('e'))
    t.match(errors.at(-1), /cannot be settled/)
    t.equal(refusals, 5)
    t.equal(settler.size, 0)
  },
)

t.test(
  'when Postgres goes away in the middle of a batch, what was settled is not settled twice',
  async (t) => {
    let calls = 0
    const { settler, settled } = makeSettler(() => {
      calls++
      if (calls === 1) return new Error('refused as a whole')
      return calls === 3 ? away() : undefined
    })
    for (const id of ['a', 'b', 'c', 'd']) settler.add(performed(id))
    await until(() => settled.length === 4)
    t.strictSame(settled.toSorted(), ['a', 'b', 'c', 'd'])
  },
)

t.test('closing while Postgres stays away comes to an end', async (t) => {
  const { settler, settled } = makeSettler(away)
  settler.add(performed('a'))
  await settler.close()
  t.strictSame(settled, [])
  t.equal(settler.size, 1, 'its claim lapses')
})
