/** What a process holds of one limit: which portion is used first, renewed, merged, given back. */
import t from 'tap'
import { HeldAllowances } from '../../../packages/auth/src/limits/held-allowances.ts'
import type { Grant } from '../../../packages/auth/src/limits/portion-list.ts'

/** Ten allowances held ahead of need, which end at 60 000 and count for an hour. */
const grantAt = (stamp: number, fields: Partial<Grant> = {}): Grant => ({
  stamp,
  count: 10,
  usableUntil: stamp + 60_000,
  countsUntil: stamp + 3_600_000,
  isAhead: true,
  holder: 'host-1',
  limit: 100,
  ...fields,
})

function holding(...grants: Grant[]): HeldAllowances {
  const allowances = new HeldAllowances()
  for (const grant of grants) allowances.hold(grant)
  return allowances
}

t.test('the portion that ends first is used first', (t) => {
  const allowances = holding(grantAt(5000), grantAt(0))
  allowances.take(12)
  t.equal(allowances.held, 8)
  t.ok(allowances.release(100), 'there is something to give back')
  t.same(allowances.takeReturns(), [{ stamp: 5000, count: 8 }])
  t.end()
})

t.test('a portion that has ended is given back, if it still counts in Postgres', (t) => {
  const allowances = holding(grantAt(0), grantAt(1000, { countsUntil: 61_000 }), grantAt(2000))
  t.notOk(allowances.prune(59_999))
  t.ok(allowances.prune(61_000))
  t.equal(allowances.held, 10)
  t.equal(allowances.firstEndsAt, 62_000)
  t.same(allowances.takeReturns(), [{ stamp: 0, count: 10 }])
  t.notOk(allowances.hasReturns)
  t.end()
})

t.test('a grant takes over nothing of the portion that was used up before it', (t) => {
  const allowances = holding(grantAt(0, { isAhead: false, holder: 'host-0' }))
  t.ok(allowances.hasUnspent)
  allowances.take(10)
  t.ok(allowances.isEmpty)
  allowances.hold(grantAt(7000, { count: 3 }))
  t.notOk(allowances.hasUnspent)
  t.equal(allowances.firstEndsAt, 67_000)
  t.equal(allowances.heldAheadBy('host-0'), 0)
  t.equal(allowances.heldAheadBy('host-1'), 3)
  allowances.release(7000)
  t.same(allowances.takeReturns(), [{ stamp: 7000, count: 3 }])
  t.end()
})

t.test('a renewal extends what counts for as long, of the same holder, and nothing else', (t) => {
  const allowances = holding(
    grantAt(0, { holder: 'host-0' }),
    grantAt(1000, { countsUntil: 100_000 }),
    grantAt(2000),
  )
  allowances.renew('host-1', 110_000)
  t.equal(allowances.firstEndsAt, 60_000)
  allowances.prune(60_000)
  t.equal(allowances.firstEndsAt, 61_000)
  allowances.prune(61_000)
  t.equal(allowances.firstEndsAt, 110_000)
  t.equal(allowances.held, 10)
  t.end()
})

t.test('of three renewed portions the first two become one, which counts as the older', (t) => {
  for (const stamps of [
    [0, 1000, 2000],
    [1000, 0, 2000],
  ] as const) {
    const allowances = holding(...stamps.map((stamp) => grantAt(stamp, { usableUntil: 60_000 })))
    allowances.renew('host-1', 120_000)
    t.equal(allowances.held, 30)
    t.equal(allowances.heldAheadBy('host-1'), 30)
    allowances.take(5)
    allowances.release(60_000)
    t.same(allowances.takeReturns(), [
      { stamp: 0, count: 15 },
      { stamp: 2000, count: 10 },
    ])
  }
  t.end()
})

t.test('portions of two holders are never merged', (t) => {
  const [first, second, third] = [grantAt(0, { holder: 'host-0' }), grantAt(1000), grantAt(2000)]
  const allowances = holding(first, second, third)
  allowances.renew('host-1', 120_000)
  t.equal(allowances.heldAheadBy('host-0'), 10)
  t.equal(allowances.heldAheadBy('host-1'), 20)
  allowances.release(3000)
  t.equal(allowances.takeReturns().length, 3)
  t.end()
})

t.test('what was granted under a higher limit is kept for requests with that', (t) => {
  const allowances = holding(
    grantAt(0, { limit: 100 }),
    grantAt(1000, { limit: 60, count: 5 }),
    grantAt(2000, { limit: 100, count: 2 }),
  )
  t.equal(allowances.held, 17)
  allowances.useUnder(60)
  t.equal(allowances.held, 5)
  allowances.take(3)
  t.equal(allowances.total, 14)
  allowances.useUnder(100)
  t.equal(allowances.held, 14)
  t.ok(allowances.releaseAbove(60, 3000))
  t.equal(allowances.held, 2, 'of the lower limit two are left')
  t.same(allowances.takeReturns(), [
    { stamp: 0, count: 10 },
    { stamp: 2000, count: 2 },
  ])
  t.end()
})

t.test('portions of two limits that are merged are for requests with the higher one', (t) => {
  const grants = [0, 1000, 2000].map((stamp) =>
    grantAt(stamp, { usableUntil: 60_000, limit: stamp === 1000 ? 60 : 100 }),
  )
  const allowances = holding(...grants)
  allowances.useUnder(60)
  t.equal(allowances.held, 10)
  allowances.renew('host-1', 120_000)
  t.equal(allowances.held, 0)
  allowances.useUnder(100)
  t.equal(allowances.held, 30)
  t.end()
})

t.test('of a lowered limit what a waiting request was granted is not given back', (t) => {
  const allowances = holding(grantAt(0, { isAhead: false, count: 1 }), grantAt(1000))
  t.ok(allowances.releaseAbove(60, 2000))
  t.equal(allowances.held, 1)
  t.ok(allowances.hasUnspent)
  t.same(allowances.takeReturns(), [{ stamp: 1000, count: 10 }])
  t.end()
})
