/** How often keys were used, and what came of it. */
import { isUuid, narrowedReach } from '@svc/core/internal'
import { InvalidUsageSpan, KeyNotFound } from '../errors.ts'
import { findApiKey } from '../tables/api-keys.ts'
import { findUsage, NO_USES, OUTCOMES, type Counts, type UsagePoint } from '../tables/usage.ts'
import { tenantFilter, Usage, UsageQuery, usageSpan } from '../schemas.ts'
import { operation, reachOfCall, type OperationContext } from './context.ts'

const MAX_POINTS = 1000
const HOUR_MS = 3_600_000
const LENGTH_MS = { hour: HOUR_MS, day: 24 * HOUR_MS }
/** How many points a span without a `from` has. */
const POINTS = { hour: 24, day: 30 }

export const usageOperations = ({ readDb, writeUsage }: OperationContext) => ({
  /** The usage of all keys that the caller reaches, or of one. */
  getUsage: operation({
    input: UsageQuery,
    output: Usage,
    routes: {
      'GET /keys/:id/usage': {
        names: { id: 'keyId' },
        takes: usageSpan,
        summary: 'Count the requests with a key by what came of them',
      },
      'GET /usage': {
        takes: { ...usageSpan, ...tenantFilter },
        summary: 'Count the requests with all keys by what came of them',
      },
    },
    async run(caller, query) {
      const { keyId, tenant, by = 'hour' } = query
      const { from, to } = spanOf(query, by)
      const reach = reachOfCall(caller)
      if (keyId !== undefined && !(isUuid(keyId) && (await findApiKey(readDb, keyId, reach)))) {
        throw new KeyNotFound()
      }
      await writeUsage()
      const filter = { from, to, by, keyId: keyId ?? null }
      const narrowed = narrowedReach(reach, tenant)
      // A tenant that the caller does not reach has used nothing.
      const found = await findUsage(readDb, {
        ...filter,
        reach: narrowed === undefined ? reach : narrowed,
      })
      const points = narrowed === undefined ? found.map(({ at }) => ({ at, ...NO_USES })) : found
      return {
        from: from.toISOString(),
        to: to.toISOString(),
        by,
        totals: totalsOf(points),
        points,
      }
    },
  }),
})

/** The first time that Postgres and ISO 8601 write alike. */
const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z')

/** @throws InvalidUsageSpan */
function spanOf({ from, to }: UsageQuery, by: 'hour' | 'day'): { from: Date; to: Date } {
  const end = to === undefined ? new Date() : new Date(to)
  const before = Math.max(FIRST_TIME, end.getTime() - POINTS[by] * LENGTH_MS[by])
  const start = from === undefined ? new Date(before) : new Date(from)
  const points = (end.getTime() - start.getTime()) / LENGTH_MS[by]
  if (!(points > 0 && points <= MAX_POINTS)) throw new InvalidUsageSpan(String(MAX_POINTS))
  return { from: start, to: end }
}

function totalsOf(points: readonly UsagePoint[]): Counts {
  const totals = { ...NO_USES }
  for (const point of points) for (const outcome of OUTCOMES) totals[outcome] += point[outcome]
  return totals
}
