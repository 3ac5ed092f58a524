import t from 'tap'
import { interleave, rotated, samplesOf } from '../../bench/measure/rounds.ts'

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
    const measured = await interleave([contender('a'), contender('b')], { warmUps: 1, rounds: 2 })
    t.same(turns, ['a', 'b', 'b', 'a', 'a', 'b'])
    t.same(samplesOf(measured, 'a', 'turn'), [4, 5])
    t.same(samplesOf(measured, 'b', 'turn'), [3, 6])
  },
)

t.test('a figure that a contender has not is not a number', async (t) => {
  const contender = { name: 'a', measure: async () => ({}) }
  const measured = await interleave([contender], { warmUps: 0, rounds: 1 })
  t.ok(Number.isNaN(samplesOf(measured, 'a', 'rate')[0]))
})

t.test('a list rotates', async (t) => {
  t.same(rotated([1, 2, 3], 4), [2, 3, 1])
  t.same(rotated([], 1), [])
})
