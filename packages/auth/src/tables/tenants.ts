/** Statements on all keys of one tenant, and those that delete its rows in portions. */
import { ADVISORY_LOCKS, type Db } from '@svc/core/internal'
import { hashOfHex } from '../key-format.ts'
import { IS_ALIVE } from './api-keys.ts'
import { deleteInPortions } from './portions.ts'

/** Until the end of the transaction no other counts or adds keys of the tenant. */
export async function lockKeysOfTenant(db: Db, tenant: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.keysOfTenants}, hashtext($1))`, [
    tenant,
  ])
}

/**
 * Keys that count for a limit: not imported, not revoked, not expired, and not rotated to another one that
 * counts. A rotation does not change their number, nor does the revocation of the new key.
 *
 * @param prolonged the expired key that a PATCH makes valid again; the key that it replaces is not counted
 */
export async function countKeysOfTenant(
  db: Db,
  tenant: string,
  prolonged: string | null,
): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int as keys from svc."__svc.auth.api_keys" as keys
      where tenant = $1 and imported_at is null and ${IS_ALIVE}
        and ($2::uuid is null or replaced_by is distinct from $2)
        and not exists (select from svc."__svc.auth.api_keys"
                         where id = keys.replaced_by and ${IS_ALIVE})`,
    [tenant, prolonged],
  )
  return rows[0].keys
}

/**
 * Rows of keys in one transaction: each key that changes in it is dropped from the caches one by
 * one.
 */
export const KEYS_PORTION = 200

/** Revokes a portion of the keys that are not revoked. Returns their hashes. */
export async function revokeKeysOfTenant(db: Db, tenant: string): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.auth.api_keys" set revoked_at = now()
      where id in (select id from svc."__svc.auth.api_keys"
                    where tenant = $1 and revoked_at is null
                    order by id desc limit $2 for update)
     returning key_hash as hex`,
    [tenant, KEYS_PORTION],
  )
  return rows.map(({ hex }: { hex: string | null }) => hashOfHex(hex))
}

/** A portion of the keys, locked until the transaction ends. */
export async function lockKeyIdsOfTenant(db: Db, tenant: string): Promise<string[]> {
  const { rows } = await db.query(
    `select id from svc."__svc.auth.api_keys" where tenant = $1
      order by id desc limit $2 for update`,
    [tenant, KEYS_PORTION],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/** Returns the hashes of the keys. */
export async function deleteKeys(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query(
    `delete from svc."__svc.auth.api_keys" where id = any($1::uuid[]) returning key_hash as hex`,
    [ids],
  )
  return rows.map(({ hex }: { hex: string | null }) => hashOfHex(hex))
}

/** Deletes the allotments of the limits and quotas of these subjects. Returns how many rows. */
export async function deleteAllowances(db: Db, subjects: readonly string[]): Promise<number> {
  const { rows } = await db.query(
    `with given as materialized (
       select subject from unnest($1::text[]) as given (subject) order by subject collate "C"
     ), locked as materialized (
       -- In the order of "allot_allowances": the two cannot wait for each other.
       select sum((
           select count(*) from (
             select from svc."__svc.auth.windows" as w where w.subject = given.subject
              order by per_seconds::text collate "C" for update) as of_limits
         ) + (
           select count(*) from (
             select from svc."__svc.auth.quotas" as q where q.subject = given.subject
              order by period for update) as of_quotas
         )) as count
         from given
     ), of_limits as (
       delete from svc."__svc.auth.windows"
        where (select count from locked) > 0 and subject = any($1::text[]) returning subject
     ), of_quotas as (
       delete from svc."__svc.auth.quotas"
        where (select count from locked) > 0 and subject = any($1::text[]) returning subject
     )
     select ((select count(*) from of_limits) + (select count(*) from of_quotas))::int as count`,
    [subjects],
  )
  return (rows[0] as { count: number }).count
}

export const deleteUsageOfTenant = (db: Db, tenant: string): Promise<number> =>
  deleteInPortions(
    db,
    `delete from svc."__svc.auth.usage" as usage
      using (select key_id, hour from svc."__svc.auth.usage"
              where tenant = $1 order by hour limit $2) as portion
      where (usage.key_id, usage.hour) = (portion.key_id, portion.hour)`,
    [tenant],
  )

export const deleteUsersOfTenant = (db: Db, tenant: string): Promise<number> =>
  deleteInPortions(
    db,
    `delete from svc."__svc.auth.users"
      where id in (select id from svc."__svc.auth.users" where tenant = $1 order by id desc limit $2)`,
    [tenant],
  )
