import type { Db } from '@svc/core/internal'
import { hashOfHex, hexOf } from '../key-format.ts'
import type { ApiKey, Page } from '../schemas.ts'
import { committedSince } from './transaction-snapshots.ts'
import { isoOf } from './timestamps.ts'

const COLUMNS = `id, user_id as "userId", key_prefix as "keyPrefix", label, scopes,
  ${isoOf('created_at')} as "createdAt", ${isoOf('expires_at')} as "expiresAt",
  ${isoOf('revoked_at')} as "revokedAt", ${isoOf('last_used_at')} as "lastUsedAt"`

export interface NewApiKeyRow {
  id: string
  userId: string
  hash: string
  keyPrefix: string
  label: string | null
  scopes: readonly string[]
  expiresAt: Date | null
}

/**
 * `undefined` where there is no such user. The row of the user is locked until the key is written: a
 * concurrent deletion waits for it, and revokes this key with the others.
 */
export async function insertApiKey(db: Db, row: NewApiKeyRow): Promise<ApiKey | undefined> {
  const { rows } = await db.query(
    `insert into svc."__svc.auth.api_keys"
       (id, user_id, key_hash, key_prefix, label, scopes, expires_at)
     select $1, users.id, $3, $4, $5, $6, $7
       from svc."__svc.auth.users" as users
      where users.id = $2 for key share
     returning ${COLUMNS}`,
    [row.id, row.userId, hexOf(row.hash), row.keyPrefix, row.label, row.scopes, row.expiresAt],
  )
  return rows[0]
}

/** A key as the guard needs it. */
export interface StoredKey {
  id: string
  userId: string
  keyPrefix: string
  scopes: string[]
  /** Since 1970; `null` where it never expires. */
  expiresAtMs: number | null
  isRevoked: boolean
}

/** The keys that exist, by their hashes. */
export async function findKeysByHash(
  db: Db,
  hashes: readonly string[],
): Promise<Map<string, StoredKey>> {
  const { rows } = await db.query(
    `select key_hash as hex, id, user_id as "userId", key_prefix as "keyPrefix", scopes,
            extract(epoch from expires_at)::float8 * 1000 as "expiresAtMs",
            revoked_at is not null as "isRevoked"
       from svc."__svc.auth.api_keys" where key_hash = any($1::text[])`,
    [hashes.map(hexOf)],
  )
  return new Map(rows.map(({ hex, ...key }) => [hashOfHex(hex), key]))
}

/** What was inserted since a snapshot. */
export interface InsertedKeys {
  /** The snapshot of this reading, for the next one. */
  snapshot: string
  /** Hashes of the rows; `null`: too many to name, or an older state was restored. */
  hashes: string[] | null
}

const MAX_NAMED_KEYS = 1000

/** With `null` no row is read, and the first snapshot is returned. */
export async function findInsertedKeys(db: Db, since: string | null): Promise<InsertedKeys> {
  const { rows } = await db.query(
    `select snapshot::text, snapshot_xmax < pg_snapshot_xmax($1::pg_snapshot) as "isSetBack",
            key_hash as hex
       from (select pg_current_snapshot() as snapshot,
                    pg_snapshot_xmax(pg_current_snapshot()) as snapshot_xmax) as moment
       left join svc."__svc.auth.api_keys" on ${committedSince('inserted_in', '$1')}
      limit $2`,
    [since, MAX_NAMED_KEYS + 1],
  )
  const { snapshot, isSetBack } = rows[0]
  const isNamed = since !== null && !isSetBack && rows.length <= MAX_NAMED_KEYS
  const hashes = rows.filter(({ hex }) => hex !== null).map(hashOfRow)
  return { snapshot, hashes: isNamed ? hashes : null }
}

/** Newest first, including revoked keys. */
export async function listApiKeys(
  db: Db,
  userId: string,
  { after, limit }: Page = {},
): Promise<ApiKey[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.auth.api_keys"
      where user_id = $1 and ($2::uuid is null or id < $2)
      order by id desc
      limit $3`,
    [userId, after ?? null, limit ?? null],
  )
  return rows
}

/** The hash of the key, `undefined` where there is no such key or it is revoked already. */
export async function revokeApiKey(db: Db, id: string): Promise<string | undefined> {
  const { rows } = await db.query(
    `update svc."__svc.auth.api_keys" set revoked_at = now()
      where id = $1 and revoked_at is null
     returning key_hash as hex`,
    [id],
  )
  return rows.map(hashOfRow)[0]
}

/** The hashes of the keys that were not revoked before. */
export async function revokeKeysOfUser(db: Db, userId: string): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.auth.api_keys" set revoked_at = now()
      where user_id = $1 and revoked_at is null
     returning key_hash as hex`,
    [userId],
  )
  return rows.map(hashOfRow)
}

/**
 * Skips rows that are locked, so that it cannot deadlock with another statement. A later batch writes
 * them.
 */
export async function writeLastUsed(db: Db, uses: ReadonlyMap<string, Date>): Promise<void> {
  await db.query(
    `with free as (
       select id from svc."__svc.auth.api_keys"
        where id = any($1::uuid[]) for no key update skip locked
     )
     update svc."__svc.auth.api_keys" as keys
        set last_used_at = greatest(keys.last_used_at, to_timestamp(uses.ms / 1000))
       from free
       join unnest($1::uuid[], $2::float8[]) as uses (id, ms) on uses.id = free.id
      where keys.id = free.id`,
    // As numbers: a Date takes pg five times as long to write.
    [[...uses.keys()], Array.from(uses.values(), (at) => at.getTime())],
  )
}

const hashOfRow = ({ hex }: { hex: string }): string => hashOfHex(hex)
