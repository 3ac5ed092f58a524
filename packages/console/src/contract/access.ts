/** Users, keys, usage, audit, sessions and health. */
import type { AuditQuery as AuditFilter } from '@svc/core'
import type { KeyUpdate, ListedApiKey, Usage } from '@svc/auth'
import type { Right } from '../rights.ts'

export type {
  ListedApiKey as ApiKey,
  CreatedApiKey,
  Limit,
  LimitUsage,
  NearLimits,
  Quota,
  Usage,
  User,
} from '@svc/auth'
export type { AuditEntry, Health } from '@svc/core'
export type { Right }

/** `owner`: the name of its user; `null` for who may not see users. */
export type ListedKey = ListedApiKey & { owner: string | null }
/** What a key may be given; `null` resets. */
export type KeyFields = Omit<KeyUpdate, 'id'>
export type UsageCounts = Usage['totals']
export type AuditQuery = AuditFilter

/** Who has signed in. `current`: the session of this request. */
export interface ListedSession {
  id: string
  via: 'key' | 'portal'
  userId: string | null
  keyId: string | null
  tenant: string | null
  ip: string | null
  createdAt: string
  expiresAt: string
  current: boolean
}

/** A link into the portal that can still be used. `keyId`: the key with which it ends. */
export interface ListedLink {
  id: string
  tenant: string
  userId: string | null
  can: Right[]
  keyId: string | null
  createdAt: string
  expiresAt: string
}

/** What each has, counted up to 1000. */
export interface TenantSummary {
  tenant: string
  users: number
  keys: number
  webhooks: number
}
