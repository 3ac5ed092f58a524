/**
 * What our statements need of the settings of a session. A role, a database, a pooler or the host may
 * have set others: for a host's own statements they stay as they are.
 */
import type pg from 'pg'
import type { Db } from './transaction.ts'

/**
 * The default level of the database may be another one, in which what other processes change at the same
 * time ends our statements.
 */
export const BEGIN = 'begin isolation level read committed'

/** In which form values are read and written. Times and zones are those of the statements themselves. */
const NEEDED = {
  datestyle: 'ISO,MDY',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
}

export const SET_LOCAL = Object.entries(NEEDED)
  .map(([name, value]) => `set local ${name} = '${value}'`)
  .join('; ')

/** As options at the start of a connection. */
export const AT_START = Object.entries(NEEDED)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ')

/** A text, since a host may have set type parsers of its own for other types. */
const ARE_FINE = `select case when current_setting('datestyle') like 'ISO%'
    and current_setting('extra_float_digits')::int >= 1
    and current_setting('array_nulls') = 'on'
    and current_setting('standard_conforming_strings') = 'on'
    and current_setting('quote_all_identifiers') = 'off'
    and current_setting('transform_null_equals') = 'off' then 'yes' else 'no' end as fine`

/** Clients of which it is known whether our statements can run on them as they are. */
const known = new WeakMap<object, boolean>()
/** Pools whose connections have other sessions behind them from transaction to transaction. */
const pooled = new WeakSet<pg.Pool>()
/** Pools whose connections begin with the settings. */
const begunWith = new WeakSet<pg.Pool>()

export const markPooled = (pool: pg.Pool): void => void pooled.add(pool)
export const markBegunWith = (pool: pg.Pool): void => void begunWith.add(pool)

/**
 * Whether a statement of ours needs a transaction that sets what it needs. Asked once for each
 * connection, which costs it one small statement.
 */
export async function needsSettings(pool: pg.Pool, client: object, db: Db): Promise<boolean> {
  if (begunWith.has(pool)) return false
  if (pooled.has(pool)) return true
  const isFine = known.get(client) ?? (await areFine(db))
  known.set(client, isFine)
  return !isFine
}

const areFine = async (db: Db): Promise<boolean> => {
  const { rows } = await db.query(ARE_FINE)
  return (rows[0] as { fine: string }).fine === 'yes'
}

const CURRENT = `select json_build_object(${Object.keys(NEEDED)
  .map((name) => `'${name}', current_setting('${name}')`)
  .join(', ')})::text as settings`

/**
 * Runs `run` in the transaction of a caller, with the settings that it needs. The caller's own are set
 * again after it, unless the transaction has failed: it ends with them.
 */
export async function withSettings<T>(db: Db, run: () => Promise<T>): Promise<T> {
  if (await areFine(db)) return run()
  const { rows } = await db.query(CURRENT)
  const before = JSON.parse((rows[0] as { settings: string }).settings) as Record<string, string>
  await setLocal(db, NEEDED)
  try {
    return await run()
  } finally {
    // A transaction that has failed takes no statement, and ends with its settings.
    await setLocal(db, before).catch(() => {})
  }
}

/** Values as parameters: how a literal is read is one of these settings. */
const setLocal = (db: Db, settings: Record<string, string>): Promise<unknown> =>
  db.query(
    `select ${Object.keys(settings)
      .map((name, n) => `set_config('${name}', $${n + 1}, true)`)
      .join(', ')}`,
    Object.values(settings),
  )
