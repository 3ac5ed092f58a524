import { isContention, type Db } from '@svc/core/internal'
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

const COLUMNS = `id, user_id as "userId", key_prefix as "keyPrefix", scopes,
            extract(epoch from expires_at)::float8 * 1000 as "expiresAtMs",
            revoked_at is not null as "isRevoked", enabled as "isEnabled", tenant,
            allowed_ips as "allowedIps", limits::text, quota::text,
            allowances_of as "allowancesOf"`

/** The keys that exist, by their hashes. */
export async function findKeysByHash(
  db: Db,
  hashes: readonly string[],
): Promise<Map<string, StoredKey>> {
  const { rows } = await db.query(
    `select key_hash as hex, ${COLUMNS}
       from svc."__svc.auth.api_keys" where key_hash = any($1::text[])`,
    [hashes.map(hexOf)],
  )
  return new Map(rows.map(({ hex, ...row }) => [hashOfHex(hex), storedKeyOf(row)]))
}

/** What is presented with a text whose hash no key has: its hash, and that of another system. */
export interface ForeignText {
  hash: string
  foreignHash: string
}

/** A key that was imported by the hash of another system. */
export interface ForeignKey {
  key: StoredKey
  /** Whether its own hash is stored now, so that each change of the key names it. */
  isHashStored: boolean
}

/** Where something else has the row, or stores the same hash in another one, no request waits for longer. */
const LOCK_MS = 50

const STORE = `
  with patience as materialized (
    select set_config('lock_timeout', '${LOCK_MS}ms', true)
  ), given as materialized (
    select distinct given.* from patience, unnest($1::text[], $2::text[]) as given (hex, foreign_hash)
  ), free as materialized (
    select keys.id, given.hex
      from given join svc."__svc.auth.api_keys" as keys using (foreign_hash)
     where keys.foreign_hash is not null and keys.key_hash is null
     order by keys.id for update of keys skip locked
  ), used as (
    update svc."__svc.auth.api_keys" as keys set key_hash = free.hex
      from free where keys.id = free.id
    returning keys.*
  )
  select key_hash as hex, foreign_hash as "foreignHex", true as "isHashStored", ${COLUMNS} from used
  union all
  -- Another process has stored the hash since it was looked up, or stores it now, or a transaction that has
  -- locked the row is about to change the key: a request does not wait for these.
  select given.hex, given.foreign_hash, keys.key_hash is not null, ${COLUMNS}
    from given join svc."__svc.auth.api_keys" as keys using (foreign_hash)
   where keys.foreign_hash is not null and (keys.key_hash is null or keys.key_hash = given.hex)
     and not exists (select from used where used.id = keys.id)`

const READ = `
  select given.hex, given.foreign_hash as "foreignHex", keys.key_hash is not null as "isHashStored", ${COLUMNS}
    from unnest($1::text[], $2::text[]) as given (hex, foreign_hash)
    join svc."__svc.auth.api_keys" as keys using (foreign_hash)
   where keys.foreign_hash is not null and (keys.key_hash is null or keys.key_hash = given.hex)`

/**
 * The imported keys among these texts, by both hashes in one text. The first hash is stored: from now on it
 * opens the key. Where one cannot be stored now, as beside an open import of the same key by its SHA-256, none
 * is, and the keys are read.
 */
export async function findForeignKeys(
  db: Db,
  texts: readonly ForeignText[],
): Promise<Map<string, ForeignKey>> {
  const hashes = [
    texts.map(({ hash }) => hexOf(hash)),
    texts.map(({ foreignHash }) => hexOf(foreignHash)),
  ]
  const { rows } = await db.query(STORE, hashes).catch((error: unknown) => {
    if (!isContention(error) && !isKnownHash(error)) throw error
    return db.query(READ, hashes)
  })
  return new Map(
    rows.map(({ hex, foreignHex, isHashStored, ...row }) => [
      hashOfHex(hex + foreignHex),
      { key: storedKeyOf(row), isHashStored },
    ]),
  )
}

/** A row has the SHA-256 since it was looked up. */
const isKnownHash = (error: unknown): boolean =>
  ((error ?? {}) as { code?: unknown }).code === '23505'

type Changed = 'limits' | 'quota' | 'allowancesOf'
type Row = Omit<StoredKey, Changed> & Record<Changed, string | null>

const storedKeyOf = ({ limits, quota, ...key }: Row): StoredKey => ({
  ...key,
  limits: parsed(limits),
  quota: parsed(quota),
  // The text of the id itself, and no copy of it: it stays in memory as the name of the allowances.
  allowancesOf: key.allowancesOf ?? key.id,
})
