/** The table of unused portal links. */
import type { Db } from '@svc/core'
import type { Right } from '../contract.ts'

export interface PortalCode {
  tenant: string
  userId: string | null
  rights: Right[]
}

export async function insertPortalCode(
  db: Db,
  codeHash: Buffer,
  { tenant, userId, rights }: PortalCode,
  forSeconds: number,
): Promise<void> {
  await db.query(
    `insert into svc."__svc.console.portal_codes" (code_hash, tenant, user_id, rights, expires_at)
     values ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
    [codeHash, tenant, userId, rights, forSeconds],
  )
}

/** If two requests use a link at once, in any process, only one gets it. */
export async function takePortalCode(db: Db, codeHash: Buffer): Promise<PortalCode | undefined> {
  const { rows } = await db.query(
    `delete from svc."__svc.console.portal_codes"
      where code_hash = $1 and expires_at > now()
     returning tenant, user_id as "userId", to_json(rights)::text as rights`,
    [codeHash],
  )
  const row = rows[0] as { tenant: string; userId: string | null; rights: string } | undefined
  return row && { ...row, rights: JSON.parse(row.rights) }
}
