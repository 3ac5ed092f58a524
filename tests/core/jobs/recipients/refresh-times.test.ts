import t from 'tap'
import { RefreshTimes } from '../../../../packages/core/src/jobs/recipients/refresh-times.ts'

const TABLE = { hasRows: true, isNotified: true, isIdle: false }

const refreshed = (from: number, to: number, table: Partial<typeof TABLE> = {}): RefreshTimes => {
  const times = new RefreshTimes()
  times.began(from)
  times.ended(to, { ...TABLE, ...table })
  return times
}

t.test('the table is read each second, and without rows each five seconds', async (t) => {
  t.ok(new RefreshTimes().isDue(0))
  const times = refreshed(0, 2)
  t.same([times.isDue(1001), times.isDue(1002)], [false, true])
  t.equal(times.pendingInMs(3), Infinity)
  const idle = refreshed(0, 2, { hasRows: false })
  t.same([idle.isDue(5001), idle.isDue(5002)], [false, true])
})

t.test('where changes are notified it is read less often while no job comes', async (t) => {
  const idle = refreshed(0, 2, { isIdle: true })
  t.same([idle.isDue(5001), idle.isDue(5002)], [false, true])
  t.ok(refreshed(0, 2, { isIdle: true, isNotified: false }).isDue(1002))
})

t.test('where changes are notified a long table takes a fiftieth of the time', async (t) => {
  const long = refreshed(0, 60)
  t.same([long.isDue(3059), long.isDue(3060)], [false, true])
  t.ok(refreshed(0, 5000).isDue(10_000))
  t.ok(refreshed(0, 60, { isNotified: false }).isDue(1060))
})

t.test(
  'after a change it is read at once, but not all the time where that takes long',
  async (t) => {
    const times = refreshed(0, 40)
    times.soon()
    t.notOk(times.isDue(439))
    t.equal(times.pendingInMs(239), 201)
    t.ok(times.isDue(440))
    t.equal(times.pendingInMs(440), 0)
    const long = refreshed(0, 5000)
    long.soon()
    t.same([long.isDue(5999), long.isDue(6000)], [false, true])
  },
)

t.test('a change during a refresh asks for another one', async (t) => {
  const times = new RefreshTimes()
  times.began(0)
  t.notOk(times.isDue(1))
  times.soon()
  times.ended(2, TABLE)
  t.equal(times.pendingInMs(2), 20)
  t.ok(times.isDue(22))
})
