/** Calls by code of this process on behalf of a person: a page of the host's own, a console. */
import { BY_PROCESS, storedOrigin, type AuditOrigin } from './audit-origin.ts'
import { ACTOR_KINDS, isUserId, USER_ID, type AuditActor } from './audit-entry.ts'
import { InvalidInput } from '../errors.ts'
import { isUuid } from '../ids.ts'
import { isPlainObject, kindOf } from '../options/check-options.ts'
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
  /** The actor that the audit records; its `userId` has at most 200 characters. @default kind 'process' */
  actor?: AuditActor | undefined
  /** The id of the request, for the audit. @default null */
  requestId?: string | null | undefined
  /** The address that it came from, for the audit. @default null */
  ip?: string | null | undefined
}

/** @throws InvalidInput: a tenant that was forgotten must not reach everything, and the audit keeps the actor */
export function callerFor(who: OnBehalfOf): { reach: Reach; origin: AuditOrigin } {
  const { tenant, actor = BY_PROCESS.actor, requestId = null, ip = null } = who
  if (tenant !== null && !isTenant(tenant)) {
    throw new InvalidInput(`tenant must be ${TENANT}, or null for the operator`)
  }
  assertActor(actor)
  return { reach: tenant ?? EVERYWHERE, origin: storedOrigin(actor, requestId, ip) }
}

/** @throws InvalidInput */
function assertActor(actor: unknown): void {
  if (!isPlainObject(actor)) {
    throw new InvalidInput(`actor must be an object { kind, keyId, userId }, got ${kindOf(actor)}`)
  }
  const { kind, keyId = null, userId = null } = actor
  if (!(ACTOR_KINDS as readonly unknown[]).includes(kind)) {
    throw new InvalidInput(`actor.kind must be one of ${ACTOR_KINDS.join(', ')}`)
  }
  if (keyId !== null && !isUuid(keyId)) {
    throw new InvalidInput('actor.keyId must be the id of a key, or null')
  }
  if (!isUserId(userId)) throw new InvalidInput(`actor.userId must be ${USER_ID}, or null`)
}
