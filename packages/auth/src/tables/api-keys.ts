import { foundBy, listNewest, withinReach, type Db, type Reach } from '@svc/core/internal'
import type { Bounds, KeyFields } from '../key-fields.ts'
import { hashOfHex, hexOf } from '../key-format.ts'
import type { ApiKey, KeyFilter } from '../schemas.ts'
import {
  CHOSEN,
  COLUMNS,
  FIELDS,
  KEY_COLUMNS,
  keyOf,
  parsed,
  placeholders,
  type Row,
  valuesOf,
} from './api-key-row.ts'
import { isoOf } from './timestamps.ts'

export interface NewApiKeyRow {
  id: string
  userId: string
  hash: string
  keyPrefix: string
  fields: KeyFields
  /** What a caller that may not loosen it keeps to; `null`: to its fields. */
  bounds: Bounds | null
  /** The key that it was rotated from. */
  replaces: string | null
}

/** The caller holds the lock of the user's row: see `lockUser`. Its tenant is that of the user. */
export async function insertApiKey(db: Db, row: NewApiKeyRow): Promise<ApiKey> {
  const { rows } = await db.query(
    `insert into svc."__svc.auth.api_keys"
       (id, user_id, key_hash, key_prefix, replaces, allowances_of, imported_at, bounds, ${CHOSEN})
     values ($1, $2, $3, $4, $5,
       (select coalesce(old.allowances_of, old.id)
          from svc."__svc.auth.api_keys" as old where old.id = $5),
       (select imported_at from svc."__svc.auth.api_keys" as old where old.id = $5),
       $6::jsonb, ${placeholders(7).join(', ')})
     returning ${COLUMNS}`,
    [
      row.id,
      row.userId,
      hexOf(row.hash),
      row.keyPrefix,
      row.replaces,
      row.bounds && JSON.stringify(row.bounds),
      ...valuesOf(row.fields),
    ],
  )
  return keyOf(rows[0])
}

/** A condition: the key is neither revoked nor expired. */
export const IS_ALIVE = 'revoked_at is null and (expires_at is null or expires_at > now())'

const STATE = `case when revoked_at is not null then 'revoked'
  when expires_at <= now() then 'expired'
  when not enabled then 'disabled' else 'active' end`

const KEYS = 'svc."__svc.auth.api_keys"'
const FOUND = foundBy('words', '$10')
const OWNERS = 'svc."__svc.auth.users" as users'
const OWNERS_FOUND = `select users.id from ${OWNERS} where ${FOUND} and ${withinReach('tenant', '$3')}`
/** Found by its label, or by whose it is. */
const LIST = {
  table: KEYS,
  columns: COLUMNS,
  within: `${withinReach('tenant', '$3')} and ($4::uuid is null or user_id = $4)
        -- The conditions of the partial indexes, so that the planner uses them.
        and ($6::text is distinct from 'revoked' or revoked_at is not null)
        and ($6::text is distinct from 'disabled' or not enabled)
        and ($6::text is distinct from 'expired' or expires_at is not null)`,
  listed: `($5::text is null or key_prefix >= $5 and key_prefix < $5 || chr(127)
                                 and starts_with(key_prefix, $5))
        and ($6::text is null or ${STATE} = $6)
        and ($7::timestamptz is null or last_used_at is null or last_used_at < $7)
        and ($8::integer is null
             or expires_at > now() and expires_at <= now() + make_interval(days => $8)
                and expires_at > created_at and revoked_at is null and expiry_notice is distinct from 0
                and enabled and replaced_by is null)
        and ($9::integer is null or expires_at > created_at + make_interval(days => $9))`,
  some: `select 1 from ${KEYS} where ${FOUND} union all select 1 from (${OWNERS_FOUND}) as owners`,
  found: `(${FOUND} or user_id = any(array(${OWNERS_FOUND})))`,
  // Of its one user: an "exists" may read all users that are found.
  isFound: `(${FOUND} or coalesce((select ${FOUND} from ${OWNERS} where users.id = user_id
              and ${withinReach('tenant', '$3')}), false))`,
}

/** Newest first, including revoked keys. */
export async function listApiKeys(
  db: Db,
  reach: Reach,
  filter: Omit<KeyFilter, 'tenant' | 'include'>,
): Promise<ApiKey[]> {
  const { userId, prefix, state, unusedSince, expiresWithinDays, lifetimeOverDays } = filter
  const rows = await listNewest<Row>(db, LIST, filter, [
    reach,
    userId ?? null,
    prefix ?? null,
    state ?? null,
    unusedSince ?? null,
    expiresWithinDays ?? null,
    lifetimeOverDays ?? null,
  ])
  return rows.map(keyOf)
}

