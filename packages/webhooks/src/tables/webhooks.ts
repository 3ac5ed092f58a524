/** The table of webhooks: which URL wants which events. */
import type { Db } from '@svc/core'
import type { Page, WebhookChanges, WebhookWithSecret } from '../schemas.ts'

/** What a delivery needs of its webhook. */
export interface WebhookForDelivery {
  id: string
  url: string
  active: boolean
  secret: string
  /** The secret before the last rotation, while deliveries are signed with it as well. */
  previousSecret: string | null
}

const COLUMNS = `id, url, events, label, active, secret, created_at as "createdAt", updated_at as "updatedAt"`

export async function insertWebhook(
  db: Db,
  {
    id,
    url,
    events,
    label,
    secret,
  }: Pick<WebhookWithSecret, 'id' | 'url' | 'events' | 'label' | 'secret'>,
): Promise<WebhookWithSecret> {
  const { rows } = await db.query(
    `insert into svc."__svc.webhooks.registrations" (id, url, events, label, secret)
     values ($1, $2, $3, $4, $5)
     returning ${COLUMNS}`,
    [id, url, events, label, secret],
  )
  return asWebhook(rows[0])
}

/** Newest first; all of them without a `limit`. */
export async function listWebhooks(
  db: Db,
  { limit, after }: Page = {},
): Promise<WebhookWithSecret[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.registrations"
      where $1::uuid is null or id < $1
      order by id desc limit $2`,
    [after ?? null, limit ?? null],
  )
  return rows.map(asWebhook)
}

export async function findWebhook(db: Db, id: string): Promise<WebhookWithSecret | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.registrations" where id = $1`,
    [id],
  )
  return rows[0] && asWebhook(rows[0])
}

/** No other transaction can change them until this one ends. Deleted ones are left out. */
export async function lockWebhooks(
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

/** Returns the webhook before and after the change. */
export async function updateWebhook(
  db: Db,
  id: string,
  { url, events, active, label }: WebhookChanges,
): Promise<{ before: WebhookWithSecret; after: WebhookWithSecret } | undefined> {
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
  return { before: asWebhook(found[0]), after: asWebhook(rows[0]) }
}

/** Deliveries are signed with the old secret as well for `overlapSeconds`. */
export async function replaceSecret(
  db: Db,
  id: string,
  secret: string,
  overlapSeconds: number,
): Promise<WebhookWithSecret | undefined> {
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
  return rows[0] && asWebhook(rows[0])
}

/** Returns the ids of the webhooks that were active until now. */
export async function deactivateWebhooks(db: Db, ids: string[]): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set active = false, updated_at = now()
      where id in (select id from svc."__svc.webhooks.registrations"
                    where id = any($1::uuid[]) and active order by id for update)
     returning id`,
    [ids],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/** The webhook that was deleted. */
export async function deleteWebhook(db: Db, id: string): Promise<WebhookWithSecret | undefined> {
  const { rows } = await db.query(
    `delete from svc."__svc.webhooks.registrations" where id = $1 returning ${COLUMNS}`,
    [id],
  )
  return rows[0] && asWebhook(rows[0])
}

export async function findWebhooksForDelivery(
  db: Db,
  ids: string[],
): Promise<WebhookForDelivery[]> {
  const { rows } = await db.query(
    `select id, url, active, secret,
            case when previous_secret_expires_at > now() then previous_secret end as "previousSecret"
       from svc."__svc.webhooks.registrations" where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

/** A host may have set parsers in pg that turn timestamps into something else than dates. */
const asWebhook = (row: WebhookWithSecret): WebhookWithSecret => ({
  ...row,
  createdAt: new Date(row.createdAt).toISOString(),
  updatedAt: new Date(row.updatedAt).toISOString(),
})
