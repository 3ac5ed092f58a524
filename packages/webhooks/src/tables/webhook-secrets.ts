/** The columns of webhooks that hold secrets, as they are stored. */
import type { Db } from '@svc/core'

/** The stored form of a webhook's secrets. */
export interface StoredSecrets {
  id: string
  secret: string
  /** Newest first, with those that have expired. */
  previousSecrets: string[]
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
    `select id, secret, jsonb_path_query_array(previous_secrets, '$[*].secret')::text as "previousSecrets",
            headers::text as headers
       from svc."__svc.webhooks.registrations"
      where $1::uuid is null or id > $1
      order by id limit $2 for update`,
    [after, limit],
  )
  return rows.map(({ previousSecrets, headers, ...row }) => ({
    ...row,
    previousSecrets: JSON.parse(previousSecrets ?? '[]'),
    headers: headers && JSON.parse(headers),
  }))
}

export async function updateSecretColumns(
  db: Db,
  id: string,
  { secret, previousSecrets, headers }: Omit<StoredSecrets, 'id'>,
): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.registrations"
        set secret = $2, headers = $4, previous_secrets = (
            select jsonb_agg(jsonb_set(previous.one, '{secret}', given.secret) order by previous.n)
              from jsonb_array_elements(previous_secrets) with ordinality as previous (one, n)
              join jsonb_array_elements($3::jsonb) with ordinality as given (secret, n) using (n))
      where id = $1`,
    [id, secret, JSON.stringify(previousSecrets), headers && JSON.stringify(headers)],
  )
}

/** A secret that was replaced and still signs. */
export interface PreviousSecret {
  secret: string
  /** ISO 8601. */
  expiresAt: string
}

/** Newest first. */
export async function findPreviousSecrets(db: Db, id: string): Promise<PreviousSecret[]> {
  const { rows } = await db.query(
    `select coalesce(json_agg(previous.one order by previous.n)::text, '[]') as previous
       from svc."__svc.webhooks.registrations",
            jsonb_array_elements(previous_secrets) with ordinality as previous (one, n)
      where id = $1 and (previous.one ->> 'expiresAt')::timestamptz > now()`,
    [id],
  )
  return JSON.parse((rows[0] as { previous: string }).previous)
}

/** Ends previous secrets `seconds` sooner, for `advance` of the testing kit. */
export async function shiftSecretExpiry(db: Db, seconds: number): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.registrations" set previous_secrets = (
        select jsonb_agg(jsonb_set(previous.one, '{expiresAt}',
                 to_jsonb((previous.one ->> 'expiresAt')::timestamptz - make_interval(secs => $1)))
                 order by previous.n)
          from jsonb_array_elements(previous_secrets) with ordinality as previous (one, n))
      where previous_secrets is not null`,
    [seconds],
  )
}
