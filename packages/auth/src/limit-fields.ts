/** Limits and quotas as keys and options have them, and which of two allows less. */
import { Type, type Static } from '@sinclair/typebox'
import { isIntegerFrom } from '@svc/core/internal'

const MOST = 1_000_000_000
/** 366 days. */
const LONGEST_SECONDS = 31_622_400
export const MAX_LIMITS = 3

export const Limit = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: MOST, description: 'So many requests' }),
    perSeconds: Type.Integer({
      minimum: 1,
      maximum: LONGEST_SECONDS,
      description: 'in any span of so many seconds.',
    }),
  },
  { additionalProperties: false },
)

/** The period of a quota: a day or a month of UTC, or all time. */
export type QuotaPeriod = 'day' | 'month' | 'total'
const PERIODS: readonly QuotaPeriod[] = ['day', 'month', 'total']

export const Quota = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: MOST }),
    period: Type.Unsafe<QuotaPeriod>({
      type: 'string',
      enum: [...PERIODS],
      description: 'A day or a month of UTC, or all time.',
    }),
  },
  { additionalProperties: false },
)

/**
 * At most `limit` requests in any span of `perSeconds`, over all processes.
 *
 * @example
 * const limit: Limit = { limit: 100, perSeconds: 60 }
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ for the fields
 *   `RateLimit-Policy` and `RateLimit` of an answer
 */
export type Limit = Static<typeof Limit>

/**
 * At most `limit` in a day or a month of UTC, or ever. A request takes 1 of it, or what
 * `config.cost` of its route sets.
 *
 * @example
 * const quota: Quota = { limit: 10_000, period: 'month' }
 */
export type Quota = Static<typeof Quota>

/**
 * What a plan gives to the tenants that have it. What is left out has no limit by the plan.
 *
 * @example
 * const free: Plan = { tenantQuota: { limit: 10_000, period: 'month' }, maxKeys: 5 }
 */
export interface Plan {
  /** The requests with all keys of the tenant together must pass them. */
  tenantLimits?: Limit[] | undefined
  /** What the requests with all keys of the tenant together may use up. */
  tenantQuota?: Quota | undefined
  /** Of each key that has no `limits` of its own; at most 3. */
  keyLimits?: Limit[] | undefined
  /** Of each key that has no `quota` of its own. */
  keyQuota?: Quota | undefined
  /** How many keys the tenant may have that are neither revoked nor expired. */
  maxKeys?: number | undefined
}

const isCount = isIntegerFrom(1, MOST)
const isSpan = isIntegerFrom(1, LONGEST_SECONDS)

/** For limits in options. The schema checks those that come over HTTP. */
export function isLimit(value: unknown): value is Limit {
  if (typeof value !== 'object' || value === null) return false
  const { limit, perSeconds, ...others } = value as Partial<Limit>
  return isCount(limit) && isSpan(perSeconds) && Object.keys(others).length === 0
}

/** For quotas in options. */
export function isQuota(value: unknown): value is Quota {
  if (typeof value !== 'object' || value === null) return false
  const { limit, period, ...others } = value as Partial<Quota>
  const isPeriod = PERIODS.some((one) => one === period)
  return isCount(limit) && isPeriod && Object.keys(others).length === 0
}

/** The span of two limits that have the same one: the higher of the two would have no effect. */
export const repeatedSpan = (limits: readonly Limit[]): number | undefined =>
  limits.find((one, index) => limits.findIndex((other) => sameSpan(one, other)) < index)?.perSeconds

const sameSpan = (one: Limit, other: Limit): boolean => one.perSeconds === other.perSeconds

/** Whether a key that keeps the limits `given` also keeps each of `than`. */
export const areWithin = (given: readonly Limit[] | null, than: readonly Limit[] | null): boolean =>
  (than ?? []).every((bound) => (given ?? []).some((one) => isWithin(one, bound)))

/** Whether a key with the limits `given` counts for each of `than` as before. */
export const keepsSpans = (
  given: readonly Limit[] | null,
  than: readonly Limit[] | null,
): boolean => (than ?? []).every((bound) => (given ?? []).some((one) => sameSpan(one, bound)))

/**
 * Whether `given` is at least as strict as `than`. A span of `than` is covered by several spans of
 * `given`, whose number is rounded up.
 */
const isWithin = (given: Limit, than: Limit): boolean =>
  given.limit * Math.ceil(than.perSeconds / given.perSeconds) <= than.limit

/**
 * How many of one period fall into the longest of another at most: a month has up to 31 days.
 * `total` has no bound on its days and months.
 */
const WITHIN: Record<QuotaPeriod, Partial<Record<QuotaPeriod, number>>> = {
  day: { day: 1, month: 1, total: 1 },
  month: { day: 31, month: 1, total: 1 },
  total: { total: 1 },
}

/** Whether a key that keeps the quota `given` also keeps `than`. */
export function isQuotaWithin(given: Quota | null, than: Quota | null): boolean {
  if (than === null) return true
  const times = given === null ? undefined : WITHIN[than.period][given.period]
  return given !== null && times !== undefined && given.limit * times <= than.limit
}
