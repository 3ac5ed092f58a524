/** The input and output of the statistics. */
import { Type, type Static } from '@sinclair/typebox'
import { nullable, TenantFilter, type Input } from '@svc/core/internal'
import { closed, EventName, oneOf, Time, Uuid } from './schema-pieces.ts'

const Count = Type.Integer()
const Percentile = nullable(Type.Integer())
const Percentiles = Type.Object(
  { p50: Percentile, p95: Percentile, p99: Percentile },
  { description: 'In milliseconds, from a histogram; null where nothing was counted.' },
)

const By = oneOf(['minute', 'hour', 'day'])

export const StatsQuery = Type.Object(
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

export const Stats = Type.Object({
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
