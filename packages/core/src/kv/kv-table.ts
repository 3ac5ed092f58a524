/** The table of the key-value store. */
import type { Db } from '../postgres/transaction.ts'
import { InvalidEntry } from '../errors.ts'

/** JSON is read as text, because the host's type parsers decide what pg makes of JSON. */
const valueOf = ({ value }: { value: string }): unknown => JSON.parse(value)

export async function findValue(db: Db, key: string): Promise<unknown> {
  const { rows } = await db.query(
    `select value::text from svc."__svc.kv"
      where key = $1 and (expires_at is null or expires_at > clock_timestamp())`,
    [key],
  )
  return rows.map(valueOf)[0]
}

export async function putValue(
  db: Db,
  key: string,
  json: string,
  ttl: number | null,
): Promise<void> {
  await checkedQuery(
    db,
    `insert into svc."__svc.kv" (key, value, expires_at)
     values ($1, $2, clock_timestamp() + make_interval(secs => $3))
     on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`,
    [key, json, ttl],
  )
}

export async function takeKeyIfFree(
  db: Db,
  key: string,
  json: string,
  ttl: number | null,
): Promise<boolean> {
  const { rows } = await checkedQuery(
    db,
    `insert into svc."__svc.kv" as kv (key, value, expires_at)
     values ($1, $2, clock_timestamp() + make_interval(secs => $3))
     on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
      where kv.expires_at <= clock_timestamp()
     returning key`,
    [key, json, ttl],
  )
  return rows.length === 1
}

/**
 * The key by which an event is published once: a publish takes it for `ttlSeconds`, see
 * sql/002-functions.sql.
 */
export interface DeduplicationKey {
  key: string
  ttlSeconds: number
}

export async function addToValue(
  db: Db,
  key: string,
  by: number,
  ttl: number | null,
): Promise<number> {
  const { rows } = await checkedQuery(
    db,
    `insert into svc."__svc.kv" as kv (key, value, expires_at)
     values ($1, to_jsonb($2::numeric), clock_timestamp() + make_interval(secs => $3))
     on conflict (key) do update set
       value = case when kv.expires_at <= clock_timestamp() then excluded.value
                    else to_jsonb((kv.value #>> '{}')::numeric + $2::numeric) end,
       expires_at = case when kv.expires_at <= clock_timestamp() then excluded.expires_at
                         else kv.expires_at end
     returning value::text`,
    [key, by, ttl],
  )
  return valueOf(rows[0]) as number
}

export async function deleteValue(db: Db, key: string): Promise<boolean> {
  const { rows } = await db.query(
    `delete from svc."__svc.kv" where key = $1
     returning expires_at is null or expires_at > clock_timestamp() as alive`,
    [key],
  )
  return rows[0]?.alive ?? false
}

/** Deletes what has expired, in portions that hold no lock for long. */
export async function sweepExpired(db: Db, stopping?: AbortSignal): Promise<void> {
  const portion = 5000
  for (;;) {
    // `now()`, since an index condition needs a value that is constant during the statement.
    const { rowCount } = await db.query(
      `with portion as materialized (
         select key from svc."__svc.kv" where expires_at <= now() limit $1 for update skip locked
       )
       delete from svc."__svc.kv" where key = any(array(select key from portion))`,
      [portion],
    )
    if ((rowCount ?? 0) < portion || stopping?.aborted) return
  }
}

/**
 * Runs a statement. A value that is JSON and that Postgres cannot store, or a sum with what is not
 * a number, is an InvalidEntry.
 */
async function checkedQuery(db: Db, text: string, values: unknown[]): ReturnType<Db['query']> {
  try {
    return await db.query(text, values)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code?.startsWith('22')) throw new InvalidEntry(`Postgres cannot keep that: ${message}`)
    throw error
  }
}

/** Deletes the entries whose keys begin with `prefix`, in portions. Returns how many. */
export async function deleteKeysWithPrefix(db: Db, prefix: string): Promise<number> {
  const portion = 5000
  // The first text that is greater than all with the prefix.
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
  for (let deleted = 0; ;) {
    const { rowCount } = await db.query(
      `delete from svc."__svc.kv" where key = any(array(
         select key from svc."__svc.kv" where key >= $1 and key < $2 order by key limit $3))`,
      [prefix, end, portion],
    )
    deleted += rowCount ?? 0
    if ((rowCount ?? 0) < portion) return deleted
  }
}
