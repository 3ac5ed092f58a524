/** Input and output of the operations, for routes, `svc.auth` and actions. */
import { Type, type Static } from '@sinclair/typebox'
import {
  STORABLE_TEXT,
  nullable,
  Search,
  Tenant,
  TenantFilter,
  type Input,
} from '@svc/core/internal'
import {
  importedKeyFields,
  closed,
  keyChanges,
  keyState,
  rotation,
  shownKeyFields,
  text,
  timestamp,
  type KeyState,
} from './key-fields.ts'

export const Id = Type.String()

export const NewUser = Type.Object(
  {
    email: Type.String({ format: 'email', maxLength: 254 }),
    name: text(200),
    role: Type.Optional(text(100)),
    tenant: Type.Optional(Tenant),
  },
  closed,
)

export const User = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Type.String(),
  tenant: nullable(Type.String()),
  createdAt: timestamp(),
})

export const NewApiKey = Type.Object(
  { userId: Type.String(), tenant: Type.Optional(Tenant), ...keyChanges },
  closed,
)

export const KeyUpdate = Type.Object({ id: Type.String(), ...keyChanges }, closed)

export const ImportedKey = Type.Object({ userId: Type.String(), ...importedKeyFields }, closed)

export const KeyImport = Type.Object(
  { keys: Type.Array(ImportedKey, { maxItems: 10_000 }) },
  closed,
)

export const ImportResult = Type.Object({
  imported: Type.Integer(),
  skipped: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Its place in the list, from 0 on.' }),
      reason: Type.Unsafe<'known'>({
        type: 'string',
        enum: ['known'],
        description: 'A key, which may be revoked, or an earlier entry has its hash.',
      }),
    }),
  ),
})

export const OwnRotation = Type.Object(rotation, closed)

export const KeyRotation = Type.Object({ id: Type.String(), ...rotation }, closed)

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  after: Type.Optional(Type.String({ format: 'uuid' })),
}

export const Page = Type.Object(page, closed)

export const tenantFilter = { tenant: TenantFilter }

/** The filters that `GET <base>/users` and `svc.auth.listUsers` share. */
export const userFilter = { ...tenantFilter, search: Search }

export const UserFilter = Type.Object(
  { ...page, ...userFilter, ids: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })) },
  closed,
)

/** The filters that `GET <base>/keys` and `svc.auth.listApiKeys` share. */
export const keyFilter = {
  ...tenantFilter,
  userId: Type.Optional(Type.String({ pattern: STORABLE_TEXT })),
  prefix: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8,
      pattern: STORABLE_TEXT,
      description: 'The first characters of the key, as far as `keyPrefix` shows them.',
    }),
  ),
  state: Type.Optional(keyState),
  unusedSince: Type.Optional(
    Type.String({ format: 'date-time', description: 'Not used from this time on, or never.' }),
  ),
  expiresWithinDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description: 'Keys in use that end within so many days and have no successor.',
    }),
  ),
  lifetimeOverDays: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, description: 'Keys that were made for longer.' }),
  ),
  search: Search,
}

const include = {
  include: Type.Optional(
    Type.Literal('usage', { description: 'With what is used of limits and quota.' }),
  ),
}

export const OneKey = Type.Object({ id: Type.String(), ...include }, closed)

/** `userId` need not be a UUID: there are no keys of such a user. */
export const KeyFilter = Type.Object({ ...page, ...keyFilter, ...include }, closed)

/** The query of a route has the `tenant` as well, which the method refuses. */
export const KeysOfUser = Type.Object({ userId: Type.String(), ...page, ...include }, closed)

export const ApiKey = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  tenant: nullable(Type.String()),
  keyPrefix: Type.String(),
  ...shownKeyFields,
  createdAt: timestamp(),
  revokedAt: nullable(timestamp()),
  lastUsedAt: nullable(timestamp()),
  replaces: nullable(Type.String({ description: 'The key that it was rotated from.' })),
  replacedBy: nullable(Type.String({ description: 'The key that it was rotated to.' })),
})

const used = {
  used: Type.Integer({ description: 'With what other processes hold ahead of need.' }),
  limit: Type.Integer(),
}

export const LimitUsage = Type.Object({
  plan: Type.Optional(
    nullable(
      Type.String({ description: 'The plan of its tenant. Left out where the host has no plans.' }),
    ),
  ),
  quota: nullable(
    Type.Object({
      ...used,
      resetsAt: nullable(timestamp()),
    }),
  ),
  limits: Type.Array(Type.Object({ ...used, perSeconds: Type.Integer() })),
})

export const ListedApiKey = Type.Object({
  ...ApiKey.properties,
  usage: Type.Optional(LimitUsage),
})

export const NearLimitsQuery = Type.Object(
  {
    ...tenantFilter,
    over: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'From which share of a limit on; 0.8 by default.',
      }),
    ),
  },
  closed,
)

