/** The statistics of deliveries. */
import {
  narrowedReach,
  nullable,
  TenantFilter,
  type Core,
  type Db,
  type Input,
} from '@svc/core/internal'
import { InvalidSpan, TooManyPoints } from '../errors.ts'
import { BOUNDS, readStats, type StatsRow, type StatsSelection } from '../tables/stats.ts'
import { operation, hiddenFrom } from '../caller.ts'
import { Type, type Static } from '@sinclair/typebox'
import { closed, EventName, oneOf, Time, Uuid } from '../schema-pieces.ts'

const Count = Type.Integer()
const Percentile = nullable(Type.Integer())
const Percentiles = Type.Object(
  { p50: Percentile, p95: Percentile, p99: Percentile },
  { description: 'In milliseconds, from a histogram; null where nothing was counted.' },
)

const By = oneOf(['minute', 'hour', 'day'])

const StatsQuery = Type.Object(
  {
    from: Type.Optional(Time),
    to: Type.Optional(Time),
    by: Type.Optional(By),
    webhookId: Type.Optional(Uuid),
    tenant: TenantFilter,
    event: Type.Optional(EventName),
  },
  closed,
)
/**
 * Of which span and what; by default the last day by the hour, of all webhooks. `from` and `to` are
 * ISO 8601, rounded to whole minutes, hours or days of UTC: at most 1000 of them.
 *
 * @example
 * const query: StatsQuery = { webhookId, by: 'minute', from: '2030-01-31T12:00:00Z' }
 */
export type StatsQuery = Input<typeof StatsQuery>

const Stats = Type.Object({
  from: Time,
  to: Time,
  by: By,
  points: Type.Array(
    Type.Object({
      at: Time,
      attempts: Type.Object({ delivered: Count, failed: Count, skipped: Count }),
      deliveries: Type.Object({ delivered: Count, dead: Count }),
      durationMs: Percentiles,
      firstAttemptMs: Percentiles,
    }),
  ),
})
/**
 * Attempts, deliveries and latencies, a point for each minute, hour or day (UTC) of the span. Latencies
 * are percentiles in milliseconds: of an attempt, and from the publish to the first attempt.
 */
export type Stats = Static<typeof Stats>

const MINUTE_MS = 60_000
const STEP_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 24 * 60 * MINUTE_MS }
/** How many points are returned without `from`. */
const DEFAULT_POINTS = { minute: 60, hour: 24, day: 30 }
const MOST_POINTS = 1000
/** The days between which Postgres and ISO 8601 write times alike. */
const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z')
const LAST_TIME = Date.parse('9999-12-31T00:00:00Z')

const NOTHING: Omit<StatsRow, 'at'> = {
  delivered: 0,
  failed: 0,
  skipped: 0,
  dead: 0,
  durations: [],
  firstAttempts: [],
}

/** A reading that took less is not remembered. */
const LONG_MS = 100
const LONGEST_REMEMBERED_MS = 10_000

/**
 * Readings of the same statistics at the same time are one. What took long is remembered for ten times as
 * long, ten seconds at most: many pages ask the same again and again.
 */
class RememberedStats {
  #db: Db
  #readings = new Map<string, Promise<StatsRow[]>>()

  constructor(db: Db) {
    this.#db = db
  }

  read(selection: StatsSelection): Promise<StatsRow[]> {
    const key = JSON.stringify(selection)
    const known = this.#readings.get(key)
    if (known) return known
    const startedMs = performance.now()
    const reading = readStats(this.#db, selection)
    this.#readings.set(key, reading)
    const forget = () => void this.#readings.delete(key)
    reading.then(() => {
      const tookMs = performance.now() - startedMs
      if (tookMs < LONG_MS) forget()
      else setTimeout(forget, Math.min(LONGEST_REMEMBERED_MS, 10 * tookMs)).unref()
    }, forget)
    return reading
  }
}

export function statsOperation(core: Pick<Core, 'readDb'>) {
  const remembered = new RememberedStats(core.readDb)
  return operation({
    input: StatsQuery,
    output: Stats,
    routes: {
      'GET /stats': {
        summary: 'Count attempts and deliveries by the minute, hour or day, with their latencies',
      },
    },
    async run(caller, query) {
      const { by = 'hour', tenant, webhookId, event } = query
      const step = STEP_MS[by]
      const end = query.to === undefined ? Date.now() + 1 : Date.parse(query.to)
      const to = Math.min(LAST_TIME, Math.ceil(end / step) * step)
      const from =
        query.from === undefined
          ? Math.max(FIRST_TIME, to - DEFAULT_POINTS[by] * step)
          : Math.floor(Date.parse(query.from) / step) * step
      if (from >= to) throw new InvalidSpan('to', 'from')
      const count = (to - from) / step
      if (count > MOST_POINTS) throw new TooManyPoints(String(count), String(MOST_POINTS))

      const span = { from: isoOf(from), to: isoOf(to), by }
      const narrowed = narrowedReach(caller.reach, tenant)
      const rows =
        narrowed === undefined
          ? []
          : await remembered.read({
              ...span,
              ...hiddenFrom(caller),
              reach: narrowed,
              webhookId,
              event,
            })
      const rowAt = new Map(rows.map((row) => [row.at, row]))
      const points = Array.from({ length: count }, (_, index) => {
        const at = from + index * step
        return pointOf(at, rowAt.get(at) ?? NOTHING)
      })
      return { ...span, points }
    },
  })
}

const pointOf = (at: number, row: Omit<StatsRow, 'at'>) => ({
  at: isoOf(at),
  attempts: { delivered: row.delivered, failed: row.failed, skipped: row.skipped },
  deliveries: { delivered: row.delivered, dead: row.dead },
  durationMs: percentilesOf(row.durations),
  firstAttemptMs: percentilesOf(row.firstAttempts),
})

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** `null` where nothing was counted. */
export const percentilesOf = (counts: readonly number[]) => ({
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
