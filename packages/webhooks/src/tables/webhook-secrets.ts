/** The columns of webhooks that hold secrets, as they are stored. */
import type { Cipher, Core, Db } from '@svc/core/internal'
import { isCurrent, open, seal } from './sealed-columns.ts'

/** The stored form of a webhook's secrets. */
interface StoredSecrets {
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
async function lockSecretColumns(
  db: Db,
  after: string | null,
  most: number,
): Promise<StoredSecrets[]> {
  const { rows } = await db.query(
    `select id, secret, jsonb_path_query_array(previous_secrets, '$[*].secret')::text as "previousSecrets",
            headers::text as headers
       from svc."__svc.webhooks.registrations"
      where $1::uuid is null or id > $1
      order by id limit $2 for update`,
    [after, most],
  )
  return rows.map(({ previousSecrets, headers, ...row }) => ({
    ...row,
    previousSecrets: JSON.parse(previousSecrets ?? '[]'),
    headers: headers && JSON.parse(headers),
  }))
}

async function updateSecretColumns(
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

const BATCH = 200

/**
 * Brings the secrets of all webhooks under the first key of the option `encryption`. Returns how many webhooks were
 * written. Each batch is a transaction of its own.
 */
export async function reencryptWebhooks(core: Core): Promise<number> {
  let written = 0
  for (let after: string | null = null; ;) {
    const batch = await core.transaction((db) => reencryptBatch(core.cipher, db, after))
    written += batch.written
    if (batch.last === undefined) return written
    after = batch.last
  }
}

async function reencryptBatch(cipher: Cipher, db: Db, after: string | null) {
  const rows = await lockSecretColumns(db, after, BATCH)
  const old = rows.filter((row) => !isCurrent(cipher, row))
  for (const row of old) {
    await updateSecretColumns(db, row.id, seal(cipher, row.id, open(cipher, row.id, row)))
  }
  return { last: rows.at(-1)?.id, written: old.length }
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
