import type { Db } from '@svc/core/internal'
import { hashOfHex, hexOf } from '../key-format.ts'
import type { Limit, Quota } from '../limit-fields.ts'
import { parsed } from './api-key-row.ts'

/** A key as the guard needs it. */
export interface StoredKey {
  id: string
  userId: string
  keyPrefix: string
  scopes: string[]
  /** Since 1970; `null` where it never expires. */
  expiresAtMs: number | null
  isRevoked: boolean
  isEnabled: boolean
  tenant: string | null
  /** CIDRs and addresses; `null` where the key may be used from everywhere. */
  allowedIps: string[] | null
  limits: Limit[] | null
  quota: Quota | null
  /** Its own id, or that of the key that it was rotated from. */
  allowancesOf: string
}

/** The keys that exist, by their hashes. */
export async function findKeysByHash(
  db: Db,
  hashes: readonly string[],
): Promise<Map<string, StoredKey>> {
  const { rows } = await db.query(
    `select key_hash as hex, id, user_id as "userId", key_prefix as "keyPrefix", scopes,
            extract(epoch from expires_at)::float8 * 1000 as "expiresAtMs",
            revoked_at is not null as "isRevoked", enabled as "isEnabled", tenant,
            allowed_ips as "allowedIps", limits::text, quota::text,
            allowances_of as "allowancesOf"
       from svc."__svc.auth.api_keys" where key_hash = any($1::text[])`,
    [hashes.map(hexOf)],
  )
  return new Map(
    rows.map(({ hex, limits, quota, ...key }) => [
      hashOfHex(hex),
      {
        ...key,
        limits: parsed(limits),
        quota: parsed(quota),
        // The text of the id itself, and no copy of it: it stays in memory as the name of the allowances.
        allowancesOf: key.allowancesOf ?? key.id,
      },
    ]),
  )
}
