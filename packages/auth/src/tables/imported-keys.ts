/** Keys that come from another system. */
import type { Db } from '@svc/core/internal'
import type { Bounds, KeyFields } from '../key-fields.ts'
import { hashOfHex, hexOf } from '../key-format.ts'

export interface ImportedKeyRow {
  id: string
  userId: string
  /** The SHA-256 of its text; `null` where only the other hash is known. */
  hash: string | null
  /** What another system has made of its text, as it is stored. */
  foreignHash: string | null
  keyPrefix: string
  /** ISO 8601; `null` for now. */
  createdAt: string | null
  fields: Omit<KeyFields, 'enabled'>
}

/** Which of these hashes keys have, revoked ones included. */
export async function findKnownHashes(
  db: Db,
  rows: readonly Pick<ImportedKeyRow, 'hash' | 'foreignHash'>[],
): Promise<{ hashes: ReadonlySet<string>; foreignHashes: ReadonlySet<string> }> {
  const { rows: known } = await db.query(
    `select array(select key_hash from svc."__svc.auth.api_keys"
                   where key_hash = any($1::text[])) as hashes,
            array(select foreign_hash from svc."__svc.auth.api_keys"
                   where foreign_hash = any($2::text[]) and foreign_hash is not null) as foreign`,
    [hexesOf(rows.map(({ hash }) => hash)), hexesOf(rows.map(({ foreignHash }) => foreignHash))],
  )
  const [{ hashes, foreign }] = known as [{ hashes: string[]; foreign: string[] }]
  return { hashes: new Set(hashes.map(hashOfHex)), foreignHashes: new Set(foreign.map(hashOfHex)) }
}

/**
 * Returns the ids of the rows that it has written: not of those whose hash a key has already. In one order
 * in all transactions, so that two of them cannot wait for each other.
 */
export async function insertImportedKeys(
  db: Db,
  rows: readonly ImportedKeyRow[],
  bounds: Bounds | null,
): Promise<string[]> {
  const given = rows.map(({ fields, hash, foreignHash, ...row }) => ({
    ...row,
    ...fields,
    hash: hash && hexOf(hash),
    foreignHash: foreignHash && hexOf(foreignHash),
  }))
  const { rows: written } = await db.query(
    `insert into svc."__svc.auth.api_keys"
       (id, user_id, key_hash, foreign_hash, key_prefix, label, scopes, metadata, allowed_ips, limits,
        quota, bounds, created_at, imported_at, expires_at)
     select id, "userId", hash, "foreignHash", "keyPrefix", label, scopes, metadata, "allowedIps", limits,
            quota, $2::jsonb, coalesce("createdAt", now()), now(), "expiresAt"
       from jsonb_to_recordset($1::jsonb) as given
         (id uuid, "userId" uuid, hash text, "foreignHash" text, "keyPrefix" text, label text,
          scopes text[], metadata jsonb, "allowedIps" text[], limits jsonb, quota jsonb,
          "createdAt" timestamptz, "expiresAt" timestamptz)
      order by coalesce(hash, "foreignHash") collate "C"
         on conflict do nothing
     returning id`,
    [JSON.stringify(given), bounds && JSON.stringify(bounds)],
  )
  return written.map(({ id }: { id: string }) => id)
}

const hexesOf = (hashes: readonly (string | null)[]): string[] =>
  hashes.flatMap((hash) => (hash === null ? [] : [hexOf(hash)]))
