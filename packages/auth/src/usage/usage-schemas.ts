/** Input and output of the operation that shows usage. */
import { Type, type Static } from '@sinclair/typebox'
import type { Input } from '@svc/core/internal'
import { closed, timestamp } from '../schema-pieces.ts'
import { tenantFilter } from '../schemas.ts'

export const usageSpan = {
  from: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'By default 24 hours, or 30 days, before `to`.',
    }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'By default now.' })),
  by: Type.Optional(
    Type.Unsafe<'hour' | 'day'>({ type: 'string', enum: ['hour', 'day'], default: 'hour' }),
  ),
}

export const usageFilter = tenantFilter

export const UsageQuery = Type.Object(
  { ...usageSpan, ...usageFilter, keyId: Type.Optional(Type.String()) },
  closed,
)

const count = (description: string) => Type.Integer({ description })

const counts = {
  allowed: count('Requests that reached their route.'),
  rate_limited: count('Refused by a limit of the key or of its tenant.'),
  quota_exceeded: count('Refused by the quota of the key.'),
  forbidden: count('Refused for want of a scope, or for the address that they came from.'),
  expired: count('Refused after the expiry of the key.'),
}

export const Usage = Type.Object({
  from: timestamp(),
  to: timestamp(),
  by: Type.String(),
  totals: Type.Object(counts),
  points: Type.Array(
    Type.Object({
      at: Type.String({ format: 'date-time', description: 'Begin of the hour or day, in UTC.' }),
      ...counts,
    }),
  ),
})

/**
 * Which usage is shown: of a key, of a tenant (`''`: of the operator's keys), or of all keys. `from`
 * and `to` are ISO 8601, `by` is `hour` by default.
 *
 * @example
 * const query: UsageQuery = { tenant: 'acme', by: 'day', from: '2030-01-01T00:00:00Z' }
 */
export type UsageQuery = Input<typeof UsageQuery>
/** Counts of requests, with a point for each hour or day that the span touches. */
export type Usage = Static<typeof Usage>
