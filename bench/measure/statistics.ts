/** What is told of a handful of samples, none of them assumed to be normally distributed. */
export interface Summary {
  median: number
  lowerQuartile: number
  upperQuartile: number
}

export function summaryOf(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((a, b) => a - b)
  return {
    median: quantile(sorted, 0.5),
    lowerQuartile: quantile(sorted, 0.25),
    upperQuartile: quantile(sorted, 0.75),
  }
}

/** Between neighbours it interpolates; of nothing it is not a number. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/**
 * Round by round, for the machine drifts and both contenders of a round drift with it. Above 1 is
 * better than the baseline, whether more or less is better.
 */
export function ratiosOf(
  samples: readonly number[],
  baseline: readonly number[],
  better: 'more' | 'less',
): number[] {
  const rounds = Math.min(samples.length, baseline.length)
  return Array.from({ length: rounds }, (_, round) => {
    const own = samples[round] ?? Number.NaN
    const other = baseline[round] ?? Number.NaN
    return better === 'more' ? own / other : other / own
  })
}

/** The figures that tell how a crowd of waiting times is spread, in its own unit. */
export interface Spread {
  count: number
  p50: number
  p99: number
  p999: number
  worst: number
}

export function spreadOf(times: Iterable<number>): Spread {
  const sorted = Float64Array.from(times).sort()
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
    worst: sorted.at(-1) ?? Number.NaN,
  }
}
