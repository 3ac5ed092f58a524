/** Rounds in which contenders take turns, and what is computed from their samples. */
import type { Row } from './benchmark.ts'
import type { Goal } from './report.ts'

/** The figures of one turn of a contender, by name. */
export type Figures = Record<string, number>
export type Measured = Map<string, Figures[]>

export interface Contender {
  name: string
  measure(): Promise<Figures>
}

/**
 * Lets the contenders take turns, because a machine's speed drifts over minutes, in another order in
 * each round. Warm-up rounds are not counted: caches, plans and the compiler need them.
 *
 * @returns for each contender its figures, one entry for each round
 */
export async function interleave(
  contenders: readonly Contender[],
  { rounds, tell }: { rounds: number; tell?: (text: string) => void },
  warmUps = 1,
): Promise<Measured> {
  const measured: Measured = new Map(contenders.map(({ name }) => [name, []]))
  for (let round = -warmUps; round < rounds; round++) {
    tell?.(round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`)
    for (const contender of turnsOf(contenders, round + warmUps)) {
      const figures = await contender.measure()
      if (round >= 0) measured.get(contender.name)?.push(figures)
    }
  }
  return measured
}

export function samplesOf(measured: Measured, contender: string, figure: string): number[] {
  return (measured.get(contender) ?? []).map((figures) => figures[figure] ?? Number.NaN)
}

/** The rows of one figure: of all contenders or of those named, each compared with `against`. */
export function rowsOf(
  measured: Measured,
  figure: string,
  { names, against, goals = {} }: RowOptions = {},
): Row[] {
  return (names ?? [...measured.keys()]).map((name) => {
    const goal = goals[name]
    return {
      name,
      samples: samplesOf(measured, name, figure),
      ...(against === undefined || name === against ? {} : { against }),
      ...(goal ? { goal } : {}),
    }
  })
}

export interface RowOptions {
  names?: string[]
  against?: string
  goals?: Record<string, Goal>
}

/** How much each counter has grown while `work` ran. */
export async function growthOf<Result>(
  counters: Record<string, () => Promise<number>>,
  work: () => Promise<Result>,
): Promise<{ result: Result; growth: Figures }> {
  const before = await readAll(counters)
  const result = await work()
  const growth = await readAll(counters)
  for (const name of Object.keys(growth)) {
    growth[name] = (growth[name] ?? Number.NaN) - (before[name] ?? Number.NaN)
  }
  return { result, growth }
}

async function readAll(counters: Record<string, () => Promise<number>>): Promise<Figures> {
  const figures: Figures = {}
  for (const [name, read] of Object.entries(counters)) figures[name] = await read()
  return figures
}

/**
 * The order of the contenders in a round. What one leaves to do (vacuum, checkpoint, garbage) costs
 * the next one, so over the rounds each one goes first and follows each of the others equally often,
 * in as many rounds as there are contenders, or in twice as many where their number is odd (a Latin
 * square balanced for carry-over: E. J. Williams, 1949).
 */
export function turnsOf<Item>(items: readonly Item[], round: number): Item[] {
  const count = items.length
  const turns = items.map((_, turn) => {
    const step = turn % 2 === 1 ? (turn + 1) / 2 : count - turn / 2
    return items[(step + round) % count] as Item
  })
  const isReversed = count % 2 === 1 && Math.floor(round / count) % 2 === 1
  return isReversed ? turns.toReversed() : turns
}

/** No normal distribution is assumed. */
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

/** The two samples between which the median of all that could be measured lies. */
export type Interval = [low: number, high: number]

/**
 * The interval of 95 % around the median, by the ranks of the samples: each sample is above the
 * median as often as below. `undefined` for less than six samples, which cannot be that sure.
 *
 * @see https://en.wikipedia.org/wiki/Median#Confidence_interval
 */
export function intervalOf(samples: readonly number[]): Interval | undefined {
  const sorted = samples.toSorted((a, b) => a - b)
  const count = sorted.length
  let ways = 1
  let below = ways
  let rank = 0
  // `below / 2 ** count`: how likely at most `rank` of the samples are below the median.
  while (below / 2 ** count <= 0.025) {
    ways = (ways * (count - rank)) / (rank + 1)
    rank++
    below += ways
  }
  const [low, high] = [sorted[rank - 1], sorted[count - rank]]
  return low === undefined || high === undefined ? undefined : [low, high]
}

/** Interpolates between neighbours; NaN for an empty list. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** Round by round. Above 1 is better than the baseline, whether more or less is better. */
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

/** Quantiles of many times, in their unit. */
export interface Spread {
  count: number
  p50: number
  p99: number
  p999: number
}

export function spreadOf(times: Iterable<number>): Spread {
  const sorted = Float64Array.from(times).sort()
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
  }
}
