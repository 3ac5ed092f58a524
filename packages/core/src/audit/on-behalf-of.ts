/** Calls by code of this process on behalf of a person: a page of the host's own, a console. */
import { BY_PROCESS, type AuditOrigin } from './audit-origin.ts'
import type { AuditActor } from './audit-entry.ts'
import { InvalidInput } from '../errors.ts'
import { EVERYWHERE, isTenant, TENANT, type Reach } from '../tenants/tenants.ts'

/**
 * For whom `svc.auth.as` and `svc.webhooks.as` act.
 *
 * @example
 * const ada: OnBehalfOf = {
 *   tenant: 'acme',
 *   actor: { kind: 'process', userId: 'ada', keyId: null },
 * }
 */
export interface OnBehalfOf {
  /** The tenant within which it acts; `null` for the operator, who reaches all of them. */
  tenant: string | null
  /** The actor that the audit records. @default kind 'process' */
  actor?: AuditActor | undefined
  /** The id of the request, for the audit. @default null */
  requestId?: string | null | undefined
  /** The address that it came from, for the audit. @default null */
  ip?: string | null | undefined
}

/** @throws InvalidInput: a tenant that was forgotten must not reach everything */
export function callerFor(who: OnBehalfOf): { reach: Reach; origin: AuditOrigin } {
  const { tenant, actor = BY_PROCESS.actor, requestId = null, ip = null } = who
  if (tenant !== null && !isTenant(tenant)) {
    throw new InvalidInput(`tenant must be ${TENANT}, or null for the operator`)
  }
  return { reach: tenant ?? EVERYWHERE, origin: { actor, requestId, ip } }
}
