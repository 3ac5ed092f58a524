/** What goes in and out, for routes and actions alike. */
import { Type, type Static } from '@sinclair/typebox'

/** Postgres keeps no NUL in a text. */
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

const keyWishes = {
  /** For people; `null` is none. */
  label: Type.Optional(nullable(text(200))),
  /** ISO 8601 with an offset; from this instant on the key is invalid; `null` is never. */
  expiresAt: Type.Optional(nullable(timestamp())),
  /** Default `["read", "write"]`. */
  scopes: Type.Optional(Type.Array(Type.String(), { maxItems: 100, uniqueItems: true })),
}

/** The body of a route that has the user in its path. */
export const KeyWishes = Type.Object(keyWishes, closed)

export const NewApiKey = Type.Object({ userId: Type.String(), ...keyWishes }, closed)

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

/** A user to be created. */
export type NewUser = Static<typeof NewUser>
/** A user; `createdAt` is ISO 8601. */
export type User = Static<typeof User>
/** A key to be created. */
export type NewApiKey = Static<typeof NewApiKey>
/** A key as it is shown once, with its text. */
export type CreatedApiKey = Static<typeof CreatedApiKey>
/** A key as it is listed: its prefix, never its text. */
export type ApiKey = Static<typeof ApiKey>

/** A part of a list: `limit` rows (all by default), those that follow the row with the id `after`. */
export type Page = Static<typeof Page>

/** What `validateApiKey` says of a key. */
export interface Validation {
  valid: boolean
  /** Owner of the key; `null` for the bootstrap key and for one that is not valid. */
  userId: string | null
  bootstrap: boolean
  /** Empty for a key that is not valid. */
  scopes: string[]
  keyId: string | null
}
