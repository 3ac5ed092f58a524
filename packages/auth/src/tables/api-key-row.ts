/** How a row of the table of keys is read and written. */
import type { KeyFields } from '../key-fields.ts'
import type { ApiKey } from '../schemas.ts'
import { isoOf } from './timestamps.ts'

/** The columns of the fields that a caller chooses: see `key-fields.ts`. */
export const KEY_COLUMNS: Readonly<Record<keyof KeyFields, { column: string; type: string }>> = {
  label: { column: 'label', type: 'text' },
  scopes: { column: 'scopes', type: 'text[]' },
  expiresAt: { column: 'expires_at', type: 'timestamptz' },
  enabled: { column: 'enabled', type: 'boolean' },
  metadata: { column: 'metadata', type: 'jsonb' },
  allowedIps: { column: 'allowed_ips', type: 'text[]' },
  limits: { column: 'limits', type: 'jsonb' },
  quota: { column: 'quota', type: 'jsonb' },
}
export const FIELDS = Object.keys(KEY_COLUMNS) as (keyof KeyFields)[]
export const CHOSEN = FIELDS.map((field) => KEY_COLUMNS[field].column).join(', ')

export const COLUMNS = `id, user_id as "userId", tenant, key_prefix as "keyPrefix", label, scopes,
  ${isoOf('expires_at')} as "expiresAt", enabled, metadata::text, allowed_ips as "allowedIps",
  limits::text, quota::text,
  ${isoOf('created_at')} as "createdAt", ${isoOf('revoked_at')} as "revokedAt",
  ${isoOf('last_used_at')} as "lastUsedAt", replaces, replaced_by as "replacedBy"`

type Json = 'metadata' | 'limits' | 'quota'
export type Row = Omit<ApiKey, Json> & Record<Json, string | null>

/** JSON is read as text, because the host's type parsers decide what pg makes of JSON. */
export const keyOf = ({ metadata, limits, quota, ...row }: Row): ApiKey => ({
  ...row,
  metadata: parsed(metadata),
  limits: parsed(limits),
  quota: parsed(quota),
})

// oxlint-disable-next-line typescript/no-explicit-any -- what was written, which was checked
export const parsed = (json: string | null): any => (json === null ? null : JSON.parse(json))

/** The parameters of the chosen fields, from `$n` on. */
export const placeholders = (n: number): string[] =>
  FIELDS.map((field, index) => `$${n + index}::${KEY_COLUMNS[field].type}`)

export const valuesOf = (fields: KeyFields): unknown[] =>
  FIELDS.map((field) => {
    const value = fields[field]
    return KEY_COLUMNS[field].type === 'jsonb' && value !== null ? JSON.stringify(value) : value
  })
