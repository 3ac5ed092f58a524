import t from 'tap'
import { FetchAhead } from '../../../../packages/core/src/jobs/pump/fetch-ahead.ts'

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
    `${concurrency} at a time that take ${ms} ms each: ${ahead} are fetched ahead`,
    async (t) => {
      const fetchAhead = new FetchAhead(concurrency)
      t.equal(fetchAhead.count(), 0, 'nothing, before one has ended')
      fetchAhead.record(ms)
      t.equal(fetchAhead.count(), ahead)
    },
  )
}

t.test(
  'after one that took a minute nothing is fetched ahead until many were quick again',
  async (t) => {
    const fetchAhead = new FetchAhead(10)
    fetchAhead.record(0.1)
    fetchAhead.record(60_000)
    t.equal(fetchAhead.count(), 0)
    for (let i = 0; i < 100; i++) fetchAhead.record(0.1)
    t.ok(fetchAhead.count() > 0)
  },
)

t.test('nothing is fetched ahead after jobs had to wait', async (t) => {
  const fetchAhead = new FetchAhead(10)
  fetchAhead.record(0.1)
  fetchAhead.waited(250)
  t.equal(fetchAhead.count(), 0)
})
