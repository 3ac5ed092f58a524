/** The fields of a key as an operation writes them: checked, and with their defaults. */
import { InvalidInput } from '@svc/core'
import { isNetwork } from '../addresses.ts'
import {
  ExpiryInPast,
  ExpiryTooLate,
  InvalidExpiry,
  InvalidNetwork,
  LifetimeTooLong,
  UnknownScope,
} from '../errors.ts'
import type { KeyFields } from '../key-fields.ts'
import { repeatedSpan } from '../limit-fields.ts'
import type { ApiKey, KeyChanges } from '../schemas.ts'
import { DEFAULT_SCOPES, type Scope, type ScopeNames } from '../scopes.ts'

/** The default fields of a key. */
export const DEFAULT_FIELDS: KeyFields = {
  label: null,
  scopes: [...DEFAULT_SCOPES],
  expiresAt: null,
  enabled: true,
  metadata: null,
  allowedIps: null,
  limits: null,
  quota: null,
}

/** The fields of a key. */
export const fieldsOf = (key: ApiKey): KeyFields => {
  const { label, scopes, expiresAt, enabled, metadata, allowedIps, limits, quota } = key
  return { label, scopes, expiresAt, enabled, metadata, allowedIps, limits, quota }
}

/**
 * The fields of a new key, or of `before` with changes.
 *
 * @throws UnknownScope, ExpiryInPast, ExpiryTooLate, InvalidExpiry, InvalidNetwork, InvalidInput
 */
export function checkedFields(
  names: ScopeNames,
  given: KeyChanges,
  before: KeyFields = DEFAULT_FIELDS,
): KeyFields {
  const changed = Object.entries(given).filter(([, value]) => value !== undefined)
  const fields: KeyFields = { ...before, ...(Object.fromEntries(changed) as Partial<KeyFields>) }
  if (fields.limits?.length === 0) fields.limits = null
  if (given.scopes !== undefined) assertDeclared(given.scopes, names)
  const span = repeatedSpan(given.limits ?? [])
  if (span !== undefined) {
    throw new InvalidInput(
      `limits must have one limit for each perSeconds, but has two for ${span}`,
    )
  }
  const wrong = given.allowedIps?.find((cidr) => !isNetwork(cidr))
  if (wrong !== undefined) throw new InvalidNetwork(wrong)
  return given.expiresAt ? { ...fields, expiresAt: futureTime(given.expiresAt) } : fields
}

const DAY_MS = 24 * 3600_000

/**
 * An expiry within the longest life of a key, which a key without an expiry gets.
 *
 * @param madeAt milliseconds since 1970
 * @throws LifetimeTooLong
 */
export function withinLifetime(
  fields: KeyFields,
  madeAt: number,
  maxDays: number | undefined,
): KeyFields {
  if (maxDays === undefined) return fields
  const latest = madeAt + maxDays * DAY_MS
  // A key from before the option may be older than it allows: a new expiry would end it at once.
  if (latest <= Date.now()) throw new LifetimeTooLong(String(maxDays))
  if (fields.expiresAt === null) return { ...fields, expiresAt: new Date(latest).toISOString() }
  if (Date.parse(fields.expiresAt) > latest) throw new LifetimeTooLong(String(maxDays))
  return fields
}

function assertDeclared(scopes: readonly Scope[], names: ScopeNames): void {
  const unknown = names.findUnknown(scopes)
  if (unknown !== undefined) throw new UnknownScope(unknown, names.known.join(', '))
}

/** The first instant that ISO 8601 cannot write with four digits of a year. */
const END_OF_TIME = Date.UTC(10_000, 0, 1)

/** ISO 8601 in UTC. */
function futureTime(text: string): string {
  const time = new Date(text)
  // A leap second has the right format, and no place in JavaScript's time.
  if (Number.isNaN(time.getTime())) throw new InvalidExpiry()
  if (time.getTime() >= END_OF_TIME) throw new ExpiryTooLate()
  if (time.getTime() <= Date.now()) throw new ExpiryInPast()
  return time.toISOString()
}
