/**
 * The fields of a key that a caller chooses: a create and a PATCH take them, a rotation carries them
 * over, every answer shows them. A further field is added here, to `KEY_COLUMNS` of its table, and
 * where it restricts what the key may do to `restrictions.ts`.
 */
import { Type, type Static } from '@sinclair/typebox'
import { STORABLE_TEXT, nullable, wordedPattern } from '@svc/core/internal'
import { Limit, MAX_LIMITS, Quota } from './limit-fields.ts'

export const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: STORABLE_TEXT })
export const timestamp = () => Type.String({ format: 'date-time' })
/** The schema of an expiry, which has errors of its own for times that cannot be stored. */
export const expiry = () => Type.String({ format: 'date-time-of-any-year' })
export const closed = { additionalProperties: false }

const Scopes = Type.Array(Type.String({ maxLength: 200 }), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Names of scopes, "role:<name>" and "<namespace>:*".',
})

const Metadata = nullable(
  // Not `Type.Record`: its errors do not say what is wrong with a name.
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: 50,
    propertyNames: { minLength: 1, maxLength: 100, pattern: STORABLE_TEXT },
    additionalProperties: { type: 'string', maxLength: 1000, pattern: STORABLE_TEXT },
    description: 'Of your own: a flat object of texts, at most 50 names.',
  }),
)

const AllowedIps = nullable(
  Type.Array(Type.String({ maxLength: 49 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'CIDRs or addresses that requests with the key may come from; null for all.',
  }),
)

const Limits = nullable(
  Type.Array(Limit, {
    maxItems: MAX_LIMITS,
    description: 'A request must pass all of them; null for none.',
  }),
)

/** The body of PATCH, and what a create takes: `scopes` are `["read", "write"]` by default. */
export const keyChanges = {
  /** A name for people; `null` for none. */
  label: Type.Optional(nullable(text(200))),
  /** ISO 8601 with an offset: from this instant on the key is invalid; `null` for never. */
  expiresAt: Type.Optional(nullable(expiry())),
  scopes: Type.Optional(Scopes),
  enabled: Type.Optional(
    Type.Boolean({ description: 'While it is false the key is refused as a revoked one is.' }),
  ),
  metadata: Type.Optional(Metadata),
  allowedIps: Type.Optional(AllowedIps),
  limits: Type.Optional(Limits),
  quota: Type.Optional(nullable(Quota)),
}

const { enabled: _enabled, ...fieldsOfImports } = keyChanges

/** What an import takes besides: a key of another system, by a hash of its text. */
export const importedKeyFields = {
  sha256: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'SHA-256 of the text of the key, in hex, base64 or base64url.',
    }),
  ),
  hash: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'What the option `importedKeys.hash` gives for the text of the key.',
    }),
  ),
  keyPrefix: Type.Optional(
    Type.String({
      pattern: wordedPattern('^[!-~]{1,8}$', '1 to 8 visible ASCII characters'),
      default: 'imported',
      description: 'What is shown of the key: up to 8 visible ASCII characters.',
    }),
  ),
  createdAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When it was made; now by default.' }),
  ),
  ...fieldsOfImports,
}

/** Not `Type.Record`: its pattern for names matches none with a line break. */
const TextsByName = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
})

/** The fields in answers. */
export const shownKeyFields = {
  label: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  expiresAt: nullable(timestamp()),
  enabled: Type.Boolean(),
  metadata: nullable(TextsByName),
  allowedIps: nullable(Type.Array(Type.String())),
  limits: nullable(Type.Array(Limit)),
  quota: nullable(Quota),
}

const ShownKeyFields = Type.Object(shownKeyFields)
/** The fields of a key with its defaults filled in. Times are ISO 8601 in UTC. */
export type KeyFields = Static<typeof ShownKeyFields>

/** The fields that restrict a key, whatever its scopes open. */
export type Bounds = Pick<KeyFields, 'expiresAt' | 'allowedIps' | 'limits' | 'quota' | 'enabled'>

export const DEFAULT_OVERLAP_SECONDS = 86_400

export const rotation = {
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 31_536_000,
      default: DEFAULT_OVERLAP_SECONDS,
      description: 'How long, in seconds, the old key stays valid beside the new one.',
    }),
  ),
}

/** The state of a key. `expired` and `revoked` keys may be disabled as well; `disabled` ones are neither. */
export type KeyState = 'active' | 'expired' | 'revoked' | 'disabled'

export const keyState = Type.Unsafe<KeyState>({
  type: 'string',
  enum: ['active', 'expired', 'revoked', 'disabled'],
})
