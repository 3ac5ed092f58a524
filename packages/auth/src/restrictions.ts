/** Compares the rights of two keys: a key never grants more than it has. */
import { isCoveredBy } from './addresses.ts'
import { NotGrantable, ScopeNotGrantable } from './errors.ts'
import type { Bounds, KeyFields } from './key-fields.ts'
import { areWithin, isQuotaWithin, keepsSpans, type Plan } from './limit-fields.ts'
import type { ScopeNames } from './scopes.ts'

/** The fields that decide what a key may do. */
export type Powers = Pick<KeyFields, 'scopes' | 'expiresAt' | 'allowedIps' | 'limits' | 'quota'>

const RESTRICTIONS = ['expiresAt', 'allowedIps', 'limits', 'quota'] as const
type Restriction = (typeof RESTRICTIONS)[number]

/** Whether a key that this one makes must be restricted as well. */
export const isRestricted = (key: Powers): boolean =>
  RESTRICTIONS.some((field) => key[field] !== null)

/** Restrictions of `grantor` that `given` does not have, by the names of their fields. */
function liftedRestrictions(
  grantor: Pick<Powers, Restriction>,
  given: Pick<Powers, Restriction>,
): Restriction[] {
  const lifted: Record<Restriction, boolean> = {
    expiresAt: endsLater(given.expiresAt, grantor.expiresAt),
    allowedIps: allowsMoreAddresses(given.allowedIps, grantor.allowedIps),
    limits: !areWithin(given.limits, grantor.limits),
    quota: !isQuotaWithin(given.quota, grantor.quota),
  }
  return RESTRICTIONS.filter((field) => lifted[field])
}

export const endsLater = (given: string | null, than: string | null): boolean =>
  than !== null && (given === null || Date.parse(given) > Date.parse(than))

const allowsMoreAddresses = (
  given: readonly string[] | null,
  than: readonly string[] | null,
): boolean => than !== null && (given === null || !isCoveredBy(given, than))

/** Whether a change gives a key more than it had. */
export function isWider(
  names: ScopeNames,
  before: Powers & { enabled: boolean },
  after: Powers & { enabled: boolean },
): boolean {
  return (
    names.areMore(before.scopes, after.scopes) ||
    liftedRestrictions(before, after).length > 0 ||
    (!before.enabled && after.enabled)
  )
}

/**
 * Whether the key of the caller may make this change of a key. What restricts the key anew must be as
 * strict as what restricts the caller, also where it was less strict before.
 *
 * @throws ScopeNotGrantable, NotGrantable
 */
export function assertMayChange(
  names: ScopeNames,
  grantor: Powers,
  before: Powers & { enabled: boolean },
  after: Powers & { enabled: boolean },
): void {
  if (isWider(names, before, after)) return assertMayGrant(names, grantor, after)
  const fields = liftedRestrictions(grantor, after).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  )
  if (fields.length > 0) throw new NotGrantable(fields.join(', '))
}

/**
 * A key that changes itself keeps what it has used: another span of a limit, or another period of the
 * quota, would begin a new count.
 *
 * @throws NotGrantable
 */
export function assertKeepsCounts(
  before: Pick<Powers, 'limits' | 'quota'>,
  after: Pick<Powers, 'limits' | 'quota'>,
): void {
  const [limits, quota] = [before.limits, before.quota]
  if (!keepsSpans(after.limits, limits)) {
    throw new NotGrantable('limits (of its own it keeps each perSeconds: another one counts anew)')
  }
  if (quota !== null && quota.period !== after.quota?.period) {
    throw new NotGrantable('quota (of its own it keeps the period: another one counts anew)')
  }
}

/**
 * A caller of a tenant gives a key no limits and no quota that are less strict than those that the plan of
 * the tenant gives to each key. Where it gives none, those of the plan hold.
 *
 * @throws NotGrantable
 */
export function assertWithinPlan(
  plan: Plan,
  before: Pick<Powers, 'limits' | 'quota'> | undefined,
  given: Pick<Powers, 'limits' | 'quota'>,
): void {
  const isGiven = (field: 'limits' | 'quota') =>
    given[field] !== null && JSON.stringify(given[field]) !== JSON.stringify(before?.[field])
  const isLimitsOver = isGiven('limits') && !areWithin(given.limits, plan.keyLimits ?? null)
  const isQuotaOver = isGiven('quota') && !isQuotaWithin(given.quota, plan.keyQuota ?? null)
  const fields = [isLimitsOver && 'limits', isQuotaOver && 'quota'].filter(
    (field) => field !== false,
  )
  if (fields.length > 0) throw new NotGrantable(fields.join(', '))
}

/** What holds for a key by its own fields, or else by the plan of its tenant. */
export const underPlan = (
  { limits, quota }: Pick<Powers, 'limits' | 'quota'>,
  plan: Plan,
): Pick<Powers, 'limits' | 'quota'> => ({
  limits: limits ?? plan.keyLimits ?? null,
  quota: quota ?? plan.keyQuota ?? null,
})

/** The bounds of a key that nobody has restricted. */
export const UNBOUND: Bounds = {
  expiresAt: null,
  allowedIps: null,
  limits: null,
  quota: null,
  enabled: true,
}

export const boundsOf = ({ expiresAt, allowedIps, limits, quota, enabled }: Bounds): Bounds => ({
  expiresAt,
  allowedIps,
  limits,
  quota,
  enabled,
})

/**
 * Whether a caller that may not loosen keys may make this change: of what it changes nothing is looser
 * than `bounds`, and no count begins anew.
 *
 * @throws NotGrantable
 */
export function assertWithinBounds(bounds: Bounds, before: Bounds, after: Bounds): void {
  const isChanged = (field: keyof Bounds) =>
    JSON.stringify(before[field]) !== JSON.stringify(after[field])
  const loosened = [
    ...liftedRestrictions(bounds, after),
    ...(after.enabled && !bounds.enabled ? (['enabled'] as const) : []),
  ].filter(isChanged)
  if (loosened.length > 0) throw new NotGrantable(loosened.join(', '))
  if (isChanged('limits') || isChanged('quota')) assertKeepsCounts(bounds, after)
}

/**
 * Whether the key of the caller has all that it gives to a key.
 *
 * @throws ScopeNotGrantable, NotGrantable
 */
export function assertMayGrant(names: ScopeNames, grantor: Powers, given: Powers): void {
  const withheld = names.ungrantable(grantor.scopes, given.scopes)
  if (withheld.length > 0) throw new ScopeNotGrantable(withheld.join(', '))
  const fields = liftedRestrictions(grantor, given)
  if (fields.length > 0) throw new NotGrantable(fields.join(', '))
}