const near = {
  ...used,
  of: Type.Unsafe<'quota' | 'limit'>({ type: 'string', enum: ['quota', 'limit'] }),
  share: Type.Number(),
}

export const NearLimits = Type.Object({
  keys: Type.Array(
    Type.Object({
      keyId: Type.String(),
      label: nullable(Type.String()),
      tenant: nullable(Type.String()),
      ...near,
    }),
  ),
  tenants: Type.Array(Type.Object({ tenant: Type.String(), ...near })),
})

export const CreatedApiKey = Type.Object({
  ...Type.Omit(ApiKey, ['revokedAt', 'lastUsedAt']).properties,
  key: Type.String(),
})

/** The presented key. The bootstrap key has no row: its `id` and most others are `null`. */
export const PresentedKey = Type.Object({
  ...ApiKey.properties,
  id: nullable(Type.String()),
  keyId: nullable(Type.String()),
  userId: nullable(Type.String()),
  keyPrefix: nullable(Type.String()),
  createdAt: nullable(timestamp()),
  bootstrap: Type.Boolean(),
})

export const Verification = Type.Object(
  {
    key: Type.String(),
    scopes: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 100,
        description: 'Any one of them, or admin, is enough; none are asked for by default.',
      }),
    ),
    ip: Type.Optional(
      Type.String({ maxLength: 45, description: 'The address that presents the key.' }),
    ),
    cost: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  },
  closed,
)

export const Verified = Type.Object({
  valid: Type.Boolean(),
  code: nullable(Type.String({ description: 'The code that the guard would refuse it with.' })),
  keyId: nullable(Type.String()),
  userId: nullable(Type.String()),
  tenant: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  expiresAt: nullable(timestamp()),
  remaining: nullable(Type.Integer({ description: 'null where nothing limits the key.' })),
})

export const KeyCheck = Type.Object(
  { id: Type.String(), ip: Type.Optional(Type.String({ maxLength: 45 })) },
  closed,
)

export const TenantPage = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    after: Type.Optional(Type.String({ maxLength: 64, pattern: STORABLE_TEXT })),
    search: Search,
  },
  closed,
)

export const TenantOfAuth = Type.Object({
  tenant: Type.String(),
  users: Type.Integer({ description: 'Counted up to 1000.' }),
  keys: Type.Integer({ description: 'Those that are not revoked, counted up to 1000.' }),
})

export const usageSpan = {
  from: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'By default 24 hours, or 30 days, before `to`.',
    }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'By default now.' })),
  by: Type.Optional(
    Type.Unsafe<'hour' | 'day'>({ type: 'string', enum: ['hour', 'day'], default: 'hour' }),
  ),
}

export const UsageQuery = Type.Object(
  { ...usageSpan, ...tenantFilter, keyId: Type.Optional(Type.String()) },
  closed,
)

const count = (description: string) => Type.Integer({ description })

const counts = {
  allowed: count('Requests that reached their route.'),
  rate_limited: count('Refused by a limit of the key or of its tenant.'),
  quota_exceeded: count('Refused by the quota of the key.'),
  forbidden: count('Refused for want of a scope, or for the address that they came from.'),
  expired: count('Refused after the expiry of the key.'),
}

export const Usage = Type.Object({
  from: timestamp(),
  to: timestamp(),
  by: Type.String(),
  totals: Type.Object(counts),
  points: Type.Array(
    Type.Object({
      at: Type.String({ format: 'date-time', description: 'Begin of the hour or day, in UTC.' }),
      ...counts,
    }),
  ),
})

/**
 * A user to be created. `role` is `'user'` by default and means nothing to svcAuth; `tenant` is the
 * customer of the host that the user and its keys belong to, none by default.
 *
 * @example
 * const user: NewUser = { email: 'ada@example.com', name: 'Ada', tenant: 'acme' }
 */
export type NewUser = Input<typeof NewUser>
/** A user. `id` is a UUIDv7, `createdAt` ISO 8601 in UTC. */
export type User = Static<typeof User>
/**
 * A key to be created. By default it has no `label`, no expiry, no `metadata`, may be used from
 * every address and has the scopes `read` and `write`. `expiresAt` is ISO 8601 with an offset. Its
 * tenant is that of its user: where `tenant` is given it must be the same.
 *
 * @example
 * const key: NewApiKey = { userId: user.id, scopes: ['read'], expiresAt: '2030-01-31T12:00:00Z' }
 * @see https://www.rfc-editor.org/rfc/rfc3339 for `expiresAt`
 */
export type NewApiKey = Input<typeof NewApiKey>
/**
 * The key `id` and the fields of it that change; `null` resets those that take it.
 *
 * @example
 * const change: KeyUpdate = { id, enabled: false, metadata: { reason: 'unpaid' } }
 */
