/** The configuration of connections to Postgres. */
import pg from 'pg'
import { parse } from 'pg-connection-string'
import { InvalidOption } from '../errors.ts'

const DEFAULTS: pg.PoolConfig = {
  // Below the ten seconds that Fastify gives a plugin: our own error is clearer than Fastify's.
  connectionTimeoutMillis: 5000,
  // A peer that has vanished is noticed in half a minute instead of never.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
}

/** @throws InvalidOption */
export function configOf(database: string | pg.PoolConfig | pg.Pool): pg.PoolConfig {
  if (typeof database === 'string') {
    return { ...DEFAULTS, connectionString: checkedConnectionString(database) }
  }
  const config: pg.PoolConfig = isPool(database) ? (database.options ?? {}) : database
  if (config.connectionString !== undefined && !isPool(database)) {
    checkedConnectionString(config.connectionString)
  }
  // pg hides `password` from enumeration (and `ssl.key`, for which `ssl` stays the same object): a
  // spread would lose it.
  const { password } = config
  return { ...DEFAULTS, ...config, ...(password === undefined ? {} : { password }) }
}

/** pg accepts any text as a URL, and would connect to a server called "base". */
function checkedConnectionString(text: string): string {
  const isUrl = /^(postgres(ql)?:\/\/|socket:|\/)/.test(text)
  // Behind an unescaped "/", "?" or "#" the rest of a password would be taken for a path, and the part
  // before it for a host and a port, which messages contain. An address has its "@" before these.
  const rest = /^postgres(?:ql)?:\/\/[^/?#]*(.*)/s.exec(text)?.[1]
  // A URL is read without the tabs and line breaks in it.
  const isWhole = !/[\t\n\r]/.test(text.trim())
  if (isUrl && isWhole && !rest?.includes('@') && canBeRead(text)) return text
  throw new InvalidOption(
    'svcCore: the connection string must be a URL like postgres://user:password@host:5432/name, with the special characters of the password percent-encoded: check the option "database" (by default the secret DATABASE_URL)',
  )
}

function canBeRead(connectionString: string): boolean {
  try {
    return new pg.Client({ connectionString }).host !== ''
  } catch (error) {
    return !(error instanceof URIError) && (error as { code?: string }).code !== 'ERR_INVALID_URL'
  }
}

export const isPool = (database: unknown): database is pg.Pool =>
  database instanceof pg.Pool ||
  (typeof database === 'object' &&
    database !== null &&
    typeof (database as pg.Pool).connect === 'function' &&
    typeof (database as pg.Pool).query === 'function')

/**
 * `config` with more server settings. In pg, `options` in a connection string override the field,
 * and the field overrides PGOPTIONS. Only the one that applies is kept.
 */
export function withServerOptions(config: pg.PoolConfig, options: string): pg.PoolConfig {
  const { connectionString, ...fields } = config
  // Parsed as pg does it, so that the field `options` can be replaced.
  const parsed = connectionString ? parse(connectionString) : {}
  const all = { ...fields, ...parsed } as pg.PoolConfig
  const given = all.options ?? process.env['PGOPTIONS']
  return { ...all, options: [given, options].filter(Boolean).join(' ') }
}

/** Host and port as pg would use them, for a message. */
export function addressOf(config: pg.PoolConfig): string {
  try {
    const { host, port } = new pg.Client(config)
    return host.startsWith('/') ? host : `${host}:${port}`
  } catch {
    return 'that address'
  }
}
