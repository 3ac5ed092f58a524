import t from 'tap'
import { percentilesOf } from '../../../packages/webhooks/src/operations/stats.ts'
import { BOUNDS } from '../../../packages/webhooks/src/tables/stats.ts'

/** The counts of buckets, as Postgres keeps them: each duration up to and with the bound of its bucket. */
function countsOf(durations: readonly number[]): number[] {
  const counts = BOUNDS.map(() => 0).concat(0)
  for (const ms of durations) {
    const bucket = BOUNDS.findIndex((bound) => ms <= bound)
    counts[bucket === -1 ? BOUNDS.length : bucket]!++
  }
  return counts
}

t.test('without durations there are no percentiles', async (t) => {
  t.same(percentilesOf([]), { p50: null, p95: null, p99: null })
  t.same(percentilesOf(countsOf([])), { p50: null, p95: null, p99: null })
})

t.test('a percentile is in the bucket of the duration that it stands for', async (t) => {
  const cases = [
    [7],
    [1, 2, 3, 400, 5000],
    Array.from({ length: 1000 }, (_, n) => n),
    [...Array.from({ length: 98 }, () => 3), 60_000, 60_000],
  ]
  for (const durations of cases) {
    const sorted = durations.toSorted((one, other) => one - other)
    const found = percentilesOf(countsOf(durations))
    for (const [name, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const exact = sorted[Math.ceil(share * sorted.length) - 1]!
      const bucket = BOUNDS.findIndex((bound) => exact <= bound)
      const [from, to] = [BOUNDS[bucket - 1] ?? 0, BOUNDS[bucket] ?? Infinity]
      const at = found[name] ?? -1
      t.ok(at >= Math.floor(from) && at <= Math.ceil(to), `${name} of ${durations.length}: ${at}`)
    }
  }
})

t.test('durations beyond the last bound count as that bound', async (t) => {
  const last = Math.round(BOUNDS.at(-1)!)
  t.same(percentilesOf(countsOf([last * 2])), { p50: last, p95: last, p99: last })
})
