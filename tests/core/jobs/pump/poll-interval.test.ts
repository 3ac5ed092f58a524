import t from 'tap'
import { pollMsAfter } from '../../../../packages/core/src/jobs/pump/poll-interval.ts'

t.test('an idle queue is polled less often', async (t) => {
  t.equal(pollMsAfter(0, 'first'), 100)
  t.equal(pollMsAfter(10_000, 'first'), 500)
  t.equal(pollMsAfter(10_000, 'retry'), 500)
  t.equal(pollMsAfter(100_000, 'first'), 2000)
  t.equal(pollMsAfter(100_000, 'retry'), 5000)
})
