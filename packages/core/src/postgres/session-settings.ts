/**
 * What our statements need of the settings of a session. A role, a database, a pooler or the host may
 * have set others: for a host's own statements they stay as they are.
 */
import { InvalidTransaction } from '../errors.ts'
import type { Db } from './db.ts'

/**
 * The default level of the database may be another one, in which what other processes change at the same
 * time ends our statements.
 */
export const BEGIN = 'begin isolation level read committed'

/** In which form values are read and written. Times and zones are those of the statements themselves. */
const NEEDED: Record<string, string> = {
  client_encoding: 'UTF8',
  datestyle: 'ISO,MDY',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
}

/** Tables of ours are named with their schema. In a transaction of a host its path stays. */
const OWN = { ...NEEDED, search_path: 'pg_catalog,pg_temp' }

export const SET_LOCAL = Object.entries(OWN)
  .map(([name, value]) => `set local ${name} to ${value.replaceAll(/[^,]+/g, "'$&'")}`)
  .join('; ')

/** As options at the start of a connection. */
export const AT_START = Object.entries(OWN)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ')

/**
 * One text of JSON, since a host may have set type parsers of its own for other types. All names are
 * qualified: what they mean is one of the settings.
 */
const READ = `select pg_catalog.json_build_object('schemas', pg_catalog.current_schemas(true), 'settings',
    pg_catalog.json_build_object(${Object.keys(NEEDED)
      .map((name) => `'${name}', pg_catalog.current_setting('${name}')`)
      .join(', ')}))::pg_catalog.text as found`

interface Found {
  schemas: string[]
  settings: Record<string, string>
}

async function read(db: Db): Promise<Found> {
  const { rows } = await db.query(READ)
  return JSON.parse((rows[0] as { found: string }).found) as Found
}

const areFine = ({ settings }: Found): boolean =>
  Object.entries(settings).every(([name, value]) =>
    name === 'datestyle'
      ? value.startsWith('ISO')
      : name === 'extra_float_digits'
        ? Number(value) >= 1
        : value === NEEDED[name],
  )

/** Postgres looks there first, unless the search_path names it behind others. */
const looksInCatalogFirst = ({ schemas }: Found): boolean =>
  schemas.find((schema) => !schema.startsWith('pg_temp')) === 'pg_catalog'

/** Clients of which it is known whether our statements can run on them as they are. */
const known = new WeakMap<object, boolean>()
/** Pools whose connections have other sessions behind them from transaction to transaction. */
const pooled = new WeakSet<object>()
/** Pools whose connections begin with the settings. */
const begunWith = new WeakSet<object>()

export const markPooled = (pool: object): void => void pooled.add(pool)
export const markBegunWith = (pool: object): void => void begunWith.add(pool)

/** What a host has sent on this connection may have set others: they are asked for again. */
export function noteStatement(client: object, statement: unknown): void {
  const { text = statement } = (statement ?? {}) as { text?: unknown }
  if (typeof text === 'string' && MAY_SET.test(text)) known.delete(client)
}

const MAY_SET = /(^|;)\s*(re)?set\s|\bset_config\b|\bdiscard\b/i

/**
 * Whether a statement of ours needs a transaction that sets what it needs. Asked once for each
 * connection, which costs it one small statement.
 */
export async function needsSettings(pool: object, client: object, db: Db): Promise<boolean> {
  if (begunWith.has(pool)) return false
  if (pooled.has(pool)) return true
  const isKnown = known.get(client)
  if (isKnown !== undefined) return !isKnown
  const found = await read(db)
  const isFine = areFine(found) && looksInCatalogFirst(found)
  known.set(client, isFine)
  return !isFine
}

/**
 * Runs `run` in the transaction of a caller, with the settings that it needs. The caller's own are set
 * again after it, unless the transaction has failed: it ends with them.
 *
 * @throws InvalidTransaction where other schemas come before pg_catalog. The path is not set for a while:
 *   a statement that the caller sends at the same time would not find its tables.
 */
export async function withSettings<T>(db: Db, run: () => Promise<T>): Promise<T> {
  const found = await read(db)
  if (!looksInCatalogFirst(found)) throw new InvalidTransaction(CATALOG_NOT_FIRST)
  if (areFine(found)) return run()
  await setLocal(db, NEEDED)
  try {
    return await run()
  } finally {
    // A transaction that has failed takes no statement, and ends with its settings.
    await setLocal(db, found.settings).catch(() => {})
  }
}

const CATALOG_NOT_FIRST =
  "the search_path of the transaction given as db names pg_catalog behind other schemas, whose functions and operators would take the place of Postgres' own: name pg_catalog first, or leave it out"

/** Values as parameters: how a literal is read is one of these settings. */
const setLocal = (db: Db, settings: Record<string, string>): Promise<unknown> =>
  db.query(
    `select ${Object.keys(settings)
      .map((name, n) => `pg_catalog.set_config('${name}', $${n + 1}, true)`)
      .join(', ')}`,
    Object.values(settings),
  )
