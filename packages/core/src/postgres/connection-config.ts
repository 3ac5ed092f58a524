/** The configuration of connections to Postgres. */
import pg from 'pg'
import { parse } from 'pg-connection-string'
import { InvalidOption } from '../errors.ts'
import { kindOf } from '../options/check-options.ts'
import { PASSWORD_FAILED } from './connection-errors.ts'
import {
  CHECK_OPTION,
  ClientOfHosts,
  hostListOf,
  OwnClient,
  splitHosts,
  type DatabaseConfig,
  type HostList,
} from './host-list.ts'

const DEFAULTS: pg.PoolConfig = {
  // Below the ten seconds that Fastify gives a plugin: our own error is clearer than Fastify's.
  connectionTimeoutMillis: 5000,
  // A peer that has vanished is noticed in half a minute instead of never.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  Client: OwnClient,
}

/** Of the pools, with a list of hosts where there is one. */
export interface Config extends pg.PoolConfig {
  hosts?: HostList
}

/** @throws InvalidOption */
export function configOf(database: string | DatabaseConfig | pg.Pool): Config {
  // A pool of the host's connects as it does by itself.
  if (isPool(database)) return withPassword(database.options ?? {})
  return typeof database === 'string'
    ? withHosts({ connectionString: database })
    : withHosts(database)
}

/** pg hides `password` from enumeration (and `ssl.key`, for which `ssl` stays the same object). */
function withPassword({ password, ...config }: pg.PoolConfig): pg.PoolConfig {
  return { ...DEFAULTS, ...config, ...(password === undefined ? {} : { password }) }
}

function withHosts(given: DatabaseConfig): pg.PoolConfig {
  const { connectionString, ...fields } = named(given)
  if (connectionString === undefined) {
    const list = hostListOf(fields, [])
    return withPassword(list ? ofList(fields, list) : (fields as pg.PoolConfig))
  }
  const { text, addresses } = splitHosts(connectionString)
  checkConnectionString(text)
  const parsed = parsedUrl(text)
  const { host, port, password } = fields
  const doubled = Object.entries({ host, port, password: parsed.password && password })
  for (const [name, value] of doubled) if (value) throw new InvalidOption(TWICE(name))
  const all = { ...fields, ...parsed, password: parsed.password || password }
  const list = hostListOf(all, addresses)
  if (list) return withPassword(ofList(all, list))
  // pg lets the connection string take the place of all fields, with no password as well.
  return withPassword((password ? all : { ...fields, connectionString }) as pg.PoolConfig)
}

const TWICE = (name: string): string =>
  `svcCore: beside a connection string "${name}" is not used${name === 'password' ? ' where that has one' : ''}: give it in one of them: ${CHECK_OPTION}`

/** With an error that says where it came from, where a function gives the password. */
function named({ password, ...config }: DatabaseConfig): DatabaseConfig {
  if (typeof password !== 'function') return { ...config, password }
  const ask = async (...connection: Parameters<typeof password>): Promise<string> => {
    try {
      const given: unknown = await password(...connection)
      if (typeof given === 'string' && given !== '') return given
      throw new TypeError(
        `it must give a text, got ${given === '' ? 'an empty one' : kindOf(given)}`,
      )
    } catch (cause) {
      throw new Error(`${PASSWORD_FAILED}: ${(cause as Error | null)?.message ?? cause}`, { cause })
    }
  }
  return { ...config, password: ask }
}

const ofList = (
  { host: _host, port: _port, password, ...config }: DatabaseConfig,
  hosts: HostList,
): Config => ({
  ...config,
  password,
  hosts,
  Client: ClientOfHosts as unknown as new () => pg.Client,
})

/** As pg reads them. */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

function parsedUrl(text: string): DatabaseConfig & { password?: string } {
  const { sslmode, uselibpqcompat } = parametersOf(text)
  const modes = uselibpqcompat === 'true' ? TLS_MODES.slice(0, -1) : TLS_MODES
  if (sslmode && !modes.includes(sslmode)) {
    throw new InvalidOption(`svcCore: sslmode must be one of ${modes.join(', ')}: ${CHECK_OPTION}`)
  }
  try {
    return parse(text) as object
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    throw new InvalidOption(
      code === undefined
        ? `svcCore: sslmode=${sslmode} needs the file of a CA in sslrootcert: add it, or use sslmode=verify-full: ${CHECK_OPTION}`
        : `svcCore: a file that the connection string names cannot be read (${message}): check sslrootcert, sslcert and sslkey in the option "database" (by default the secret DATABASE_URL)`,
    )
  }
}

/** The last of each name counts. */
const parametersOf = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(/\?(.*)$/s.exec(text)?.[1]))

/** A client for one connection, as those of the pools. */
export const clientOf = (config: pg.PoolConfig): pg.Client =>
  new ((config.Client ?? pg.Client) as typeof pg.Client)(config)

/** pg accepts any text as a URL, and would connect to a server called "base". */
function checkConnectionString(text: string): void {
  const isUrl = /^(postgres(ql)?:\/\/|socket:|\/)/.test(text)
  // Behind an unescaped "/", "?" or "#" the rest of a password would be taken for a path, and the part
  // before it for a host and a port, which messages contain. An address has its "@" before these.
  const rest = /^postgres(?:ql)?:\/\/[^/?#]*(.*)/s.exec(text)?.[1]
  // A URL is read without the tabs and line breaks in it.
  const isWhole = !/[\t\n\r]/.test(text.trim())
  if (isUrl && isWhole && !rest?.includes('@') && canBeRead(text)) return
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

/** Host and port as they would be used, for a message. */
export function addressOf(config: pg.PoolConfig): string {
  const { hosts } = config as Config
  if (hosts) return hosts.text
  try {
    const { host, port } = new pg.Client(config)
    return host.startsWith('/') ? host : `${host}:${port}`
  } catch {
    return 'that address'
  }
}
