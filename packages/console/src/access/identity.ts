/** Who makes a request: by a session of the console, or by the login of the host. */
import type { CheckedKey } from '@svc/auth'
import { InvalidAccess } from '../errors.ts'
import type { Access } from '../options.ts'
import { EXPECTED_CAN, isCan, rightsOf, rightsOfScopes, type Right } from '../rights.ts'
import { isTenant, isUserId, USER_ID } from '@svc/core/internal'
import type { Look, SessionRow } from '../tables/sessions.ts'

export interface Identity {
  via: 'key' | 'portal' | 'host'
  /** `null` where the login is that of the host. */
  sessionId: string | null
  userId: string | null
  keyId: string | null
  /** `null` for an operator. */
  tenant: string | null
  rights: readonly Right[]
  /** Scopes that it holds, and so may give to keys. */
  scopes: readonly string[]
  expiresAt: string | null
  /** Whether each key that it makes must be restricted, as the key of its session is. */
  isRestricted: boolean
  /** Whether it may loosen what others have set on a key. The key of a session bounds it by itself. */
  mayLoosen: boolean
  /** When the key of its session expires. */
  keyExpiresAt: string | null
  /** Of its page. */
  look: Look
}

export const PLAIN: Look = { embed: false, colorScheme: 'auto' }

/** What a session needs of the key that it ends with. */
export type SessionKey = Pick<
  CheckedKey,
  'tenant' | 'scopes' | 'managementScopes' | 'isRestricted' | 'expiresAt'
>

/** `key`: what the key of the session is now. */
export const identityOfKey = (session: SessionRow, key: SessionKey): Identity => ({
  ...factsOf(session),
  rights: rightsOfScopes(key.managementScopes, session.tenant),
  scopes: key.scopes,
  isRestricted: key.isRestricted,
  mayLoosen: true,
  keyExpiresAt: key.expiresAt,
})

export const identityOfPortal = (session: SessionRow, scopes: readonly string[]): Identity => ({
  ...factsOf(session),
  // Checked again: a version since then may give tenants fewer rights than the link was made with.
  rights: rightsOf(session.rights ?? [], session.tenant),
  scopes,
  isRestricted: false,
  mayLoosen: false,
  keyExpiresAt: null,
})

/** Whether it may do what requires `admin`. */
export const isAdmin = ({ tenant, scopes }: Pick<Identity, 'tenant' | 'scopes'>): boolean =>
  tenant === null && scopes.includes('admin')

const factsOf = ({ id, via, userId, keyId, tenant, expiresAt, look }: SessionRow) => ({
  look: look ?? PLAIN,
  sessionId: id,
  via,
  userId,
  keyId,
  tenant,
  expiresAt,
})

/** @throws InvalidAccess where a field is missing: a missing tenant must not mean an operator */
export function identityOfAccess(access: Access, scopes: readonly string[]): Identity {
  const { userId = null, tenant, can, mayLoosen } = access
  if (tenant !== null && !isTenant(tenant)) {
    throw new InvalidAccess(
      'svcConsole: the option "access" must return a tenant, or null for an operator',
    )
  }
  if (!isUserId(userId)) {
    throw new InvalidAccess(
      `svcConsole: the option "access" must return a userId, ${USER_ID}, or null`,
    )
  }
  if (!isCan(can)) {
    throw new InvalidAccess(`svcConsole: the option "access" must return can: ${EXPECTED_CAN}`)
  }
  if (mayLoosen !== undefined && typeof mayLoosen !== 'boolean') {
    throw new InvalidAccess(
      'svcConsole: the option "access" must return mayLoosen: true or false, or leave it out',
    )
  }
  const isTrusted = tenant === null && can === 'all'
  return {
    via: 'host',
    sessionId: null,
    userId,
    keyId: null,
    tenant,
    rights: rightsOf(can, tenant),
    scopes: isTrusted ? ['admin'] : scopes,
    expiresAt: null,
    isRestricted: false,
    mayLoosen: mayLoosen ?? isTrusted,
    keyExpiresAt: null,
    look: PLAIN,
  }
}
