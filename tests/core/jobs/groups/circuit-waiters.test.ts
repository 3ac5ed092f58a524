import { mock } from 'node:test'
import t from 'tap'
import { CircuitWaiters } from '../../../../packages/core/src/jobs/groups/circuit-waiters.ts'

t.test('each waits for its group, runs once, and not later than after half a second', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const waiters = new CircuitWaiters()
  const ran: string[] = []
  for (const [group, name] of [
    ['a', 'a1'],
    ['a', 'a2'],
    ['b', 'b1'],
  ] as const) {
    waiters.add(group, () => void ran.push(name))
  }
  waiters.written(['a', 'unknown'])
  t.same(ran, ['a1', 'a2'])
  mock.timers.tick(499)
  t.same(ran, ['a1', 'a2'])
  mock.timers.tick(1)
  t.same(ran, ['a1', 'a2', 'b1'], 'the row of its group may be locked')
  waiters.written(['b'])
  waiters.add('c', () => void ran.push('c1'))
  waiters.close()
  mock.timers.tick(1000)
  t.same(ran, ['a1', 'a2', 'b1', 'c1'])
})
