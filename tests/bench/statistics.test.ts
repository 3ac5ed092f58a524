import t from 'tap'
import { quantile, ratiosOf, spreadOf, summaryOf } from '../../bench/measure/statistics.ts'

t.test('the median of an even number of samples lies between the two in the middle', async (t) => {
  t.same(summaryOf([4, 1, 3, 2]), { median: 2.5, lowerQuartile: 1.75, upperQuartile: 3.25 })
})

t.test('one sample is its own median and quartiles', async (t) => {
  t.same(summaryOf([7]), { median: 7, lowerQuartile: 7, upperQuartile: 7 })
})

t.test('of nothing there is no median', async (t) => {
  t.ok(Number.isNaN(summaryOf([]).median))
})

t.test('a quantile interpolates between its neighbours', async (t) => {
  t.equal(quantile([0, 10], 0.25), 2.5)
  t.equal(quantile([0, 10, 20], 1), 20)
})

t.test('a ratio compares samples of the same round, and above 1 is better', async (t) => {
  t.same(ratiosOf([100, 50], [50, 100], 'more'), [2, 0.5])
  t.same(ratiosOf([100, 50], [50, 100], 'less'), [0.5, 2])
})

t.test('rounds that only one of the two has are left out of the ratio', async (t) => {
  t.same(ratiosOf([1, 2, 3], [1, 2], 'more'), [1, 1])
})

t.test('a spread tells the middle, the tail and the worst', async (t) => {
  const spread = spreadOf(Array.from({ length: 1001 }, (_, n) => 1000 - n))
  t.same(spread, { count: 1001, p50: 500, p99: 990, p999: 999, worst: 1000 })
})
