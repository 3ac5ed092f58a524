import type { Socket } from 'node:net'
import { Agent, buildConnector } from 'undici'
import type { IsBlocked } from './blocked-addresses.ts'
import { ConnectPhases, type Connected } from './connecting.ts'
import { filteredLookup, guardedConnector, tunnelConnector } from './connector.ts'
import type { Proxy } from './proxy-tunnel.ts'
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
  /** Told of what a new connection waits for. */
  phases?: ConnectPhases
  connections?: Connections
}

/** Who is told of new connections. */
export interface Connections {
  opened: (socket: Socket) => void
  /** Calls `handOver`. undici starts the request that the connection was made for in that call. */
  handingOver(handOver: () => void, facts: Connected | undefined): void
  /** A connection that could not be made. undici fails the requests that wait for it with this error. */
  refused(error: Error, facts: Connected | undefined): void
  /** An error of a connection that was handed over. undici also fails requests with it that it has not begun. */
  lost(error: Error): void
}

const UNOBSERVED: Connections = {
  opened: () => {},
  handingOver: (handOver) => handOver(),
  refused() {},
  lost() {},
}

/** A lost SYN is sent again after a second. */
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
  phases = new ConnectPhases(),
  connections = UNOBSERVED,
}: AgentSettings): Agent {
  const lookup: Resolve = (hostname) => phases.during('lookup', hostname, () => resolve(hostname))
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
  const guarded =
    proxy === undefined
      ? guardedConnector(connector, isBlocked, connections.opened)
      : tunnelConnector(
          connector,
          { proxy, resolve: lookup, isBlocked, phases, timeoutMs, ca },
          connections.opened,
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
          connections.refused(error, facts)
          return callback(error, null)
        }
        // The first error of a connection ends it. Node reports a TLS alert that comes after the
        // handshake (a certificate of the client is missing, for one) and leaves the connection
        // open: the request would wait for its deadline, or be told only that the other side closed.
        socket.on('error', (reason) => {
          connections.lost(reason)
          socket.destroy(reason)
        })
        connections.handingOver(() => callback(null, socket), facts)
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