export async function findApiKey(db: Db, id: string, reach: Reach): Promise<ApiKey | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.auth.api_keys"
      where id = $1 and ${withinReach('tenant', '$2')}`,
    [id, reach],
  )
  return rows.map(keyOf)[0]
}

/** A key that is about to change, and its hash. */
export interface LockedKey {
  key: ApiKey
  hash: string
  isExpired: boolean
  isImported: boolean
  /** What a caller that may not loosen it keeps to; `null`: to its fields. */
  bounds: Bounds | null
}

/** Locks the key until the end of the transaction and returns it, unless it is revoked. */
export async function lockApiKey(db: Db, id: string, reach: Reach): Promise<LockedKey | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS}, bounds::text, key_hash as hex,
            coalesce(expires_at <= now(), false) as "isExpired", imported_at is not null as "isImported"
       from svc."__svc.auth.api_keys"
      where id = $1 and revoked_at is null and ${withinReach('tenant', '$2')}
        for no key update`,
    [id, reach],
  )
  return rows.map(({ hex, bounds, isExpired, isImported, ...row }) => ({
    key: keyOf(row),
    hash: hashOfHex(hex),
    isExpired,
    isImported,
    bounds: parsed(bounds),
  }))[0]
}

const SETS = placeholders(4).map((value, index) => {
  const field = FIELDS[index] as keyof KeyFields
  const { column } = KEY_COLUMNS[field]
  return `${column} = case when '${field}' = any($2::text[]) then ${value} else ${column} end`
})

/** Writes these fields of a key that is locked; the others stay as they are. */
export async function updateApiKey(
  db: Db,
  id: string,
  changed: readonly string[],
  fields: KeyFields,
  bounds: Bounds | null,
): Promise<ApiKey> {
  const { rows } = await db.query(
    `update svc."__svc.auth.api_keys" set ${SETS.join(', ')}, bounds = $3::jsonb
      where id = $1 returning ${COLUMNS}`,
    [id, changed, bounds && JSON.stringify(bounds), ...valuesOf(fields)],
  )
  return keyOf(rows[0])
}

/** Ends a key in `overlapSeconds`, or earlier where it would have ended before. */
export async function replaceApiKey(
  db: Db,
  id: string,
  by: string,
  overlapSeconds: number,
): Promise<ApiKey> {
  const { rows } = await db.query(
    `update svc."__svc.auth.api_keys"
        set replaced_by = $2,
            expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $3))
      where id = $1
     returning ${COLUMNS}`,
    [id, by, overlapSeconds],
  )
  return keyOf(rows[0])
}

/** Ends a key now, where it has not ended. Returns it as it was. */
export async function endApiKey(db: Db, id: string): Promise<EndedKey | undefined> {
  const { rows } = await db.query(
    `with alive as (
       select * from svc."__svc.auth.api_keys" where id = $1 and ${IS_ALIVE} for no key update
     ), ended as (
       update svc."__svc.auth.api_keys" set expires_at = now() where id = (select id from alive)
     )
     select ${COLUMNS}, key_hash as hex, ${isoOf('now()')} as "endedAt" from alive`,
    [id],
  )
  return rows.map(({ hex, endedAt, ...row }) => ({
    key: keyOf(row),
    hash: hashOfHex(hex),
    endedAt,
  }))[0]
}

/** A key that another one has taken the place of, and when it ended. */
export interface EndedKey {
  key: ApiKey
  hash: string
  endedAt: string
}

/** Revokes a key that is locked. */
export async function revokeApiKey(db: Db, id: string): Promise<void> {
  await db.query(`update svc."__svc.auth.api_keys" set revoked_at = now() where id = $1`, [id])
}

/** A key that was revoked with its user. */
export type RevokedKey = Pick<LockedKey, 'key' | 'hash'>

/** The keys that were not revoked before. */
export async function revokeKeysOfUser(db: Db, userId: string): Promise<RevokedKey[]> {
  const { rows } = await db.query(
    `update svc."__svc.auth.api_keys" set revoked_at = now()
      where user_id = $1 and revoked_at is null
     returning ${COLUMNS}, key_hash as hex`,
    [userId],
  )
  return rows.map(({ hex, ...row }) => ({ key: keyOf(row), hash: hashOfHex(hex) }))
}

/**
 * Skips rows that are locked, so that it cannot deadlock with another statement. Returns the ids of the
 * keys that were skipped, for a later batch; not those of keys that are deleted.
 */
export async function writeLastUsed(db: Db, uses: ReadonlyMap<string, Date>): Promise<string[]> {
  const { rows } = await db.query(
    `with free as (
       select id from svc."__svc.auth.api_keys"
        where id = any($1::uuid[]) for no key update skip locked
     ), written as (
       update svc."__svc.auth.api_keys" as keys
          set last_used_at = greatest(keys.last_used_at, to_timestamp(uses.ms / 1000))
         from free
         join unnest($1::uuid[], $2::float8[]) as uses (id, ms) on uses.id = free.id
        where keys.id = free.id
     )
     select id from svc."__svc.auth.api_keys"
      where id = any($1::uuid[]) and id not in (select id from free)`,
    // Times are passed as numbers: pg takes five times as long to write a Date.
    [[...uses.keys()], Array.from(uses.values(), (at) => at.getTime())],
  )
  return rows.map(({ id }) => id)
}

/**
 * For `advance`: keys become `seconds` older. The last use and the creation decide for how many days a key was not
 * used. An unused key stays announced.
 */
export async function shiftKeyTimes(db: Db, seconds: number): Promise<void> {
  await db.query(
    `update svc."__svc.auth.api_keys"
        set expires_at = expires_at - back, created_at = created_at - back,
            last_used_at = last_used_at - back, imported_at = imported_at - back,
            unused_notice_of = unused_notice_of - back
       from make_interval(secs => $1) as back`,
    [seconds],
  )
}
