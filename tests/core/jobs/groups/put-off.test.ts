import t from 'tap'
import { PutOff } from '../../../../packages/core/src/jobs/groups/put-off.ts'

t.test('each failure doubles the pause, up to ten minutes', async (t) => {
  const putOff = new PutOff(() => 0)
  const pauses = Array.from({ length: 12 }, () => putOff.failed('a', 10) / 1000)
  t.same(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
  t.equal(putOff.failed('b', 10), 1000, 'another one begins anew')
  putOff.succeeded('a')
  t.equal(putOff.failed('a', 10), 1000, 'so does one that has succeeded')
})

t.test('the pause is not shorter than the failure took', async (t) => {
  t.equal(new PutOff(() => 0).failed('a', 120_000), 120_000)
})

t.test('it names those that are not due, and when the next one is', async (t) => {
  let now = 0
  const putOff = new PutOff(() => now)
  t.equal(putOff.dueInMs(), null)
  putOff.failed('a', 10)
  putOff.failed('b', 3000)
  t.same([putOff.ids(), putOff.dueInMs()], [['a', 'b'], 1000])
  now = 997
  t.same([putOff.ids(), putOff.dueInMs()], [['b'], 2003], 'a timer may end a little early')
  now = 1500
  t.same([putOff.ids(), putOff.dueInMs()], [['b'], 1500])
  now = 3600_000 + 3001
  putOff.failed('c', 10)
  t.equal(putOff.failed('a', 10), 1000, 'the failures of one that is long due are forgotten')
})
