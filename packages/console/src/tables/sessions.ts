/** The table of sessions. */
import type { Db } from '@svc/core'
import { EVERYWHERE, withinReach, type Reach } from '@svc/core/internal'
import type { Right } from '../rights.ts'

export interface Login {
  tenant: string | null
  userId: string | null
}

/** How the page of a portal session looks. */
export interface Look {
  /** Without navigation, header and sign-out of its own. */
  embed: boolean
  colorScheme: 'light' | 'dark' | 'auto'
}

export interface SessionRow {
  id: string
  via: 'key' | 'portal'
  keyId: string | null
  userId: string | null
  tenant: string | null
  /** `null` for a session of a key. */
  rights: Right[] | null
  /** Of a session of the portal: the key that made its link, with which it ends. */
  linkKeyId: string | null
  /**
   * Of a session of the bootstrap key, and of one whose link that key made: a seal that changes with
   * that key.
   */
  bootstrapSeal: string | null
  /** Who was signed in by the login of the host when it began. */
  login: Login | null
  /** `null` for a session of a key. */
  look: Look | null
  ip: string | null
  createdAt: string
  expiresAt: string
}

export interface NewSession extends Omit<SessionRow, 'createdAt' | 'expiresAt'> {
  tokenHash: Buffer
  forSeconds: number
  /** The session does not outlive its key: ISO 8601. */
  until: string | null
}

export const time = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const COLUMNS = `id, via, key_id as "keyId", user_id as "userId", tenant, to_json(rights)::text as rights,
  link_key_id as "linkKeyId", bootstrap_seal as "bootstrapSeal", login::text as login,
  look::text as look, ip,
  ${time('created_at')} as "createdAt", ${time('expires_at')} as "expiresAt"`

export async function insertSession(db: Db, session: NewSession): Promise<SessionRow> {
  const { id, tokenHash, via, keyId, userId, tenant, rights, ip, forSeconds, until } = session
  const { linkKeyId, bootstrapSeal, login, look } = session
  const { rows } = await db.query(
    `insert into svc."__svc.console.sessions"
       (id, token_hash, via, key_id, user_id, tenant, rights, ip, link_key_id, bootstrap_seal, login,
        look, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::jsonb,
             least(now() + make_interval(secs => $13), $14::timestamptz))
     returning ${COLUMNS}`,
    [
      id,
      tokenHash,
      via,
      keyId,
      userId,
      tenant,
      rights,
      ip,
      linkKeyId,
      bootstrapSeal,
      login && JSON.stringify(login),
      look && JSON.stringify(look),
      forSeconds,
      until,
    ],
  )
  return asSession(rows[0])
}

/** Finds a session that has not expired. */
export async function findSession(db: Db, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.console.sessions"
      where token_hash = $1 and expires_at > now()`,
    [tokenHash],
  )
  return rows[0] && asSession(rows[0])
}

/** Newest first. */
export async function listSessions(
  db: Db,
  reach: Reach,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<SessionRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.console.sessions"
      where expires_at > now() and ${withinReach('tenant', '$1')}
        and ($2::uuid is null or id < $2)
      order by id desc limit $3`,
    [reach, after ?? null, limit],
  )
  return rows.map(asSession)
}

export async function deleteSession(
  db: Db,
  id: string,
  reach: Reach = EVERYWHERE,
): Promise<SessionRow | undefined> {
  const { rows } = await db.query(
    `delete from svc."__svc.console.sessions"
      where id = $1 and ${withinReach('tenant', '$2')} returning ${COLUMNS}`,
    [id, reach],
  )
  return rows[0] && asSession(rows[0])
}

/** Those of the sessions that go on. */
export async function findSessions(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query(
    `select id from svc."__svc.console.sessions" where id = any($1::uuid[]) and expires_at > now()`,
    [ids],
  )
  return new Set(rows.map(({ id }) => String(id)))
}

/**
 * Those of a tenant, of a person, or of a person in a tenant: who the session is of, or who was signed in
 * when it began.
 */
export async function deleteSessionsOf(
  db: Db,
  { tenant = null, userId = null }: Partial<Login>,
): Promise<SessionRow[]> {
  const { rows } = await db.query(
    `delete from svc."__svc.console.sessions"
      where expires_at > now() and ($1::text is null or tenant = $1 or login ->> 'tenant' = $1)
        and ($2::text is null or user_id = $2 or login ->> 'userId' = $2)
     returning ${COLUMNS}`,
    [tenant, userId],
  )
  return rows.map(asSession)
}

export async function sweepSessions(db: Db): Promise<void> {
  await db.query(`delete from svc."__svc.console.sessions" where expires_at < now()`)
  await db.query(`delete from svc."__svc.console.portal_codes" where expires_at < now()`)
}

/** Ends sessions and portal codes `seconds` earlier, for `advance` of the testing kit. */
export async function shiftSessionExpiry(db: Db, seconds: number): Promise<void> {
  for (const table of ['sessions', 'portal_codes']) {
    await db.query(
      `update svc."__svc.console.${table}" set expires_at = expires_at - make_interval(secs => $1)`,
      [seconds],
    )
  }
}

/** A host may have set parsers in pg that turn an array into something else. */
const asSession = (row: SessionRow): SessionRow => ({
  ...row,
  rights: row.rights === null ? null : JSON.parse(String(row.rights)),
  login: row.login === null ? null : JSON.parse(row.login as unknown as string),
  look: row.look === null ? null : JSON.parse(row.look as unknown as string),
})
