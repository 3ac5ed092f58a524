import t from 'tap'
import { Denial } from '../../../packages/auth/src/limits/denial.ts'
import type { Answer } from '../../../packages/auth/src/tables/allowance-terms.ts'

const HOUR_MS = 3_600_000
const LIMIT = { subject: 'key', limit: 5, period: 3600 }

/** Nothing was granted, and something will be in an hour. */
const nothing = (othersHold: number): Answer => ({
  granted: 0,
  ahead: 0,
  stamp: 0,
  used: 5,
  validMs: null,
  retryMs: HOUR_MS,
  othersHold,
})

/** For how long denials in a row are remembered, each asked for when the one before has ended. */
function lengthsOf(denial: Denial, answers: Answer[], rule = LIMIT): number[] {
  let now = 0
  return answers.map((answer) => {
    const before = now
    denial.extend(answer, rule, { sentAt: now, now })
    now = denial.until
    return now - before
  })
}

t.test(
  'where no other process may give back, one is asked about once more after 3 s',
  async (t) => {
    const denial = new Denial()
    const finals = [0, 0, 0].map(nothing)
    t.strictSame(lengthsOf(denial, finals), [3000, 30_000, 30_000])
    denial.granted(LIMIT)
    t.strictSame(lengthsOf(denial, finals), [3000, 30_000, 30_000])
    denial.granted({ ...LIMIT, limit: 6 })
    t.strictSame(
      lengthsOf(denial, finals.slice(1)),
      [30_000, 30_000],
      'a higher limit says nothing',
    )
  },
)

t.test('where another process may give back, it is asked often at first', async (t) => {
  const lengths = lengthsOf(
    new Denial(),
    Array.from({ length: 12 }, () => nothing(2)),
  )
  t.strictSame(lengths.slice(0, 3), [50, 100, 200])
  t.strictSame(lengths.slice(-2), [30_000, 30_000])
})

t.test('no denial is remembered for longer than until something is free', async (t) => {
  const soon = { ...nothing(0), retryMs: 700 }
  t.strictSame(lengthsOf(new Denial(), [soon]), [700])
})
