/** The table of outbound webhooks. */
import type { Db } from '@svc/core'

export interface Registration {
  id: string
  url: string
  events: string[]
  label: string | null
  active: boolean
  secret: string
  /** ISO 8601. */
  createdAt: string
  updatedAt: string
}

/** What a delivery needs to know of its webhook. */
export interface Target {
  id: string
  url: string
  active: boolean
  secret: string
  /** The secret before the last rotation, while it signs along. */
  previousSecret: string | null
}

export interface Changes {
  url?: string
  events?: string[]
  active?: boolean
  label?: string | null
}

const COLUMNS = `id, url, events, label, active, secret, created_at as "createdAt", updated_at as "updatedAt"`

export async function insertRegistration(
  db: Db,
  {
    id,
    url,
    events,
    label,
    secret,
  }: Pick<Registration, 'id' | 'url' | 'events' | 'label' | 'secret'>,
): Promise<Registration> {
  const { rows } = await db.query(
    `insert into svc."__svc.webhooks.registrations" (id, url, events, label, secret)
     values ($1, $2, $3, $4, $5)
     returning ${COLUMNS}`,
    [id, url, events, label, secret],
  )
  return asRegistration(rows[0])
}

/** Newest first; all of them without a `limit`. */
export async function listRegistrations(
  db: Db,
  { limit, after }: { limit?: number; after?: string } = {},
): Promise<Registration[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.registrations"
      where $1::uuid is null or id < $1
      order by id desc limit $2`,
    [after ?? null, limit ?? null],
  )
  return rows.map(asRegistration)
}

export async function findRegistration(db: Db, id: string): Promise<Registration | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.registrations" where id = $1`,
    [id],
  )
  return rows[0] && asRegistration(rows[0])
}

/** Nobody can change them until the transaction ends. Those that are gone are left out. */
export async function holdRegistrations(
  db: Db,
  ids: string[],
): Promise<{ id: string; active: boolean }[]> {
  const { rows } = await db.query(
    `select id, active from svc."__svc.webhooks.registrations"
      where id = any($1::uuid[]) order by id for share`,
    [ids],
  )
  return rows
}

/** As it was and as it is now. */
export async function updateRegistration(
  db: Db,
  id: string,
  { url, events, active, label }: Changes,
): Promise<{ before: Registration; after: Registration } | undefined> {
  const { rows: found } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.registrations" where id = $1 for update`,
    [id],
  )
  if (found.length === 0) return undefined
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations"
        set url = coalesce($2, url),
            events = coalesce($3, events),
            active = coalesce($4, active),
            label = case when $5 then $6 else label end,
            updated_at = now()
      where id = $1
     returning ${COLUMNS}`,
    [id, url ?? null, events ?? null, active ?? null, label !== undefined, label ?? null],
  )
  return { before: asRegistration(found[0]), after: asRegistration(rows[0]) }
}

/** The old secret signs along for `overlapSeconds`. */
export async function replaceSecret(
  db: Db,
  id: string,
  secret: string,
  overlapSeconds: number,
): Promise<Registration | undefined> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations"
        set secret = $2,
            previous_secret = case when $3 > 0 then secret end,
            previous_secret_expires_at = now() + make_interval(secs => $3),
            updated_at = now()
      where id = $1
     returning ${COLUMNS}`,
    [id, secret, overlapSeconds],
  )
  return rows[0] && asRegistration(rows[0])
}

/** Returns the ids of those that were active until now. */
export async function deactivateRegistrations(db: Db, ids: string[]): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set active = false, updated_at = now()
      where id in (select id from svc."__svc.webhooks.registrations"
                    where id = any($1::uuid[]) and active order by id for update)
     returning id`,
    [ids],
  )
  return rows.map(({ id }: { id: string }) => id)
}

export async function deleteRegistration(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from svc."__svc.webhooks.registrations" where id = $1`,
    [id],
  )
  return rowCount === 1
}

export async function findTargets(db: Db, ids: string[]): Promise<Target[]> {
  const { rows } = await db.query(
    `select id, url, active, secret,
            case when previous_secret_expires_at > now() then previous_secret end as "previousSecret"
       from svc."__svc.webhooks.registrations" where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

/** A host may have taught pg to read timestamps as something else than dates. */
const asRegistration = (row: Registration): Registration => ({
  ...row,
  createdAt: new Date(row.createdAt).toISOString(),
  updatedAt: new Date(row.updatedAt).toISOString(),
})
