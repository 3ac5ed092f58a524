import t from 'tap'
import { pollMsAfter } from '../../../../packages/core/src/jobs/pump/poll-interval.ts'

t.test('an idle queue is polled less often', async (t) => {
  t.equal(pollMsAfter(0, 'first', true), 500)
  t.equal(pollMsAfter(10_000, 'first', true), 1000)
  t.equal(pollMsAfter(10_000, 'retry', true), 1000)
  t.equal(pollMsAfter(100_000, 'first', true), 4000)
  t.equal(pollMsAfter(100_000, 'retry', true), 8000)
})

t.test('without notifications a queue is polled more often', async (t) => {
  t.equal(pollMsAfter(0, 'first', false), 100)
  t.equal(pollMsAfter(10_000, 'first', false), 500)
  t.equal(pollMsAfter(100_000, 'first', false), 2000)
})
