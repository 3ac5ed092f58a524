/** Events about keys. A payload names the key and never has its text. */
import type { ApiKey } from '../schemas.ts'

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

/** `more`: the fields that only this event has. */
export function keyEvent(name: KeyEventName, key: ApiKey, more: object = {}): KeyEvent {
  const { id: keyId, userId, tenant, keyPrefix, label, expiresAt, lastUsedAt } = key
  const payload = { keyId, userId, tenant, keyPrefix, label, expiresAt, lastUsedAt, ...more }
  return { name, payload }
}
