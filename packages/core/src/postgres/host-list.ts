/**
 * A list of hosts in the option `database`: which of them takes writes may change at any time. Each
 * connection is made to the first one that does.
 */
import { isIPv6 } from 'node:net'
import pg from 'pg'
import { InvalidOption } from '../errors.ts'
import { within } from '../within.ts'

/** Which of the hosts is taken: the one that takes writes, or whichever answers. */
const SESSIONS = ['read-write', 'primary', 'any'] as const
type Session = (typeof SESSIONS)[number]

/** A `pg.PoolConfig` whose host may be a list. */
export interface DatabaseConfig extends Omit<pg.PoolConfig, 'host' | 'port'> {
  /** One host or several, in the order in which they are tried. */
  host?: string | string[] | undefined
  /** One port for all hosts, or one for each. @default 5432 */
  port?: number | number[] | undefined
  /**
   * `'read-write'`: a host that takes writes. `'any'`: the first that answers. `'primary'` is the same as
   * `'read-write'`.
   * @default 'read-write' where there are several hosts
   */
  target_session_attrs?: Session | undefined
}

interface Address {
  host: string
  port: number | undefined
}

/** The parts of a URL up to its path; between them are the user and the hosts. */
const URL_OF_HOSTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s
const ADDRESS = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d*))?$/

/** `text` with one host, which stands for all, without a port; and the addresses of all of them. */
export function splitHosts(text: string): { text: string; addresses: string[] } {
  const [, before = '', hosts = '', after = ''] = URL_OF_HOSTS.exec(text) ?? []
  const addresses = hosts.split(',')
  return addresses.length > 1
    ? { text: `${before}${ANY_HOST}${after}`, addresses }
    : { text, addresses: [] }
}

const ANY_HOST = 'hosts'

/**
 * The hosts of a config, as pg reads it, and what is asked of them; `undefined` where pg connects by itself.
 *
 * @throws InvalidOption
 */
export function hostListOf(
  {
    host,
    port,
    target_session_attrs: session,
  }: { host?: unknown; port?: unknown; target_session_attrs?: unknown },
  addresses: string[],
): HostList | undefined {
  const hosts = addresses.length > 0 ? undefined : listOf(host)
  const isList = hosts ? hosts.length > 1 || Array.isArray(host) || listOf(port).length > 1 : true
  if (!isList && session === undefined) return undefined
  const needs = session ?? 'read-write'
  if (!SESSIONS.includes(needs as Session)) throw new InvalidOption(WRONG_SESSION)
  // The parameters of a URL come before what stands in its middle.
  const isGivenTwice = addresses.length > 0 && host !== undefined && host !== ANY_HOST
  if (isGivenTwice) throw new InvalidOption(HOSTS_TWICE)
  const named = addresses.map(addressOf)
  const all = hosts || port ? withPorts(hosts ?? named.map((one) => one.host), listOf(port)) : named
  if (all.length === 0 || all.some((one) => !isHost(one.host) || !isPort(one.port)))
    throw new InvalidOption(WRONG_HOSTS)
  return new HostList(all, needs !== 'any')
}

export const CHECK_OPTION = 'check the option "database" (by default the secret DATABASE_URL)'
const WRONG_SESSION = `svcCore: target_session_attrs must be "read-write", "primary" or "any": everything here writes, and a standby or a session that only reads takes no writes: ${CHECK_OPTION}`
const WRONG_HOSTS = `svcCore: each of the hosts must have a name or an address (of IPv6 in brackets) and a port from 1 to 65535 or none, as in postgres://user:password@first:5432,second:5432/name or { host: ['first', 'second'], port: [5432, 5432] }: ${CHECK_OPTION}`

const HOSTS_TWICE = `svcCore: the connection string names hosts before its path and in the parameter host: name them once: ${CHECK_OPTION}`

/** A text with commas is a list in libpq. */
const listOf = (value: unknown): unknown[] =>
  typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value]

function withPorts(hosts: unknown[], ports: unknown[]): Address[] {
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new InvalidOption(
      `svcCore: there are ${hosts.length} hosts and ${ports.length} ports: give one port for each host, or one for all: ${CHECK_OPTION}`,
    )
  }
  return hosts.map((host, n) => {
    const port = ports.length === 1 ? ports[0] : ports[n]
    return {
      host: typeof host === 'string' ? unbracketed(host) : '',
      port: port === '' || port === undefined ? undefined : Number(port),
    }
  })
}

function addressOf(text: string): Address {
  const [, host = '', port] = ADDRESS.exec(text) ?? []
  return { host: decoded(unbracketed(host)), port: port ? Number(port) : undefined }
}

const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

function decoded(host: string): string {
  try {
    return decodeURIComponent(host)
  } catch {
    return ''
  }
}

/** A port beside it would be taken for a part of it. */
const isHost = (host: string): boolean =>
  host !== '' && (!host.includes(':') || host.startsWith('/') || isIPv6(host))

const isPort = (port: number | undefined): boolean =>
  port === undefined || (Number.isInteger(port) && port >= 1 && port <= 65_535)

