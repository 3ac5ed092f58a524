import pg from 'pg'
import { DatabaseTooOld, DatabaseUnreachable, InvalidOption } from './errors.ts'
import type { SvcCoreOptions } from './options.ts'

/** Anything that answers a statement: a pool, a client inside a transaction, an adapter of an ORM. */
export interface Db {
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount?: number | null }>
}

/**
 * The pools of a process. Together they stay within the configured `max` plus two connections:
 * `pool` has the configured size, `hot` and the listener share the two that are added (a pool that
 * we made gives one of its own to `hot`, so that fetching and settling need not queue).
 */
export interface Database {
  pool: pg.Pool
  /** Fetches and settles jobs, with a planner that cannot leave the queue's index. */
  hot: pg.Pool
  /** For the one connection that listens. */
  listener: pg.ClientConfig
  close(): Promise<void>
}

const OLDEST = 140_000

/**
 * Generic plans that were made while the queue's table was empty collapse once it is not. The
 * queue's statements have one right plan, a walk along its index, so every other is taken away.
 */
const INDEX_WALK_ONLY =
  '-c enable_sort=off -c enable_bitmapscan=off -c enable_seqscan=off -c jit=off'

/**
 * Opens the pools and makes sure that a server answers that is new enough.
 *
 * @throws InvalidOption where nothing says which database
 * @throws DatabaseUnreachable with the address and the reason, never the password
 * @throws DatabaseTooOld
 */
export async function openDatabase(
  option: NonNullable<SvcCoreOptions['database']>,
  logError: (error: Error) => void,
): Promise<Database> {
  const given = isPool(option) ? option : undefined
  const config = given ? configOf(given) : asConfig(option as string | pg.PoolConfig)
  const max = config.max ?? 10
  const spared = given || max === 1 ? 0 : 1

  const pool = given ?? makePool({ ...copy(config), max: max - spared })
  pool.on('error', logError)
  try {
    await assertUsable(pool, config)
  } catch (error) {
    pool.off('error', logError)
    if (!given) await pool.end()
    throw error
  }

  const hot = makePool({ ...copy(config), max: 1 + spared, options: hotOptions(config) })
  hot.on('error', logError)
  return {
    pool,
    hot,
    listener: { ...copy(config), keepAlive: true },
    async close() {
      await hot.end()
      pool.off('error', logError)
      if (!given) await pool.end()
    },
  }
}

/** Runs `run` on one connection between `begin` and `commit`; what it throws rolls back. */
export async function transaction<T>(pool: pg.Pool, run: (db: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  // pg-pool takes its own listener off a client that is out: without this one a connection that
  // drops in the middle would end the process.
  const onError = (error: Error) => {
    broken = error
  }
  client.on('error', onError)
  try {
    await client.query('begin')
    const result = await run(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    throw error
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

/** Whether an error says that Postgres cannot be asked now, rather than that it refused a statement. */
export function isAway(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && /^(08|57P0[1-5]|53300)/.test(code)) return true
  if (typeof code === 'string' && AWAY_CODES.has(code)) return true
  return typeof message === 'string' && AWAY_MESSAGES.test(message)
}

const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
/** pg and pg-pool give these no code. */
const AWAY_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end)/

const isPool = (option: unknown): option is pg.Pool =>
  option instanceof pg.Pool ||
  (typeof option === 'object' &&
    option !== null &&
    typeof (option as pg.Pool).connect === 'function' &&
    typeof (option as pg.Pool).query === 'function')

function asConfig(option: string | pg.PoolConfig): pg.PoolConfig {
  return typeof option === 'string' ? { connectionString: option } : option
}

/** pg hides `password` (and `ssl.key`) from enumeration: a spread alone would lose them. */
function configOf(pool: pg.Pool): pg.PoolConfig {
  const options = pool.options as pg.PoolConfig
  return copy(options)
}

function copy(config: pg.PoolConfig): pg.PoolConfig {
  const { password, ssl } = config
  return {
    connectionTimeoutMillis: 10_000,
    ...config,
    ...(password === undefined ? {} : { password }),
    ...(ssl === undefined ? {} : { ssl }),
  }
}

function makePool(config: pg.PoolConfig): pg.Pool {
  try {
    return new pg.Pool(config)
  } catch (error) {
    throw new InvalidOption(
      `svcCore: the option "database" cannot be used: ${(error as Error).message}`,
    )
  }
}

/** `options` in a connection string would win over ours: both have to stand in one text. */
function hotOptions(config: pg.PoolConfig): string {
  return [config.options ?? optionsInUrl(config.connectionString), INDEX_WALK_ONLY]
    .filter(Boolean)
    .join(' ')
}

function optionsInUrl(connectionString: string | undefined): string | null {
  if (!connectionString || !URL.canParse(connectionString)) return null
  return new URL(connectionString).searchParams.get('options')
}

async function assertUsable(pool: pg.Pool, config: pg.PoolConfig): Promise<void> {
  let version: { number: number; text: string }
  try {
    const { rows } = await pool.query(
      `select current_setting('server_version_num')::int as number,
              current_setting('server_version') as text`,
    )
    version = rows[0]
  } catch (error) {
    throw new DatabaseUnreachable(whyUnreachable(error as NodeJS.ErrnoException, config))
  }
  if (version.number < OLDEST) throw new DatabaseTooOld(version.text)
}

function whyUnreachable(error: NodeJS.ErrnoException, config: pg.PoolConfig): string {
  const at = addressOf(config)
  const advice = 'check the option "database" (by default the secret DATABASE_URL)'
  switch (error.code) {
    case '28P01':
    case '28000':
      return `svcCore: Postgres at ${at} refused the user or the password: ${advice}`
    case '3D000':
      return `svcCore: Postgres at ${at} answers, but ${error.message}: create it, or ${advice}`
    case 'ERR_INVALID_URL':
      return `svcCore: the connection string is not a URL like postgres://user:password@host:5432/name: ${advice}`
    default:
      return `svcCore: Postgres cannot be reached at ${at} (${error.code ?? error.message}): start it, or ${advice}`
  }
}

function addressOf(config: pg.PoolConfig): string {
  if (config.connectionString && URL.canParse(config.connectionString)) {
    const url = new URL(config.connectionString)
    return `${url.hostname || 'localhost'}:${url.port || 5432}`
  }
  return `${config.host ?? 'localhost'}:${config.port ?? 5432}`
}
