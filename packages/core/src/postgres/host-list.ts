/**
 * A list of hosts in the option `database`: which of them takes writes may change at any time. Each
 * connection is made to the first one that does.
 */
import { isIPv6 } from 'node:net'
import pg from 'pg'
import { InvalidOption } from '../errors.ts'
import { within } from '../time.ts'
import { isConnectionError, isSqlState, isTlsError } from './connection-errors.ts'
import { endConnection, MOVED } from './end-connection.ts'

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

export interface Address {
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

/**
 * Asked once for each connection. What this session has set itself says nothing of the server, which is
 * known by its start.
 */
const ABOUT_SERVER = `select pg_catalog.pg_is_in_recovery() as "isStandby",
    source = 'client' or setting = 'off' as "takesWrites",
    extract(epoch from pg_catalog.pg_postmaster_start_time())::pg_catalog.text as server
  from pg_catalog.pg_settings where name = 'default_transaction_read_only'`

class OnlyReads extends Error {
  /** As Postgres has it. */
  readonly code = '25006'
  /** No standby, whose data may be older than what was said already. */
  readonly primary: string | undefined

  constructor(primary: string | undefined) {
    super('only reads')
    this.primary = primary
  }
}

interface Failure {
  address: Address
  error: unknown
}

/** pg-pool has a limit of its own, which is the same where it is set. */
const CONNECT_MS = 15_000
/** Before the limit of pg-pool, whose error names no host. */
const OF_LIMIT = 0.98

/** The hosts of one option `database`, shared by all of its connections. */
export class HostList {
  /** The one that was the right one most recently comes first. */
  readonly #addresses: Address[]
  readonly #mustWrite: boolean
  /** In the order in which they were given, for messages. */
  readonly text: string
  /** The server that takes writes: all connections are to this one. */
  #server: string | undefined
  /** How often it was another one. */
  #moves = 0
  /** Those that took writes before it: what they have is old. */
  readonly #former = new Set<string>()
  readonly #open = new Map<ClientOfHosts, string>()
  /** Called when a connection was made to a primary that only reads, since no host takes writes. */
  onOnlyReads: () => void = () => {}

  constructor(addresses: Address[], mustWrite: boolean) {
    this.#addresses = addresses
    this.#mustWrite = mustWrite
    this.text = addresses.map(shown).join(', ')
  }

  /** Whether another one may take over. */
  get isList(): boolean {
    return this.#addresses.length > 1
  }

  /** Whether the list has several hosts, of which one must take writes. */
  get mayMove(): boolean {
    return this.isList && this.#mustWrite
  }

