/** Histograms of durations, and their percentiles. */

/** Upper bounds of the buckets, in milliseconds; the last bucket has none. */
export const BOUNDS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000,
  7000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 3_600_000, 86_400_000,
] as const

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

/** Durations within a bucket are taken as spread evenly. */
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
