import type { Db } from '@svc/core/internal'
import type { Page, User } from '../schemas.ts'
import { isoOf } from './timestamps.ts'

const COLUMNS = `id, email, name, role, ${isoOf('created_at')} as "createdAt"`

/** `undefined` where another user has the email. */
export async function insertUser(
  db: Db,
  user: { id: string; email: string; name: string; role: string },
): Promise<User | undefined> {
  const { rows } = await db.query(
    `insert into svc."__svc.auth.users" (id, email, name, role)
     values ($1, $2, $3, $4)
     on conflict (lower(email)) do nothing
     returning ${COLUMNS}`,
    [user.id, user.email, user.name, user.role],
  )
  return rows[0]
}

export async function findUser(db: Db, id: string): Promise<User | undefined> {
  const { rows } = await db.query(`select ${COLUMNS} from svc."__svc.auth.users" where id = $1`, [
    id,
  ])
  return rows[0]
}

/** Newest first. */
export async function listUsers(db: Db, { after, limit }: Page = {}): Promise<User[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.auth.users"
      where $1::uuid is null or id < $1
      order by id desc
      limit $2`,
    [after ?? null, limit ?? null],
  )
  return rows
}

/** Whether there was such a user. */
export async function deleteUser(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from svc."__svc.auth.users" where id = $1`, [id])
  return rowCount === 1
}
