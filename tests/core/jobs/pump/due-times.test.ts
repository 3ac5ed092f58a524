import { mock } from 'node:test'
import t from 'tap'
import { DueTimes } from '../../../../packages/core/src/jobs/pump/due-times.ts'

t.test('the lanes are woken when jobs are due, once for those of one moment', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  const wakes: number[] = []
  const due = new DueTimes(
    () => wakes.push(Date.now()),
    () => Date.now(),
  )
  due.add(1000)
  due.add(950)
  due.add(300)
  due.add(3600_000)
  mock.timers.tick(299)
  t.strictSame(wakes, [])
  mock.timers.tick(1)
  mock.timers.tick(700)
  t.strictSame(wakes, [300, 1000])
  mock.timers.tick(2 * 3600_000)
  t.equal(wakes.length, 2, 'a poll finds what is due in an hour')
  due.add(100)
  due.stop()
  mock.timers.tick(1000)
  t.equal(wakes.length, 2)
})
