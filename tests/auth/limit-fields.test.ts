import t from 'tap'
import {
  areWithin,
  isQuotaWithin,
  repeatedSpan,
  type Limit,
} from '../../packages/auth/src/limit-fields.ts'
import { resolveAuthOptions } from '../../packages/auth/src/options.ts'

const per = (limit: number, perSeconds: number): Limit => ({ limit, perSeconds })

t.test('limits are within others where keeping them keeps the others', (t) => {
  const rows: [given: Limit[] | null, than: Limit[] | null, isWithin: boolean][] = [
    [null, null, true],
    [[per(5, 1)], null, true],
    [null, [per(5, 1)], false],
    [[per(5, 1)], [per(5, 1)], true],
    [[per(6, 1)], [per(5, 1)], false],
    [[per(5, 2)], [per(5, 1)], true],
    [[per(5, 1)], [per(10, 2)], true],
    [[per(5, 1)], [per(9, 2)], false],
    // Any span of 10 s lies within two spans of 7 s.
    [[per(5, 7)], [per(10, 10)], true],
    [[per(5, 7)], [per(9, 10)], false],
    [[per(5, 1), per(100, 60)], [per(5, 1), per(100, 60)], true],
    [[per(5, 1)], [per(5, 1), per(100, 60)], false],
    [[per(1, 1)], [per(5, 1), per(100, 60)], true],
  ]
  for (const [given, than, isWithin] of rows) {
    t.equal(areWithin(given, than), isWithin, JSON.stringify([given, than]))
  }
  t.end()
})

t.test(
  'a quota is within another where keeping it keeps the other, in the longest of their periods',
  (t) => {
    const month = { limit: 3100, period: 'month' } as const
    t.ok(isQuotaWithin(null, null))
    t.ok(isQuotaWithin(month, null))
    t.notOk(isQuotaWithin(null, month))
    t.ok(isQuotaWithin(month, month))
    t.ok(isQuotaWithin({ limit: 100, period: 'day' }, month))
    t.notOk(isQuotaWithin({ limit: 101, period: 'day' }, month))
    t.ok(isQuotaWithin({ limit: 3100, period: 'total' }, month))
    t.notOk(isQuotaWithin(month, { limit: 5000, period: 'total' }))
    t.end()
  },
)

t.test('of two limits for one span one would mean nothing', (t) => {
  t.equal(repeatedSpan([]), undefined)
  t.equal(repeatedSpan([per(1, 1), per(1, 2), per(1, 3)]), undefined)
  t.equal(repeatedSpan([per(1, 1), per(1, 2), per(3, 2)]), 2)
  const tenantLimits = [per(1, 60), per(2, 60)]
  t.throws(() => resolveAuthOptions({ tenantLimits }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: /"tenantLimits".* two for 60/,
  })
  t.end()
})
