import t from 'tap'
import { UsageCounter, usageOf } from '../../../packages/auth/src/usage/usage-counter.ts'
import type { Counts } from '../../../packages/auth/src/tables/usage.ts'

const HOUR_MS = 3_600_000
const silent = { warn() {}, info() {} }

function setup() {
  const written: [hour: number, keyId: string, counts: Counts][] = []
  const sent: number[] = []
  const state = { now: 10 * HOUR_MS, broken: false }
  const counter = new UsageCounter(
    async ({ number, hour, uses }) => {
      sent.push(number)
      if (state.broken) throw new Error('Postgres is away')
      for (const [keyId, counts] of uses) {
        written.push([hour.getTime() / HOUR_MS, keyId, { ...counts }])
      }
    },
    silent,
    () => state.now,
  )
  return { written, sent, state, counter }
}

t.test('usage that cannot be written is sent again as it was, in its own hour', async (t) => {
  const { written, sent, state, counter } = setup()
  const a = usageOf('a')
  counter.count(a, 'allowed')
  state.broken = true
  await t.rejects(counter.flush())
  for (let n = 0; n < 2; n++) counter.count(a, 'allowed')
  await t.rejects(counter.flush())
  state.now += HOUR_MS
  counter.count(a, 'allowed')
  state.broken = false
  await counter.flush()
  t.match(written, [
    [10, 'a', { allowed: 1 }],
    [10, 'a', { allowed: 2 }],
    [11, 'a', { allowed: 1 }],
  ])
  t.same(sent, [1, 1, 1, 2, 3], 'by its number Postgres knows the first one again')
})

t.test('many keys are written in portions', async (t) => {
  const { written, counter } = setup()
  for (let n = 0; n < 1201; n++) counter.countOnce(`${n}`, 'allowed')
  await counter.flush()
  t.equal(new Set(written.map(([, keyId]) => keyId)).size, 1201)
})
