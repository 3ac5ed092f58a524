/** How much of limits and quotas is used, and which keys and tenants are near theirs. */
import { narrowedReach } from '@svc/core/internal'
import type { Limit, Plan, Quota } from '../limit-fields.ts'
import { underPlan } from '../restrictions.ts'
import { NearLimits, NearLimitsQuery, type LimitUsage } from '../schemas.ts'
import type { Period } from '../tables/allowances.ts'
import {
  findAllotted,
  findPeriodEnds,
  findUsedKeys,
  findUsedTenants,
  type AllottedOf,
  type PeriodEnds,
} from '../tables/limit-usage.ts'
import { operation, reachOfCall, type OperationContext } from './context.ts'

const MOST_NEAR = 100
/** Of which keys and tenants the limits are compared: plans are known to the host alone, one by one. */
const MOST_COMPARED = 1000
const USUAL_SHARE = 0.8

type Held = OperationContext['heldHere']

/** Of what was allotted, this process has not used what it holds. */
function usedOf({ subject, quotas, windows }: AllottedOf, period: Period, held: Held): number {
  const allotted = typeof period === 'number' ? windows[period] : quotas[period]
  return Math.max(0, (allotted ?? 0) - held(subject, period))
}

function usageOf(
  allotted: AllottedOf,
  { limits, quota }: { limits: Limit[] | null; quota: Quota | null },
  ends: PeriodEnds,
  held: Held,
): LimitUsage {
  return {
    quota: quota && {
      used: usedOf(allotted, quota.period, held),
      limit: quota.limit,
      resetsAt: quota.period === 'total' ? null : ends[quota.period],
    },
    limits: (limits ?? []).map(({ limit, perSeconds }) => ({
      used: usedOf(allotted, perSeconds, held),
      limit,
      perSeconds,
    })),
  }
}

/** Keys with what is used of their limits, which are those of the plan where a key has none of its own. */
export async function withUsage<Key extends { id: string }>(
  { readDb, hasPlans, planNameOf, planOf, heldHere }: OperationContext,
  keys: readonly Key[],
): Promise<(Key & { usage: LimitUsage })[]> {
  if (keys.length === 0) return []
  const [rows, ends] = await Promise.all([
    findAllotted(
      readDb,
      keys.map(({ id }) => id),
    ),
    findPeriodEnds(readDb),
  ])
  const byId = new Map(rows.map((row) => [row.keyId, row]))
  return Promise.all(
    keys.map(async (key) => {
      const row = byId.get(key.id)
      if (!row) return { ...key, usage: { quota: null, limits: [] } }
      const rules = underPlan(row, await planOf(row.tenant))
      const usage = usageOf(row, rules, ends, heldHere)
      return {
        ...key,
        usage: hasPlans ? { ...usage, plan: await planNameOf(row.tenant) } : usage,
      }
    }),
  )
}

interface Nearest {
  used: number
  limit: number
  of: 'quota' | 'limit'
  share: number
}

/** The one of which least is left; `undefined` without any. */
function nearestOf({ quota, limits }: LimitUsage): Nearest | undefined {
  const all = [
    ...(quota ? [{ ...quota, of: 'quota' as const }] : []),
    ...limits.map((one) => ({ ...one, of: 'limit' as const })),
  ].map(({ used, limit, of }) => ({ used, limit, of, share: used / limit }))
  return all.toSorted((a, b) => b.share - a.share)[0]
}

const limitsOfTenant = ({ tenantLimits = [], tenantQuota }: Plan, always: readonly Limit[]) => ({
  limits: [...always, ...tenantLimits],
  quota: tenantQuota ?? null,
})

export const nearLimitsOperation = (context: OperationContext) => ({
  nearLimits: operation({
    input: NearLimitsQuery,
    output: NearLimits,
    routes: {
      'GET /near-limits': { summary: 'List keys and tenants that are near their limits' },
    },
    async run(call, { over = USUAL_SHARE, tenant }) {
      const { readDb, planOf, heldHere, settings } = context
      const reach = narrowedReach(reachOfCall(call), tenant)
      if (reach === undefined) return { keys: [], tenants: [] }
      const [keys, tenants, ends] = await Promise.all([
        findUsedKeys(readDb, reach, MOST_COMPARED),
        findUsedTenants(readDb, reach, MOST_COMPARED),
        findPeriodEnds(readDb),
      ])
      const nearKeys = await Promise.all(
        keys.map(async (row) => {
          const rules = underPlan(row, await planOf(row.tenant))
          const nearest = nearestOf(usageOf(row, rules, ends, heldHere))
          const { keyId, label } = row
          return nearest && { keyId, label, tenant: row.tenant, ...nearest }
        }),
      )
      const nearTenants = await Promise.all(
        tenants.map(async (row) => {
          const name = row.subject.slice('tenant:'.length)
          const rules = limitsOfTenant(await planOf(name), settings.tenantLimits ?? [])
          const nearest = nearestOf(usageOf(row, rules, ends, heldHere))
          return nearest && { tenant: name, ...nearest }
        }),
      )
      return { keys: highest(nearKeys, over), tenants: highest(nearTenants, over) }
    },
  }),
})

const highest = <Row extends Nearest>(rows: readonly (Row | undefined)[], over: number): Row[] =>
  rows
    .filter((row) => row !== undefined)
    .filter(({ share }) => share >= over)
    .toSorted((a, b) => b.share - a.share)
    .slice(0, MOST_NEAR)
