import type { Db } from '../postgres/pools.ts'
import { InvalidEntry } from '../errors.ts'
import { isText } from './text.ts'

/** `db`: a client inside a transaction, which the change then belongs to. */
export interface EntryOptions {
  /** Seconds until the entry is gone; without it, it stays. */
  ttlSeconds?: number
  db?: Db
}

/** Keys and JSON values in Postgres. An expired entry is invisible at once, and swept later. */
export interface KeyValueStore {
  /** The value, or `undefined`. */
  get<Value = unknown>(key: string, options?: { db?: Db }): Promise<Value | undefined>
  set(key: string, value: unknown, options?: EntryOptions): Promise<void>
  /** Whether there was such an entry. */
  delete(key: string, options?: { db?: Db }): Promise<boolean>
  /** Whether the entry was written: of two at once, one is told `true`. */
  setIfAbsent(key: string, value: unknown, options?: EntryOptions): Promise<boolean>
  /**
   * Adds `by` (default 1) to a number that starts at 0 and returns the sum. `ttlSeconds` counts
   * from the first increment; later ones do not prolong it.
   */
  increment(key: string, options?: EntryOptions & { by?: number }): Promise<number>
}

export function makeKeyValueStore(pool: Db): KeyValueStore {
  return {
    get: async (key, { db = pool } = {}) => findValue(db, checkedKey(key)) as never,
    set: async (key, value, { ttlSeconds, db = pool } = {}) =>
      putValue(db, checkedKey(key), asJson(value), checkedTtl(ttlSeconds)),
    delete: async (key, { db = pool } = {}) => deleteValue(db, checkedKey(key)),
    setIfAbsent: async (key, value, { ttlSeconds, db = pool } = {}) =>
      claimKey(db, checkedKey(key), asJson(value), checkedTtl(ttlSeconds)),
    increment: async (key, { by = 1, ttlSeconds, db = pool } = {}) =>
      addToValue(db, checkedKey(key), checkedNumber(by), checkedTtl(ttlSeconds)),
  }
}

async function findValue(db: Db, key: string): Promise<unknown> {
  const { rows } = await db.query(
    `select value from svc."__svc.kv"
      where key = $1 and (expires_at is null or expires_at > clock_timestamp())`,
    [key],
  )
  return rows[0]?.value
}

async function putValue(db: Db, key: string, json: string, ttl: number | null): Promise<void> {
  await asking(
    db,
    `insert into svc."__svc.kv" (key, value, expires_at)
     values ($1, $2, clock_timestamp() + make_interval(secs => $3))
     on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`,
    [key, json, ttl],
  )
}

async function claimKey(db: Db, key: string, json: string, ttl: number | null): Promise<boolean> {
  return (await claimEntries(db, [{ key, json, ttl }])).has(key)
}

/** A key to be claimed: it is taken for `ttlSeconds`. */
export interface Claim {
  key: string
  ttlSeconds: number
}

/** Claims many keys, each of them once, and returns those that were free. */
export const claimKeys = (db: Db, claims: readonly Claim[]): Promise<ReadonlySet<string>> =>
  claimEntries(
    db,
    claims.map(({ key, ttlSeconds }) => ({ key, json: 'true', ttl: ttlSeconds })),
  )

/** They go in by the order of their keys: two batches that share some would deadlock in any other. */
async function claimEntries(
  db: Db,
  entries: { key: string; json: string; ttl: number | null }[],
): Promise<ReadonlySet<string>> {
  const { rows } = await asking(
    db,
    `insert into svc."__svc.kv" as kv (key, value, expires_at)
     select key, json::jsonb, clock_timestamp() + make_interval(secs => ttl)
       from unnest($1::text[], $2::text[], $3::float8[]) as given (key, json, ttl)
      order by key collate "C"
     on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
      where kv.expires_at <= clock_timestamp()
     returning key`,
    [entries.map(({ key }) => key), entries.map(({ json }) => json), entries.map(({ ttl }) => ttl)],
  )
  return new Set(rows.map(({ key }) => key as string))
}

async function addToValue(db: Db, key: string, by: number, ttl: number | null): Promise<number> {
  const { rows } = await asking(
    db,
    `insert into svc."__svc.kv" as kv (key, value, expires_at)
     values ($1, to_jsonb($2::numeric), clock_timestamp() + make_interval(secs => $3))
     on conflict (key) do update set
       value = case when kv.expires_at <= clock_timestamp() then excluded.value
                    else to_jsonb((kv.value #>> '{}')::numeric + $2::numeric) end,
       expires_at = case when kv.expires_at <= clock_timestamp() then excluded.expires_at
                         else kv.expires_at end
     returning value`,
    [key, by, ttl],
  )
  return rows[0].value
}

async function deleteValue(db: Db, key: string): Promise<boolean> {
  const { rows } = await db.query(
    `delete from svc."__svc.kv" where key = $1
     returning expires_at is null or expires_at > clock_timestamp() as alive`,
    [key],
  )
  return rows[0]?.alive ?? false
}

/** Deletes what has expired, in portions that hold no lock for long. */
export async function sweepExpired(db: Db): Promise<void> {
  const portion = 5000
  for (;;) {
    // `now()`, since the index cannot be asked for what changes while it is read.
    const { rowCount } = await db.query(
      `with portion as materialized (
         select key from svc."__svc.kv" where expires_at <= now() limit $1 for update skip locked
       )
       delete from svc."__svc.kv" where key = any(array(select key from portion))`,
      [portion],
    )
    if ((rowCount ?? 0) < portion) return
  }
}

/** What JSON may hold and Postgres may not, and a sum with something that is no number. */
async function asking(db: Db, text: string, values: unknown[]): ReturnType<Db['query']> {
  try {
    return await db.query(text, values)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code?.startsWith('22')) throw new InvalidEntry(`Postgres cannot keep that: ${message}`)
    throw error
  }
}

function checkedKey(key: unknown): string {
  if (isText(key, 1024)) return key
  throw new InvalidEntry(
    'a key is a string of 1 to 1024 characters, without NUL or half a surrogate pair',
  )
}

const CENTURY_IN_SECONDS = 100 * 365 * 24 * 3600

function checkedTtl(ttlSeconds: unknown): number | null {
  if (ttlSeconds === undefined) return null
  if (typeof ttlSeconds === 'number' && ttlSeconds > 0 && ttlSeconds <= CENTURY_IN_SECONDS) {
    return ttlSeconds
  }
  throw new InvalidEntry('ttlSeconds must be a number above 0 and of at most 100 years')
}

function checkedNumber(by: unknown): number {
  if (typeof by === 'number' && Number.isFinite(by)) return by
  throw new InvalidEntry('by must be a number')
}

function asJson(value: unknown): string {
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (error) {
    throw new InvalidEntry(
      `a value must be something that JSON can write: ${(error as Error).message}`,
    )
  }
  if (json === undefined) throw new InvalidEntry('a value must be something that JSON can write')
  return json
}
