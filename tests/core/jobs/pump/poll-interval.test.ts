import t from 'tap'
import {
  msUntilPoll,
  pauseMsAfter,
  pollMsAfter,
} from '../../../../packages/core/src/jobs/pump/poll-interval.ts'

t.test('an idle queue is polled less often, and without notifications more often', async (t) => {
  t.strictSame(
    [0, 10_000, 100_000].map((idleMs) => [pollMsAfter(idleMs, true), pollMsAfter(idleMs, false)]),
    [
      [1000, 100],
      [1000, 500],
      [4000, 2000],
    ],
  )
})

t.test('fetches that keep failing are repeated after growing pauses', async (t) => {
  t.strictSame([1, 2, 3, 6].map(pauseMsAfter), [100, 200, 400, 3200])
  t.equal(pauseMsAfter(7), 5000)
  t.equal(pauseMsAfter(1000), 5000)
})

t.test('the polls of all queues fall together, and none comes later than its time', async (t) => {
  t.same(
    [0, 400, 999.5, 1000].map((now) => now + msUntilPoll(1000, now)),
    [1001, 1001, 1001.5, 2001],
  )
  t.equal(400 + msUntilPoll(4000, 400), 4001)
})
