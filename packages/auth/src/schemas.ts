/** Input and output of the operations, for routes, `svc.auth` and actions. */
import { Type, type Static } from '@sinclair/typebox'

/** Postgres refuses NUL in a text. */
const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000]*$' })
const nullable = <T extends ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()])
const timestamp = () => Type.String({ format: 'date-time' })
const closed = { additionalProperties: false }

export const NewUser = Type.Object(
  {
    email: Type.String({ format: 'email', maxLength: 254 }),
    name: text(200),
    role: Type.Optional(text(100)),
  },
  closed,
)

export const User = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Type.String(),
  createdAt: timestamp(),
})

const keyFields = {
  /** For people; `null` for none. */
  label: Type.Optional(nullable(text(200))),
  /** ISO 8601 with an offset: from this instant on the key is invalid; `null` for never. */
  expiresAt: Type.Optional(nullable(timestamp())),
  /** Default `["read", "write"]`. */
  scopes: Type.Optional(Type.Array(Type.String(), { maxItems: 100, uniqueItems: true })),
}

/** The body of a route that has the user in its path. */
export const CreateApiKeyBody = Type.Object(keyFields, closed)

export const NewApiKey = Type.Object({ userId: Type.String(), ...keyFields }, closed)

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  after: Type.Optional(Type.String({ format: 'uuid' })),
}

export const Page = Type.Object(page, closed)

export const KeyPage = Type.Object({ userId: Type.String(), ...page }, closed)

const apiKey = {
  id: Type.String(),
  userId: Type.String(),
  keyPrefix: Type.String(),
  label: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  createdAt: timestamp(),
  expiresAt: nullable(timestamp()),
}

export const CreatedApiKey = Type.Object({ ...apiKey, key: Type.String() })

export const ApiKey = Type.Object({
  ...apiKey,
  revokedAt: nullable(timestamp()),
  lastUsedAt: nullable(timestamp()),
})

/**
 * A user to be created. `role` is `'user'` by default and means nothing to svcAuth.
 *
 * @example
 * const user: NewUser = { email: 'ada@example.com', name: 'Ada' }
 */
export type NewUser = Static<typeof NewUser>
/** A user. `id` is a UUIDv7, `createdAt` ISO 8601 in UTC. */
export type User = Static<typeof User>
/**
 * A key to be created. By default it has no `label`, no expiry and the scopes `read` and `write`.
 * `expiresAt` is ISO 8601 with an offset.
 *
 * @example
 * const key: NewApiKey = { userId: user.id, scopes: ['read'], expiresAt: '2030-01-31T12:00:00Z' }
 * @see https://www.rfc-editor.org/rfc/rfc3339 for `expiresAt`
 */
export type NewApiKey = Static<typeof NewApiKey>
/** A key with its text, which is returned only when it is created. */
export type CreatedApiKey = Static<typeof CreatedApiKey>
/** A key as it is listed, without its text. `keyPrefix` is its first 8 characters. */
export type ApiKey = Static<typeof ApiKey>

/** A part of a list: `limit` rows (all by default), those that follow the row with the id `after`. */
export type Page = Static<typeof Page>

/** What `validateApiKey` returns for a text. */
export interface Validation {
  valid: boolean
  /** Owner of the key; `null` for the bootstrap key and for one that is not valid. */
  userId: string | null
  bootstrap: boolean
  /** Empty for a key that is not valid. */
  scopes: string[]
  keyId: string | null
}
