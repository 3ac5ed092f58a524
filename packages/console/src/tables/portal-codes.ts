/** The table of unused portal links. */
import type { Db } from '@svc/core'
import { EVERYWHERE, withinReach, type Reach } from '@svc/core/internal'
import { time, type Look } from './sessions.ts'
import type { Right } from '../rights.ts'

export interface PortalCode {
  id: string
  tenant: string
  userId: string | null
  rights: Right[]
  /** The key that made it, with which it ends. */
  keyId: string | null
  /** Of a link of the bootstrap key: a seal that changes with that key. */
  bootstrapSeal: string | null
  /** Of the page that it opens. */
  look: Look
  createdAt: string
  expiresAt: string
}

export interface NewPortalCode extends Omit<PortalCode, 'createdAt' | 'expiresAt'> {
  codeHash: Buffer
  forSeconds: number
  /** The link does not outlive its key: ISO 8601. */
  until: string | null
}

const COLUMNS = `id, tenant, user_id as "userId", to_json(rights)::text as rights, key_id as "keyId",
  bootstrap_seal as "bootstrapSeal", look::text as look, ${time('created_at')} as "createdAt",
  ${time('expires_at')} as "expiresAt"`

export async function insertPortalCode(db: Db, code: NewPortalCode): Promise<PortalCode> {
  const { id, codeHash, tenant, userId, rights, keyId, bootstrapSeal, look } = code
  const { forSeconds, until } = code
  const { rows } = await db.query(
    `insert into svc."__svc.console.portal_codes"
       (id, code_hash, tenant, user_id, rights, key_id, bootstrap_seal, look, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb,
             least(now() + make_interval(secs => $9), $10::timestamptz))
     returning ${COLUMNS}`,
    [
      id,
      codeHash,
      tenant,
      userId,
      rights,
      keyId,
      bootstrapSeal,
      JSON.stringify(look),
      forSeconds,
      until,
    ],
  )
  return asCode(rows[0])
}

export async function findPortalCode(db: Db, codeHash: Buffer): Promise<PortalCode | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.console.portal_codes"
      where code_hash = $1 and expires_at > now()`,
    [codeHash],
  )
  return rows[0] && asCode(rows[0])
}

/** Newest first. */
export async function listPortalCodes(
  db: Db,
  reach: Reach,
  { limit, after }: { limit: number | undefined; after?: string | undefined },
): Promise<PortalCode[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.console.portal_codes"
      where expires_at > now() and ${withinReach('tenant', '$1')}
        and ($2::uuid is null or id < $2)
      order by id desc limit $3`,
    [reach, after ?? null, limit ?? null],
  )
  return rows.map(asCode)
}

/** If two requests use a link at once, in any process, only one gets it. */
export async function deletePortalCode(
  db: Db,
  id: string,
  reach: Reach = EVERYWHERE,
): Promise<PortalCode | undefined> {
  const { rows } = await db.query(
    `delete from svc."__svc.console.portal_codes"
      where id = $1 and expires_at > now() and ${withinReach('tenant', '$2')}
     returning ${COLUMNS}`,
    [id, reach],
  )
  return rows[0] && asCode(rows[0])
}

/** Those of a tenant, of a person, or of a person in a tenant. */
export async function deletePortalCodesOf(
  db: Db,
  { tenant = null, userId = null }: { tenant?: string | null; userId?: string | null },
): Promise<PortalCode[]> {
  const { rows } = await db.query(
    `delete from svc."__svc.console.portal_codes"
      where expires_at > now()
        and ($1::text is null or tenant = $1) and ($2::text is null or user_id = $2)
     returning ${COLUMNS}`,
    [tenant, userId],
  )
  return rows.map(asCode)
}

/** A host may have set parsers in pg that turn an array into something else. */
const asCode = (row: PortalCode): PortalCode => ({
  ...row,
  rights: JSON.parse(String(row.rights)),
  look: JSON.parse(row.look as unknown as string),
})