export type KeyUpdate = Input<typeof KeyUpdate>
/**
 * A key of another system, by a hash of its text: exactly one of `sha256` (hex, base64 or base64url) and
 * `hash`, what the option `importedKeys.hash` gives for the text. `keyPrefix` is what is shown of the key.
 * The other fields are those of {@link NewApiKey}.
 *
 * @example
 * const key: ImportedKey = { userId: user.id, sha256: row.key_hash, createdAt: '2024-01-31T12:00:00Z' }
 */
export type ImportedKey = Input<typeof ImportedKey>
/** What an import did: how many keys it has made, and which entries it has left out, by their index. */
export type ImportResult = Static<typeof ImportResult>
/** The fields of a key that change; the others stay as they are. */
export type KeyChanges = Omit<KeyUpdate, 'id'>
/** The key `id`, and for how many seconds it stays valid beside its successor: 86400 by default, at most 31536000. */
export type KeyRotation = Input<typeof KeyRotation>
/** A key with its text, which is returned only when it is created or rotated. */
export type CreatedApiKey = Static<typeof CreatedApiKey>
/** A key as it is listed, without its text. `keyPrefix` is its first 8 characters. Times are ISO 8601 in UTC. */
export type ApiKey = Static<typeof ApiKey>
export type PresentedKey = Static<typeof PresentedKey>
/**
 * What is used of the limits and the quota of a key, which are those of the plan where the key has none of
 * its own. `used` has what other processes hold ahead of need, at most a tenth of what is left of a quota, or of
 * a limit. `resetsAt` is `null` for a quota in all. `plan` is there where the host has plans: the name of the plan of
 * its tenant, `null` for none.
 */
export type LimitUsage = Static<typeof LimitUsage>
/** A key, with `include: 'usage'` also what is used of its limits. */
export type ListedApiKey = Static<typeof ListedApiKey>
/** From which share of a limit on, 0.8 by default, and of which tenant. */
export type NearLimitsQuery = Input<typeof NearLimitsQuery>
/**
 * Keys that can be used, and tenants, by the limit or quota of which the greatest share is used; the highest
 * first, at most 100 of each.
 */
export type NearLimits = Static<typeof NearLimits>

/** A part of a list: `limit` rows (all by default), those that follow the row with the id `after`. */
export type Page = Input<typeof Page>
/**
 * Which users are listed: those of a `tenant`, with `''` those without one; those whose name or e-mail
 * `search` finds; those with `ids`.
 */
export type UserFilter = Input<typeof UserFilter>
/**
 * Which keys are listed: all, where a field is left out.
 *
 * @example
 * const idle: KeyFilter = { tenant: 'acme', state: 'active', unusedSince: '2030-01-01T00:00:00Z' }
 */
export type KeyFilter = Input<typeof KeyFilter>
export type { KeyState }

/**
 * A key to be verified for another service. `cost` is what it takes of the quota, 1 by default.
 *
 * @example
 * const verification: Verification = { key, scopes: ['read'], ip: '192.0.2.7' }
 */
export type Verification = Input<typeof Verification>
/** What `verifyApiKey` returns. For a key that is not valid, `code` has the reason. */
export type Verified = Static<typeof Verified>

/** A key by its id, and the address of the sender that uses it. */
export type KeyCheck = Input<typeof KeyCheck>
/** What `checkApiKey` returns. `keyId` is `null` where there is no such key any more. */
export interface CheckedKey extends Omit<Verified, 'remaining'> {
  /**
   * Those of its scopes that open management routes. A scope that the host declared itself, under a name
   * that was built in later, opens the host's routes alone.
   */
  managementScopes: string[]
  /** Whether it has an expiry, `allowedIps`, `limits` or a `quota`, and so must each key that it makes. */
  isRestricted: boolean
}

/** A part of a list of tenants: those that follow the tenant `after`. */
export type TenantPage = Input<typeof TenantPage>
/** A tenant that has users, and how many users and keys; revoked keys are not counted. */
export type TenantOfAuth = Static<typeof TenantOfAuth>

/** What `validateApiKey` returns for a text. */
export interface Validation {
  valid: boolean
  /** Owner of the key; `null` for the bootstrap key and for one that is not valid. */
  userId: string | null
  /** The tenant of the key; `null` for none, and for a key that is not valid. */
  tenant: string | null
  bootstrap: boolean
  /** Empty for a key that is not valid. */
  scopes: string[]
  keyId: string | null
}

/**
 * Which usage is shown: of a key, of a tenant (`''`: of the operator's keys), or of all keys. `from`
 * and `to` are ISO 8601, `by` is `hour` by default.
 *
 * @example
 * const query: UsageQuery = { tenant: 'acme', by: 'day', from: '2030-01-01T00:00:00Z' }
 */
export type UsageQuery = Input<typeof UsageQuery>
/** Counts of requests, with a point for each hour or day that the span touches. */
export type Usage = Static<typeof Usage>
