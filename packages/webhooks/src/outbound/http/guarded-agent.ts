import { isIP, Socket, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import type { IsBlocked } from './blocked-addresses.ts'
import { openTunnel, ProxyFault, type Proxy } from './proxy.ts'
import type { Resolve } from './resolver.ts'

export interface AgentSettings {
  /** The time for connecting. */
  timeoutMs: number
  isBlocked: IsBlocked
  resolve: Resolve
  /** Certificate authorities, in PEM. @default those of Node */
  ca?: string | undefined
  /** All connections go through it. @default none */
  proxy?: Proxy | undefined
  connections?: Connections
}

/** A SYN that was dropped is sent again after a second. */
const MOST_FOR_AN_ADDRESS_MS = 1250

/**
 * How long one address of a name has to accept a connection before the next is tried: a quarter of
 * the longest time of an attempt, at most 1.25 s. Node's default of 250 ms would never reach a distant receiver that has
 * a second address. An address that drops packets leaves time for others, also where the webhook has a
 * `timeoutMs` of two seconds. The last address has all the time that is left.
 */
const addressTimeoutMs = (timeoutMs: number): number =>
  Math.min(MOST_FOR_AN_ADDRESS_MS, Math.ceil(timeoutMs / 4))

/** Makes a client that judges every address before and after it connects. The caller has the deadline. */
export function guardedAgent({
  timeoutMs,
  isBlocked,
  resolve,
  ca,
  proxy,
  connections = new Connections(),
}: AgentSettings): Agent {
  const lookup: Resolve = (hostname) =>
    connections.during('lookup', hostname, () => resolve(hostname))
  const connector = buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: filteredLookup(lookup, isBlocked),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 cannot disable it.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  })
  const opened = (socket: Socket) => connections.opened(socket)
  const guarded =
    proxy === undefined
      ? guardedConnector(connector, isBlocked, opened)
      : tunnelConnector(
          connector,
          { proxy, resolve: lookup, isBlocked, connections, timeoutMs, ca },
          opened,
        )
  return new Agent({
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: 16 * 1024,
    // The exchange has a deadline of its own: two more timers for each would only cost time.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) =>
      guarded(options, (...outcome) => {
        const [error, socket, facts] = outcome
        if (error !== null) {
          if (facts) connections.refused.set(error, facts)
          return callback(error, null)
        }
        // Bytes of a tunnel may be here already. undici takes them for an answer before it begins the
        // request, and connects again, without end. This is undici's message for such bytes.
        if (socket.readableLength > 0) {
          socket.destroy()
          return callback(new Error('bad response'), null)
        }
        // The first error of a connection ends it. Node reports a TLS alert that comes after the
        // handshake (a certificate of the client is missing, for one) and leaves the connection
        // open: the request would wait for its deadline, or be told only that the other side closed.
        socket.on('error', (reason) => {
          connections.ended.add(reason)
          socket.destroy(reason)
        })
        connections.handOver(facts, () => callback(null, socket))
        passOverInterims(socket)
      }),
  })
}

interface Parser {
  ptr: number
  llhttp?: { llhttp_set_lenient_keep_alive(parser: number, isLenient: 1): void }
  onHeadersComplete(status: number, ...rest: unknown[]): unknown
}

/**
 * Has every interim answer passed over but 101 (RFC 9110, section 15.2), also where nobody asked for
 * it. undici ends the connection at a 100, and has no option for that: its parser, a property of the
 * connection, is told of another interim status. The final answer is also read after an interim one
 * that says `Connection: close`, or is of HTTP/1.0.
 */
function passOverInterims(socket: Socket): void {
  const key = Object.getOwnPropertySymbols(socket).find((one) => one.description === 'parser')
  const parser = key && (socket as unknown as Record<symbol, Parser | null>)[key]
  if (!parser?.llhttp) return
  const passOn = parser.onHeadersComplete.bind(parser)
  parser.onHeadersComplete = (status, ...rest) => passOn(status === 100 ? 102 : status, ...rest)
  parser.llhttp.llhttp_set_lenient_keep_alive(parser.ptr, 1)
}

