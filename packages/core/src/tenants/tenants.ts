/**
 * Who may see and change whose rows, for all packages: a caller becomes a reach, the reach goes
 * into the statements of the tables, and a row outside of it does not exist for the caller.
 */
import { ForeignTenant } from '../errors.ts'
import { wordedPattern } from '../options/patterns.ts'

/** Whose rows: `null` for all, `''` for those without a tenant, else those of this tenant. */
export type Reach = string | null

export const EVERYWHERE: Reach = null

/** What a tenant must be, for messages. */
export const TENANT = '1 to 64 letters, digits, "_", ".", ":" or "-"'

/** A tenant, as hosts name them. */
export const TENANT_PATTERN = wordedPattern('^[A-Za-z0-9_.:-]{1,64}$', TENANT)

export const isTenant = (value: unknown): value is string =>
  typeof value === 'string' && TENANT_REGEXP.test(value)

const TENANT_REGEXP = new RegExp(TENANT_PATTERN)

/** What a caller reaches: a key with a tenant that tenant's rows, every other caller all rows. */
export const reachOf = (caller: { tenant?: string | null } | null | undefined): Reach =>
  caller?.tenant ?? EVERYWHERE

/** Whether a row of this tenant is within a reach. */
export const reaches = (reach: Reach, tenant: string | null): boolean =>
  reach === EVERYWHERE || reach === (tenant ?? '')

/**
 * The rows that a list shows with `?tenant=`.
 *
 * @returns `undefined` where the caller reaches none of them
 */
export function narrowedReach(reach: Reach, requested: string | undefined): Reach | undefined {
  if (reach === EVERYWHERE) return requested ?? EVERYWHERE
  return requested === undefined || requested === reach ? reach : undefined
}

/**
 * The tenant of what a caller makes.
 *
 * @throws ForeignTenant where the caller names another than its own
 */
export function tenantOfNew(reach: Reach, named: string | null | undefined): string | null {
  if (reach === EVERYWHERE) return named ?? null
  if (named !== undefined && named !== reach) throw new ForeignTenant()
  return reach
}

/** The condition of a statement: the tenant in `column` is within the reach in `parameter`. */
export const withinReach = (column: string, parameter: string): string =>
  `(${parameter}::text is null or ${column} = ${parameter} or (${parameter} = '' and ${column} is null))`