/** Asked once for each connection. What this session has set itself says nothing of the server. */
const TAKES_WRITES = `select not pg_catalog.pg_is_in_recovery() and (source = 'client' or setting = 'off') as "takesWrites"
  from pg_catalog.pg_settings where name = 'default_transaction_read_only'`

class OnlyReads extends Error {
  /** As Postgres has it. */
  readonly code = '25006'
}

/** pg-pool has a limit of its own, which is the same where it is set. */
const CONNECT_MS = 15_000

/** The hosts of one option `database`, shared by all of its connections. */
export class HostList {
  /** The one that was the right one most recently comes first. */
  readonly #addresses: Address[]
  readonly #mustWrite: boolean
  /** In the order in which they were given, for messages. */
  readonly text: string

  constructor(addresses: Address[], mustWrite: boolean) {
    this.#addresses = addresses
    this.#mustWrite = mustWrite
    this.text = addresses.map(shown).join(', ')
  }

  /** @throws what the host has answered that says most, where none is right */
  async connect(client: ClientOfHosts, config: pg.ClientConfig): Promise<void> {
    const deadline = performance.now() + (config.connectionTimeoutMillis || CONNECT_MS)
    const tried = [...this.#addresses]
    const errors: unknown[] = []
    for (const [n, address] of tried.entries()) {
      // A host that says nothing leaves time for the others.
      const ms = (deadline - performance.now()) / (tried.length - n)
      if (ms < 1) break
      try {
        await client.connectTo(address, Math.ceil(ms))
        if (this.#mustWrite) await this.#assertTakesWrites(client, address, ms)
        this.#remember(address)
        return
      } catch (error) {
        client.leave()
        errors.push(error)
      }
    }
    // What a server has answered says more than that there is no answer.
    const said = errors.find(
      (error) => error instanceof pg.DatabaseError || error instanceof OnlyReads,
    )
    throw (said ?? errors.at(-1) ?? new Error('timeout expired')) as Error
  }

  async #assertTakesWrites(client: pg.Client, address: Address, ms: number): Promise<void> {
    const { rows } = await within(ms, client.query(TAKES_WRITES), () => {
      throw new Error('timeout expired')
    })
    if (rows[0]?.takesWrites) return
    throw new OnlyReads(`${shown(address)} only reads`)
  }

  #remember(address: Address): void {
    const place = this.#addresses.indexOf(address)
    if (place === 0) return
    this.#addresses.splice(place, 1)
    this.#addresses.unshift(address)
  }
}

const shown = ({ host, port }: Address): string =>
  `${host.includes(':') ? `[${host}]` : host}${host.startsWith('/') ? '' : `:${port ?? 5432}`}`

interface ConfigOfHosts extends pg.ClientConfig {
  hosts: HostList
}

/** What of a client of pg stays when it begins anew: its listeners are those of its pool. */
const EMITTER = new Set(['_events', '_eventsCount', '_maxListeners'])

/** A client whose connection ends where it could not sign in: pg leaves it open where a password is lacking. */
export class OwnClient extends pg.Client {
  override connect(): Promise<pg.Client>
  override connect(
    done: ((error: Error) => void) | ((error: null, client: pg.Client) => void),
  ): void
  override connect(done?: unknown): Promise<pg.Client> | void {
    const connecting = this.connecting().then(() => this)
    if (done === undefined) return connecting
    const callback = done as (error: unknown, client?: pg.Client) => void
    connecting.then((client) => callback(null, client), callback)
  }

  protected async connecting(): Promise<void> {
    try {
      await super.connect()
    } catch (error) {
      this.leave()
      throw error
    }
  }

  /** Ends the connection, so that nothing is heard of it any more. */
  leave(): void {
    const { connection } = this as unknown as { connection: LeftConnection }
    connection.removeAllListeners()
    connection.on('error', () => {})
    connection.stream.on('error', () => {})
    connection.stream.destroy()
  }
}

type LeftConnection = NodeJS.EventEmitter & { stream: NodeJS.EventEmitter & { destroy(): void } }

/** A client that connects to the right one of its hosts. */
export class ClientOfHosts extends OwnClient {
  readonly #config: ConfigOfHosts

  constructor(config: ConfigOfHosts) {
    super(config)
    this.#config = config
  }

  protected override connecting(): Promise<void> {
    return this.#config.hosts.connect(this, this.#config)
  }

  /** A client of pg connects only once: it takes over what a new one has. */
  async connectTo({ host, port }: Address, ms: number): Promise<void> {
    const { password } = this.#config
    const fresh = new pg.Client({
      ...this.#config,
      // pg hides it from enumeration.
      ...(password === undefined ? {} : { password }),
      host,
      ...(port === undefined ? {} : { port }),
      connectionTimeoutMillis: ms,
    })
    for (const [name, value] of Object.entries(fresh)) {
      if (!EMITTER.has(name)) (this as unknown as Record<string, unknown>)[name] = value
    }
    this.password = fresh.password
    await super.connecting()
  }
}
