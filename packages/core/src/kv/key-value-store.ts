import type { SchemaNames } from '../postgres/schema-names.ts'
import { withSettings } from '../postgres/session-settings.ts'
import type { Db } from '../postgres/transaction.ts'
import { orDatabaseError } from '../postgres/unavailable.ts'
import { InvalidEntry } from '../errors.ts'
import { isStorableText } from '../options/check-options.ts'
import { addToValue, takeKeyIfFree, deleteValue, findValue, putValue } from './kv-table.ts'

/** Options of the methods that write. */
export interface EntryOptions {
  /** Seconds until the entry expires, at most 100 years. @default it does not expire */
  ttlSeconds?: number | undefined
  /** A client inside a transaction, which the change then belongs to. */
  db?: Db | undefined
}

/**
 * `fastify.svc.kv`: JSON values in Postgres, under keys of 1 to 1024 characters, at most 2500
 * bytes in UTF-8. An expired entry is
 * invisible at once, and deleted later. All methods reject with InvalidEntry, Unavailable, and with `db` InvalidTransaction.
 *
 * @example
 * const isFirst = await app.svc.kv.setIfAbsent('report:2030-01-01', true, { ttlSeconds: 86_400 })
 */
export interface KeyValueStore {
  /** The value, or `undefined`. */
  get: <Value = unknown>(
    key: string,
    options?: { db?: Db | undefined },
  ) => Promise<Value | undefined>
  set: (key: string, value: unknown, options?: EntryOptions) => Promise<void>
  /** Whether there was such an entry. */
  delete: (key: string, options?: { db?: Db | undefined }) => Promise<boolean>
  /** Whether the entry was written: of several calls at once one resolves to `true`. */
  setIfAbsent: (key: string, value: unknown, options?: EntryOptions) => Promise<boolean>
  /**
   * Adds `by` (default 1) to a number that starts at 0 and returns the sum. `ttlSeconds` counts
   * from the first increment; later ones do not prolong it.
   */
  increment: (key: string, options?: EntryOptions & { by?: number | undefined }) => Promise<number>
}

export function createKeyValueStore(pool: Db, names?: SchemaNames): KeyValueStore {
  const on = <Result>(db: Db | undefined, run: (db: Db) => Promise<Result>): Promise<Result> => {
    if (!db) return orDatabaseError(run(pool))
    const its = names?.on(db) ?? db
    return orDatabaseError(
      withSettings(its, () => run(its)),
      db,
    )
  }
  return {
    get: async (key, { db } = {}) => {
      const checked = checkedKey(key)
      return on(db, (its) => findValue(its, checked)) as Promise<never>
    },
    set: async (key, value, { ttlSeconds, db } = {}) => {
      const entry = [checkedKey(key), asJson(value), checkedTtl(ttlSeconds)] as const
      return on(db, (its) => putValue(its, ...entry))
    },
    delete: async (key, { db } = {}) => {
      const checked = checkedKey(key)
      return on(db, (its) => deleteValue(its, checked))
    },
    setIfAbsent: async (key, value, { ttlSeconds, db } = {}) => {
      const entry = [checkedKey(key), asJson(value), checkedTtl(ttlSeconds)] as const
      return on(db, (its) => takeKeyIfFree(its, ...entry))
    },
    increment: async (key, { by = 1, ttlSeconds, db } = {}) => {
      const entry = [checkedKey(key), checkedNumber(by), checkedTtl(ttlSeconds)] as const
      return on(db, (its) => addToValue(its, ...entry))
    },
  }
}

/** A row of an index of Postgres holds 2704. */
const LONGEST_KEY_BYTES = 2500

function checkedKey(key: unknown): string {
  if (isStorableText(key, 1024) && Buffer.byteLength(key) <= LONGEST_KEY_BYTES) return key
  throw new InvalidEntry(
    `a key is a string of 1 to 1024 characters and at most ${LONGEST_KEY_BYTES} bytes in UTF-8, without NUL or half a surrogate pair`,
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
