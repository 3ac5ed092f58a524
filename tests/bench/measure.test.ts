import t from 'tap'
import {
  growthOf,
  interleave,
  intervalOf,
  quantile,
  ratiosOf,
  rowsOf,
  samplesOf,
  spreadOf,
  summaryOf,
  turnsOf,
} from '../../bench/measure.ts'

t.test(
  'contenders take turns, another first in each round, and warm-ups do not count',
  async (t) => {
    const turns: string[] = []
    let count = 0
    const contender = (name: string) => ({
      name,
      measure: async () => {
        turns.push(name)
        return { turn: ++count }
      },
    })
    const measured = await interleave([contender('a'), contender('b')], { rounds: 2 }, 1)
    t.same(turns, ['a', 'b', 'b', 'a', 'a', 'b'])
    t.same(samplesOf(measured, 'a', 'turn'), [4, 5])
    t.same(samplesOf(measured, 'b', 'turn'), [3, 6])
  },
)

t.test('a figure that a contender does not have is NaN', async (t) => {
  const contender = { name: 'a', measure: async () => ({}) }
  const measured = await interleave([contender], { rounds: 1 }, 0)
  t.ok(Number.isNaN(samplesOf(measured, 'a', 'rate')[0]))
})

t.test('rows are compared with one of them, which is not compared with itself', async (t) => {
  const measured = new Map([
    ['a', [{ rate: 1 }]],
    ['b', [{ rate: 2 }]],
  ])
  const goals = { b: { ratioAtLeast: 2 } }
  t.same(rowsOf(measured, 'rate', { against: 'a', goals }), [
    { name: 'a', samples: [1] },
    { name: 'b', samples: [2], against: 'a', goal: { ratioAtLeast: 2 } },
  ])
  t.same(rowsOf(measured, 'rate', { names: ['b'] }), [{ name: 'b', samples: [2] }])
})

t.test('a counter is read before and after the work', async (t) => {
  let counter = 5
  const read = async () => counter
  const work = async () => (counter += 3)
  t.same(await growthOf({ counter: read }, work), { result: 8, growth: { counter: 3 } })
})

t.test('over the rounds each contender follows each of the others equally often', async (t) => {
  for (const [count, rounds] of [
    [1, 2],
    [2, 2],
    [3, 6],
    [4, 4],
    [5, 10],
    [6, 6],
  ] as const) {
    const names = Array.from({ length: count }, (_, place) => `${place}`)
    const pairs = Array.from({ length: rounds }, (_, round) => turnsOf(names, round))
      .flatMap((order) => [
        `- ${order[0]}`,
        ...order.slice(1).map((name, n) => `${order[n]} ${name}`),
      ])
      .toSorted()
    const times = rounds / count
    const expected = names
      .flatMap((name) =>
        ['-', ...names.filter((other) => other !== name)].map((it) => `${it} ${name}`),
      )
      .flatMap((pair) => Array.from({ length: times }, () => pair))
      .toSorted()
    t.same(pairs, expected, `${count} contenders`)
  }
  t.same(turnsOf([], 1), [])
})

t.test('the median of an even number of samples lies between the two in the middle', async (t) => {
  t.same(summaryOf([4, 1, 3, 2]), { median: 2.5, lowerQuartile: 1.75, upperQuartile: 3.25 })
})

t.test('one sample is its own median and quartiles', async (t) => {
  t.same(summaryOf([7]), { median: 7, lowerQuartile: 7, upperQuartile: 7 })
})

t.test('an empty list has no median', async (t) => {
  t.ok(Number.isNaN(summaryOf([]).median))
})

t.test('the interval of a median leaves out as many samples as chance may misplace', async (t) => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => count - index)
  // The ranks of tables of the binomial distribution.
  t.same([6, 8, 9, 12, 20].map(numbers).map(intervalOf), [
    [1, 6],
    [1, 8],
    [2, 8],
    [3, 10],
    [6, 15],
  ])
  t.equal(intervalOf(numbers(5)), undefined)
  t.equal(intervalOf([]), undefined)
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

t.test('a spread has the median and the tail', async (t) => {
  const spread = spreadOf(Array.from({ length: 1001 }, (_, n) => 1000 - n))
  t.same(spread, { count: 1001, p50: 500, p99: 990, p999: 999 })
})
