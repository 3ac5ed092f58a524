/** For how long allowances are held, when they are renewed, and when they are given back. */
import t from 'tap'
import { idleMsOf, leaseMsOf, renewedFrom } from '../../../packages/auth/src/limits/lease.ts'

t.test('by the length of the window, in seconds', (t) => {
  for (const [window, lease, renewedAfter, idle] of [
    [1, 1, 2 / 3, 1],
    [10, 10, 20 / 3, 2.5],
    [60, 60, 40, 15],
    [600, 60, 40, 30],
    [1800, 150, 100, 60],
    [3600, 300, 200, 120],
    [86_400, 300, 200, 120],
  ] as const) {
    const leaseMs = leaseMsOf(window * 1000)
    t.equal(leaseMs, lease * 1000)
    t.equal(Math.round(renewedFrom(leaseMs, leaseMs)), Math.round(renewedAfter * 1000))
    t.equal(idleMsOf(window * 1000), idle * 1000)
    t.ok(idle < lease || window <= 1, 'what is in use is not given back before it is renewed')
  }
  t.end()
})

t.test('what is held of a quota is not renewed', (t) => {
  t.equal(renewedFrom(5000, leaseMsOf(0)), 5000)
  t.equal(idleMsOf(0), 10_000)
  t.end()
})