/** A connection that was about to go, or has gone, to a blocked address. */
export class BlockedAddress extends Error {
  readonly code = 'SVC_WEBHOOKS_BLOCKED'
  constructor(hostname: string) {
    super(`${hostname} is at an address that deliveries may not go to`)
  }
}

/** A connection that was reset before this process read its address: nothing is known to be blocked. */
class ResetConnection extends Error {
  readonly code = 'ECONNRESET'
  constructor(hostname: string) {
    super(`the connection to ${hostname} was reset as soon as it stood`)
  }
}

/**
 * Makes a lookup that fails where one of the addresses of a name is blocked. A name with an open
 * and a blocked address is refused as a whole: otherwise chance would decide which of them is
 * connected to.
 */
export function filteredLookup(resolve: Resolve, isBlocked: IsBlocked): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined || addresses.some(({ address }) => isBlocked(address))) {
          callback(new BlockedAddress(hostname), [])
        } else if (options.all === true) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, []),
    )
  }
}

/**
 * Wraps a connector with two checks: before it connects, of a literal address, which is never looked
 * up; and after it, of the address that the socket is connected to.
 */
export function guardedConnector<Options extends { hostname: string }>(
  connect: Connect<Options>,
  isBlocked: IsBlocked,
  connected: (socket: Socket) => void,
): Connect<Options> {
  return (options, callback) => {
    if (isIP(options.hostname) !== 0 && isBlocked(options.hostname)) {
      return callback(new BlockedAddress(options.hostname), null)
    }
    const times = new ConnectTimes()
    const connecting: unknown = connect(options, (...outcome) => {
      const [error, socket] = outcome
      const facts = times.ended(error)
      if (error !== null) return callback(error, null, facts)
      const address = socket.remoteAddress
      if (address === undefined || isBlocked(address)) {
        socket.destroy()
        const Reason = address === undefined ? ResetConnection : BlockedAddress
        return callback(new Reason(options.hostname), null)
      }
      connected(socket)
      callback(null, socket, facts)
    })
    // The connector of undici returns the socket; its type does not say so.
    if (connecting instanceof Socket) times.watch(connecting)
  }
}

/** `undefined` of a connection through a proxy, and of an address that is blocked. */
type Facts = Connected | undefined

type Connect<Options> = (
  options: Options,
  callback: (...outcome: [null, Socket, Facts?] | [Error, null, Facts?]) => void,
) => void

type TunnelSettings = Omit<Required<AgentSettings>, 'ca'> &
  Pick<AgentSettings, 'ca'> & { proxy: Proxy }

/**
 * Makes a connector whose connections go through a proxy. Names are looked up and checked by this
 * process: the tunnel is requested for an address. TLS, with the name of the host, is made inside
 * of it by `secure`.
 */
export function tunnelConnector<
  Options extends { hostname: string; protocol: string; port: string },
>(
  secure: Connect<Options & { httpSocket: Socket }>,
  settings: TunnelSettings,
  connected: (socket: Socket) => void,
): Connect<Options> {
  const { proxy, connections } = settings
  return (options, callback) => {
    const { hostname, protocol } = options
    judgedAddresses(hostname, settings)
      .then((addresses) =>
        connections.during('tunnel', hostname, () => firstTunnel(addresses, options, settings)),
      )
      .then(
        (socket) => {
          connected(socket)
          if (protocol !== 'https:') return callback(null, socket)
          try {
            secure({ ...options, httpSocket: socket }, callback)
          } catch (error) {
            socket.destroy()
            callback(error as Error, null)
          }
        },
        (error: Error) => {
          if (error instanceof ProxyFault) proxy.failed(error)
          callback(error, null)
        },
      )
  }
}

async function judgedAddresses(
  hostname: string,
  { resolve, isBlocked }: TunnelSettings,
): Promise<string[]> {
  const addresses =
    isIP(hostname) === 0 ? (await resolve(hostname)).map(({ address }) => address) : [hostname]
  if (addresses.length === 0 || addresses.some(isBlocked)) throw new BlockedAddress(hostname)
  return addresses
}

