/** The buckets of the histograms in which durations are counted. */

/** Upper bounds of the buckets, in milliseconds; the last bucket has none. */
export const BOUNDS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000,
  7000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 3_600_000, 86_400_000,
] as const
