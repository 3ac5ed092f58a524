import { mock } from 'node:test'
import t from 'tap'
import { DueTimes } from '../../../../packages/core/src/jobs/pump/due-times.ts'

t.test('the lanes are woken when jobs are due, once for those of one moment', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  const wakes: number[] = []
  const due = new DueTimes(() => wakes.push(Date.now()), { nowMs: () => Date.now() })
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

t.test('with a longer step fewer moments have a wake of their own', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  const wakes: number[] = []
  const due = new DueTimes(() => wakes.push(Date.now()), {
    stepMs: 1000,
    nowMs: () => Date.now(),
  })
  for (const inMs of [100, 400, 900, 1100]) due.add(inMs)
  for (let second = 0; second < 3; second++) mock.timers.tick(1000)
  t.strictSame(wakes, [1000, 2000])
})
