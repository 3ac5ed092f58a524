/** What is written and published of changes of keys: entries of the audit, and events. */
import { changesOf, type AuditRecord } from '@svc/core/internal'
import type { ApiKey } from '../schemas.ts'
import type { EndedKey } from '../tables/api-keys.ts'
import type { Change } from './context.ts'

export type KeyEventName =
  | 'svc.key.created'
  | 'svc.key.rotated'
  | 'svc.key.revoked'
  | 'svc.key.expiring'
  | 'svc.key.expired'
  | 'svc.key.unused'
  | 'svc.key.leaked'

export interface KeyEvent {
  name: KeyEventName
  payload: { tenant: string | null }
}

/** A payload names the key and never has its text. `more`: the fields that only this event has. */
export function keyEvent(name: KeyEventName, key: ApiKey, more: object = {}): KeyEvent {
  const { id: keyId, userId, tenant, keyPrefix, label, expiresAt, lastUsedAt } = key
  const payload = { keyId, userId, tenant, keyPrefix, label, expiresAt, lastUsedAt, ...more }
  return { name, payload }
}

export const keyRecord = (
  action: string,
  { id, tenant }: ApiKey,
  before: object,
  after: object,
): AuditRecord => ({
  action,
  tenant,
  target: { kind: 'key', id },
  changes: changesOf({ ...before }, { ...after }, ['key']),
})

/** In a chain of rotations at most two keys are valid, so that the number of keys stays bounded. */
export const endOf = ({ key, endedAt }: EndedKey): AuditRecord =>
  keyRecord('key.update', key, { expiresAt: key.expiresAt }, { expiresAt: endedAt })

export const revocationOf = (key: ApiKey): Change => ({
  ...keyRecord('key.revoke', key, { revoked: false }, { revoked: true }),
  event: keyEvent('svc.key.revoked', key),
})
