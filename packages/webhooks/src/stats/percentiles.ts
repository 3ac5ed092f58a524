/** Percentiles of durations, from the counts of their buckets. */
import { BOUNDS } from '../tables/stats.ts'

export interface Percentiles {
  p50: number | null
  p95: number | null
  p99: number | null
}

/** `null` where nothing was counted. */
export const percentilesOf = (counts: readonly number[]): Percentiles => ({
  p50: percentile(counts, 0.5),
  p95: percentile(counts, 0.95),
  p99: percentile(counts, 0.99),
})

/** The durations of a bucket count as spread evenly over it. */
function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = share * total
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= wanted) {
      const from = bucket === 0 ? 0 : (BOUNDS[bucket - 1] ?? 0)
      const to = BOUNDS[bucket] ?? from
      return Math.round(from + ((to - from) * (wanted - below)) / count)
    }
    below += count
  }
  return null
}
