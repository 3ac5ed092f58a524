/** Pieces of schemas that the routes of both plugins are described with. */
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { wordedPattern } from '../options/patterns.ts'
import { TENANT, TENANT_PATTERN } from '../tenants/tenants.ts'

export const ERROR_SCHEMA = 'SvcHttpError'

/** The body of every error, `{ statusCode, code, error, message }`, for a route's response schemas. */
export const ErrorBody = Type.Unsafe<{
  statusCode: number
  code: string
  error: string
  message: string
}>({ $ref: `${ERROR_SCHEMA}#` })

/** One schema with two types: of a union Ajv would name only its last branch in a message. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] })

/**
 * The pattern of a text that Postgres can store: without NUL and half of a surrogate pair. Ajv reads
 * patterns as Unicode: a whole pair is one character, outside of that range.
 */
export const STORABLE_TEXT = wordedPattern(
  '^[^\\u0000\\ud800-\\udfff]*$',
  'text without NUL and half of a surrogate pair',
)

/** The tenant of what is made; `null` for none. */
export const Tenant = nullable(
  Type.String({
    pattern: TENANT_PATTERN,
    description: 'A customer of the host, by a name of 1 to 64 of A-Z, a-z, 0-9, _, ., : and -.',
  }),
)

export const TenantFilter = Type.Optional(
  Type.String({
    pattern: wordedPattern(`${TENANT_PATTERN}|^$`, `${TENANT}, or empty`),
    description: 'Those of this tenant; empty: of none.',
  }),
)

export const errorResponses = { '4xx': ErrorBody, '5xx': ErrorBody }
