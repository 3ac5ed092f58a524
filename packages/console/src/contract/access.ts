/** Users, keys, usage, audit, sessions and health. */
import type { OfTenant, Paging, Span } from './lists.ts'

/** The rights that a session can have. */
export type Right =
  | 'webhooks:read'
  | 'webhooks:write'
  | 'deliveries:read'
  | 'deliveries:write'
  | 'events:read'
  | 'inbound:read'
  | 'inbound:write'
  | 'keys:read'
  | 'keys:write'
  | 'users:read'
  | 'users:write'
  | 'tenants:read'
  | 'tenants:write'
  | 'audit:read'
  | 'health:read'
  | 'sessions:read'
  | 'sessions:write'

export interface Limit {
  limit: number
  perSeconds: number
}

export interface Quota {
  limit: number
  period: 'day' | 'month' | 'total'
}

/** What a key may be given; `null` resets. */
export interface KeyFields {
  label?: string | null
  expiresAt?: string | null
  scopes?: string[]
  enabled?: boolean
  metadata?: Record<string, string> | null
  allowedIps?: string[] | null
  limits?: Limit[] | null
  quota?: Quota | null
}

export interface ApiKey extends Required<KeyFields> {
  id: string
  userId: string
  tenant: string | null
  /** Its first 8 characters. */
  keyPrefix: string
  createdAt: string
  revokedAt: string | null
  lastUsedAt: string | null
  replaces: string | null
  replacedBy: string | null
}

/** A new key, with its text, which is never shown again. */
export interface CreatedApiKey extends Omit<ApiKey, 'revokedAt' | 'lastUsedAt'> {
  key: string
}

export interface User {
  id: string
  email: string
  name: string
  role: string
  tenant: string | null
  createdAt: string
}

export interface UsageCounts {
  allowed: number
  rate_limited: number
  quota_exceeded: number
  forbidden: number
  expired: number
}

export interface Usage {
  from: string
  to: string
  by: string
  totals: UsageCounts
  points: (UsageCounts & { at: string })[]
}

export interface AuditEntry {
  id: string
  at: string
  tenant: string | null
  actor: {
    kind: 'key' | 'bootstrap' | 'console' | 'process' | 'system'
    keyId: string | null
    userId: string | null
    /** At the time: the label of the key, or the name of its user. */
    name: string | null
  }
  /** Such as `webhook.update`. */
  action: string
  /** `name`: at the time; of a webhook without a label its URL. */
  target: { kind: string; id: string; name: string | null }
  changes: Record<string, { from: unknown; to: unknown }> | null
  requestId: string | null
  ip: string | null
}

export interface AuditQuery extends Paging, OfTenant, Span {
  actor?: string
  target?: string
  action?: string
}

export interface Health {
  ok: boolean
  database: { ok: boolean; latencyMs: number | null }
  listener: { ok: boolean }
  queues: {
    queue: string
    waiting: number
    active: number
    oldestSeconds: number | null
    dead: number
  }[]
}

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

/** See `svc.console.portalLink`. */
export interface PortalLinkInput {
  tenant: string
  can?: Right[]
  userId?: string | null
  expiresInSeconds?: number
}

/** A link into the portal that nobody has followed yet. `keyId`: the key with which it ends. */
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
