import {
  foundBy,
  listNewest,
  tenantListOf,
  withinReach,
  type Db,
  type Reach,
} from '@svc/core/internal'
import type { TenantOfAuth, User, UserFilter } from '../schemas.ts'
import { isoOf } from './timestamps.ts'

const COLUMNS = `id, email, name, role, tenant, ${isoOf('created_at')} as "createdAt"`

/** `undefined` where another user of the tenant has the email. */
export async function insertUser(
  db: Db,
  user: { id: string; email: string; name: string; role: string; tenant: string | null },
): Promise<User | undefined> {
  const { rows } = await db.query(
    `insert into svc."__svc.auth.users" (id, email, name, role, tenant)
     values ($1, $2, $3, $4, $5)
     on conflict do nothing
     returning ${COLUMNS}`,
    [user.id, user.email, user.name, user.role, user.tenant],
  )
  return rows[0]
}

export async function findUser(db: Db, id: string, reach: Reach): Promise<User | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.auth.users" where id = $1 and ${withinReach('tenant', '$2')}`,
    [id, reach],
  )
  return rows[0]
}

/** The id of the user of this tenant with this e-mail, in whatever case it was written. */
export async function findUserByEmail(
  db: Db,
  email: string,
  tenant: string | null,
): Promise<string | undefined> {
  const { rows } = await db.query(
    `select id from svc."__svc.auth.users"
      where lower(email collate "C") = lower($1 collate "C") and tenant is not distinct from $2`,
    [email, tenant],
  )
  return (rows[0] as { id: string } | undefined)?.id
}

const LOCK = `select ${COLUMNS} from svc."__svc.auth.users"
  where id = $1 and ${withinReach('tenant', '$2')}`

/** Finds a user for a transaction that writes a key: a concurrent deletion of the user waits for it. */
export async function lockUser(db: Db, id: string, reach: Reach): Promise<User | undefined> {
  const { rows } = await db.query(`${LOCK} for key share`, [id, reach])
  return rows[0]
}

/** Finds a user that is about to be deleted. Waits for transactions that write its keys. */
export async function lockUserToDelete(
  db: Db,
  id: string,
  reach: Reach,
): Promise<User | undefined> {
  const { rows } = await db.query(`${LOCK} for update`, [id, reach])
  return rows[0]
}

/** Finds many users for such a transaction: their tenants by their ids. */
export async function lockUsers(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await db.query(
    `select id, tenant from svc."__svc.auth.users"
      where id = any($1::uuid[]) order by id for key share`,
    [ids],
  )
  return new Map(rows.map(({ id, tenant }) => [id, tenant]))
}

const USERS = 'svc."__svc.auth.users"'
const LIST = {
  table: USERS,
  columns: COLUMNS,
  within: `${withinReach('tenant', '$3')} and ($4::uuid[] is null or id = any($4))`,
  found: foundBy('words', '$5'),
}

/** Newest first. */
export const listUsers = (
  db: Db,
  reach: Reach,
  { ids, ...page }: Omit<UserFilter, 'tenant'> = {},
): Promise<User[]> => listNewest(db, LIST, page, [reach, ids ?? null])

/** Deletes a user that is locked. */
export async function deleteUser(db: Db, id: string): Promise<void> {
  await db.query('delete from svc."__svc.auth.users" where id = $1', [id])
}

/** Tenants that have users, by name, with their users and the keys that were not revoked. */
export const listTenants = tenantListOf<TenantOfAuth>(USERS, {
  users: { table: USERS },
  keys: { table: 'svc."__svc.auth.api_keys"', where: 'revoked_at is null' },
})