  /** In the order of the next attempt to connect. */
  get all(): readonly Address[] {
    return [...this.#addresses]
  }

  /** For a question to this host, whatever it is. */
  only(address: Address): HostList {
    return new HostList([address], false)
  }

  /** It does not answer. */
  tryLast(address: Address): void {
    const place = this.#addresses.indexOf(address)
    if (place >= 0) this.#addresses.push(...this.#addresses.splice(place, 1))
  }

  /** @throws what the hosts have answered, with the code that says most, where none is right */
  async connect(client: ClientOfHosts, config: pg.ClientConfig): Promise<void> {
    const deadline = performance.now() + (config.connectionTimeoutMillis || CONNECT_MS) * OF_LIMIT
    const tried = [...this.#addresses]
    const known = this.#server
    const failures: Failure[] = []
    for (const [n, address] of tried.entries()) {
      const leftMs = deadline - performance.now()
      // A host that says nothing leaves time for the others.
      const ms = leftMs / (tried.length - n)
      if (ms < 1) break
      const moves = this.#moves
      try {
        await client.connectTo(address, ms, leftMs)
        if (this.#mustWrite) this.#join(client, await serverOf(client, ms), moves)
        this.#remember(address)
        return
      } catch (error) {
        client.leave()
        failures.push({ address, error })
      }
    }
    if (await this.#read(client, failures, deadline, known)) return
    throw this.#whyNone(failures)
  }

  /**
   * Reads need no host that takes writes: they go on where the primary has been told to take none.
   *
   * @param known the server that took writes when the hosts were asked: another one may since
   */
  async #read(
    client: ClientOfHosts,
    failures: readonly Failure[],
    deadline: number,
    known: string | undefined,
  ): Promise<boolean> {
    for (const { address, error } of failures) {
      const ms = deadline - performance.now()
      if (!(error instanceof OnlyReads) || error.primary === undefined || ms < 1) continue
      if (this.#former.has(error.primary)) continue
      await client.connectTo(address, ms, ms)
      if (this.#server !== known) {
        client.leave()
        throw new Error(MOVED)
      }
      this.#add(client, error.primary)
      this.onOnlyReads()
      return true
    }
    return false
  }

  /**
   * The connections to a former server end, whatever they do: it may still answer, and even take writes.
   *
   * @param moves as they were when the connection began: the answer of a former server may come late
   */
  #join(client: ClientOfHosts, server: string, moves: number): void {
    if (this.#server !== undefined && this.#server !== server) {
      if (moves !== this.#moves) throw new Error(MOVED)
      this.#moves++
      this.#former.add(this.#server).delete(server)
    }
    this.#server = server
    for (const [other, of] of this.#open) if (of !== server) endConnection(other, MOVED)
    this.#add(client, server)
  }

  #add(client: ClientOfHosts, server: string): void {
    this.#open.set(client, server)
    client.once('end', () => this.#open.delete(client))
  }

  #whyNone(failures: readonly Failure[]): unknown {
    const errors = failures.map(({ error }) => error)
    if (errors.length === 0) return new Error('timeout expired')
    // It is for whoever has written the option, and says nothing of a host.
    const notOfHost = errors.find((error) => !isConnectionError(error) || isTlsError(error))
    if (notOfHost !== undefined || this.#addresses.length === 1) return notOfHost ?? errors[0]
    // What a server has answered says more than that there is no answer. One that only reads says
    // nothing of the one that takes the writes.
    const away = errors.filter((error) => !(error instanceof OnlyReads))
    const cause = away.find((error) => isSqlState(codeOf(error))) ?? away.at(-1) ?? errors[0]
    const each = failures.map(({ address, error }) => `${shown(address)}: ${textOf(error)}`)
    const what = this.#mustWrite ? 'no host takes writes' : 'no host answers'
    return Object.assign(new Error(`${what} (${each.join('; ')})`, { cause }), {
      code: codeOf(cause) ?? 'ETIMEDOUT',
    })
  }

  #remember(address: Address): void {
    const place = this.#addresses.indexOf(address)
    if (place > 0) this.#addresses.unshift(...this.#addresses.splice(place, 1))
  }
}

async function serverOf(client: ClientOfHosts, ms: number): Promise<string> {
  const { rows } = await within(ms, client.query(ABOUT_SERVER), () => {
    throw new Error('timeout expired')
  })
  const { isStandby, takesWrites, server } = rows[0] as {
    isStandby: boolean
    takesWrites: boolean
    server: string
  }
  if (takesWrites && !isStandby) return server
  throw new OnlyReads(isStandby ? undefined : server)
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code

const textOf = (error: unknown): string => (error as Error).message || codeOf(error) || 'no reason'

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
    // A pool listens to its errors only from the callback on. A session may end before: that would end the process.
    const ignore = () => {}
    this.on('error', ignore)
    const connecting = this.connecting()
      .then(() => this)
      .finally(() => this.off('error', ignore))
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
  /** The one that it is connected to, or being connected to. */
  address: Address | undefined

  constructor(config: ConfigOfHosts) {
    super(config)
    this.#config = config
  }

  protected override connecting(): Promise<void> {
    return this.#config.hosts.connect(this, this.#config)
  }

  /**
   * A client of pg connects only once: it takes over what a new one has.
   *
   * @param ms for a host that says nothing. One that has asked for the password waits for `leftMs`.
   */
  async connectTo(address: Address, ms: number, leftMs: number): Promise<void> {
    const { host, port } = address
    const password = this.#config.password as Password
    let isAsked = false
    let isGiven = false
    const give = async (of: object): Promise<string> => {
      isAsked = true
      const given = await (password as GivePassword)(of)
      // It would be sent to the host that is tried by now.
      if (this.address !== address) return new Promise<never>(() => {})
      isGiven = true
      return given
    }
    const fresh = new pg.Client({
      ...this.#config,
      // pg hides it from enumeration.
      ...(password === undefined
        ? {}
        : { password: (typeof password === 'function' ? give : password) as string }),
      host,
      ...(port === undefined ? {} : { port }),
      connectionTimeoutMillis: Math.ceil(leftMs),
    })
    for (const [name, value] of Object.entries(fresh)) {
      if (!EMITTER.has(name)) (this as unknown as Record<string, unknown>)[name] = value
    }
    this.password = fresh.password
    this.address = address
    const connecting = super.connecting()
    try {
      await within(ms, connecting, () => {
        if (isAsked) return connecting
        throw new Error('timeout expired')
      })
    } catch (error) {
      this.leave()
      if (!isAsked || isGiven || !isConnectionError(error)) throw error
      throw new Error(
        `timeout expired: the function that gives the password has not answered within ${Math.round(leftMs)} ms`,
        { cause: error },
      )
    }
  }
}

type GivePassword = (of: object) => string | Promise<string>
type Password = string | GivePassword | undefined
