/** The entries of the audit about keys. */
import { changesOf, type AuditRecord } from '@svc/core/internal'
import type { ApiKey } from '../schemas.ts'
import type { EndedKey } from '../tables/api-keys.ts'
import type { Change } from './context.ts'
import { keyEvent } from './key-events.ts'

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
  action: 'key.revoke',
  tenant: key.tenant,
  target: { kind: 'key', id: key.id },
  changes: changesOf({ revoked: false }, { revoked: true }),
  event: keyEvent('svc.key.revoked', key),
})
