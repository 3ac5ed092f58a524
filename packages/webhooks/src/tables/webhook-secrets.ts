/** The columns of webhooks that hold secrets, as they are stored. */
import type { Db } from '@svc/core'

/** The stored form of a webhook's secrets. */
export interface StoredSecrets {
  id: string
  secret: string
  previousSecret: string | null
  headers: Record<string, string> | null
}

/**
 * Secrets in the order of their ids, from the one after `after` on. No other transaction can change
 * them meanwhile.
 */
export async function lockSecretColumns(
  db: Db,
  after: string | null,
  limit: number,
): Promise<StoredSecrets[]> {
  const { rows } = await db.query(
    `select id, secret, previous_secret as "previousSecret", headers::text as headers
       from svc."__svc.webhooks.registrations"
      where $1::uuid is null or id > $1
      order by id limit $2 for update`,
    [after, limit],
  )
  return rows.map(({ headers, ...row }) => ({ ...row, headers: headers && JSON.parse(headers) }))
}

export async function updateSecretColumns(
  db: Db,
  id: string,
  { secret, previousSecret, headers }: Omit<StoredSecrets, 'id'>,
): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.registrations"
        set secret = $2, previous_secret = $3, headers = $4 where id = $1`,
    [id, secret, previousSecret, headers && JSON.stringify(headers)],
  )
}

/** Ends previous secrets `seconds` sooner, for `advance` of the testing kit. */
export async function shiftSecretExpiry(db: Db, seconds: number): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.registrations"
        set previous_secret_expires_at = previous_secret_expires_at - make_interval(secs => $1)
      where previous_secret_expires_at is not null`,
    [seconds],
  )
}