/** If the proxy cannot reach one address of a name, the next one is tried. */
async function firstTunnel(
  addresses: string[],
  { port, protocol }: { port: string; protocol: string },
  { proxy, timeoutMs, ca }: TunnelSettings,
): Promise<Socket> {
  const signal = AbortSignal.timeout(timeoutMs)
  const to = Number(port || (protocol === 'https:' ? 443 : 80))
  let fault: unknown
  for (const address of addresses) {
    try {
      return await openTunnel(proxy, address, to, { signal, ca })
    } catch (error) {
      fault = error
      const isUnreached = ((error as ProxyFault).statusCode ?? 0) >= 500
      if (!isUnreached || signal.aborted) break
    }
  }
  throw fault as Error
}

/** `null` where there was no such step. Times are in milliseconds. */
export interface Connected {
  address: string | null
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

/** Measures from when it is made. */
export class ConnectTimes {
  #address: string | null = null
  #isFound = false
  #isConnected = false
  #dnsMs: number | null = null
  #connectMs: number | null = null
  #sinceMs = performance.now()

  watch(socket: Socket): void {
    socket.once('lookup', (error: Error | null) => {
      this.#isFound = !error
      this.#dnsMs = this.#lap()
    })
    // One for each address of a name.
    socket.on('connectionAttempt', (ip: string) => (this.#address = ip))
    socket.once('connect', () => {
      this.#isConnected = true
      this.#connectMs = this.#lap()
    })
  }

  /** Of a failure the last time is that of the step that failed. */
  ended(error: Error | null): Connected {
    let tlsMs: number | null = null
    // Without TLS it is called before the socket tells the listener above.
    if (!this.#isConnected && error === null) this.#connectMs = this.#lap()
    else if (this.#isConnected) tlsMs = this.#lap()
    else if (this.#isFound || this.#address !== null) this.#connectMs = this.#lap()
    else this.#dnsMs ??= this.#lap()
    return { address: this.#address, dnsMs: this.#dnsMs, connectMs: this.#connectMs, tlsMs }
  }

  #lap(): number {
    const before = this.#sinceMs
    this.#sinceMs = performance.now()
    return this.#sinceMs - before
  }
}

/** A name is looked up, or a tunnel is requested from the proxy. */
export type ConnectPhase = 'lookup' | 'tunnel'

/** The connections of a client: how many are open, and what is known of those that are new, or could not be made. */
export class Connections {
  open = 0
  /** While a connection is handed over: undici starts the request that it was made for in that call. */
  handedOver: { connected: Connected | undefined } | null = null
  /** By their errors, those that could not be made. undici fails the requests that wait for one with its error. */
  readonly refused = new WeakMap<Error, Connected>()
  /** Errors of those that were handed over. undici also fails requests with one that it has not begun. */
  readonly ended = new WeakSet<Error>()
  #waiting: Record<ConnectPhase, Map<string, number>> = { lookup: new Map(), tunnel: new Map() }

  opened(socket: Socket): void {
    this.open++
    socket.once('close', () => this.open--)
  }

  handOver(connected: Connected | undefined, run: () => void): void {
    this.handedOver = { connected }
    try {
      run()
    } finally {
      this.handedOver = null
    }
  }

  /** The host is in this phase until `work` ends. */
  async during<Value>(
    phase: ConnectPhase,
    hostname: string,
    work: () => Promise<Value>,
  ): Promise<Value> {
    const counts = this.#waiting[phase]
    counts.set(hostname, (counts.get(hostname) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (counts.get(hostname) ?? 0) - 1
      if (left > 0) counts.set(hostname, left)
      else counts.delete(hostname)
    }
  }

  /** What a new connection to the host waits for. */
  phaseOf(hostname: string): ConnectPhase | null {
    if (this.#waiting.tunnel.has(hostname)) return 'tunnel'
    return this.#waiting.lookup.has(hostname) ? 'lookup' : null
  }
}
