import t from 'tap'
import { Pace, pollMsAfter } from '../../packages/core/src/jobs/pump/poll-interval.ts'

const cases: [concurrency: number, ms: number, ahead: number][] = [
  [10, 0.01, 200],
  [10, 1, 100],
  [10, 5, 20],
  [10, 20, 5],
  [10, 100, 1],
  [10, 101, 0],
  [1, 1, 10],
  [1, 0, 100],
  [256, 50, 51],
]
for (const [concurrency, ms, ahead] of cases) {
  t.test(
    `${concurrency} at a time that take ${ms} ms each: ${ahead} are claimed ahead`,
    async (t) => {
      const pace = new Pace(concurrency)
      t.equal(pace.ahead(), 0, 'nothing, before one has ended')
      pace.note(ms)
      t.equal(pace.ahead(), ahead)
    },
  )
}

t.test(
  'after one that took a minute nothing is claimed ahead until many were quick again',
  async (t) => {
    const pace = new Pace(10)
    pace.note(0.1)
    pace.note(60_000)
    t.equal(pace.ahead(), 0)
    for (let i = 0; i < 100; i++) pace.note(0.1)
    t.ok(pace.ahead() > 0)
  },
)

t.test('jobs that had to wait say the same', async (t) => {
  const pace = new Pace(10)
  pace.note(0.1)
  pace.waited(250)
  t.equal(pace.ahead(), 0)
})

t.test('a queue that rests is asked less often', async (t) => {
  t.equal(pollMsAfter(0, 'fresh'), 100)
  t.equal(pollMsAfter(10_000, 'fresh'), 500)
  t.equal(pollMsAfter(10_000, 'slow'), 500)
  t.equal(pollMsAfter(100_000, 'fresh'), 2000)
  t.equal(pollMsAfter(100_000, 'slow'), 5000)
})
