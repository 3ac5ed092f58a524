import t from 'tap'
import {
  maxAttemptsOf,
  retryDelayMs,
} from '../../../../packages/webhooks/src/outbound/settings/retry-schedule.ts'

t.test('there is one attempt more than there are delays, where no number is given', async (t) => {
  t.equal(maxAttemptsOf({ delaysSeconds: [1, 5, 30] }), 4)
  t.equal(maxAttemptsOf({ delaysSeconds: [1, 5, 30], maxAttempts: 2 }), 2)
  t.equal(maxAttemptsOf({ maxAttempts: 9 }), 9)
  t.equal(maxAttemptsOf({}), null)
})

t.test('the delays are those of the list, and then the last one', async (t) => {
  const retry = { delaysSeconds: [1, 5, 30], maxAttempts: 10 }
  const middle = () => 0.5
  t.same(
    [1, 2, 3, 4, 9].map((attempt) => retryDelayMs(retry, attempt, middle)),
    [1000, 5000, 30_000, 30_000, 30_000],
  )
  t.equal(retryDelayMs({ delaysSeconds: [0] }, 1, middle), 0)
})

t.test('a delay may be a tenth shorter or longer', async (t) => {
  const retry = { delaysSeconds: [100] }
  t.equal(
    retryDelayMs(retry, 1, () => 0),
    90_000,
  )
  t.equal(
    retryDelayMs(retry, 1, () => 1),
    110_000,
  )
})

t.test('without delays the process decides', async (t) => {
  t.equal(retryDelayMs({ maxAttempts: 3 }, 1, Math.random), null)
})
