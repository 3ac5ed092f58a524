import { isIP, Socket, type LookupFunction } from 'node:net'
import type { IsBlocked } from './blocked-addresses.ts'
import { ConnectTimes, type Connected, type ConnectPhases } from './connecting.ts'
import { openTunnel, ProxyFault, type Proxy } from './proxy-tunnel.ts'
import type { Resolve } from './resolver.ts'

/** A connection that was about to go, or has gone, to a blocked address. */
export class BlockedAddress extends Error {
  readonly code = 'SVC_WEBHOOKS_BLOCKED'
  constructor(hostname: string) {
    super(`${hostname} is at an address that deliveries may not go to`)
  }
}

/** A connection that was reset before this process read its address: nothing is known to be blocked. */
class LostConnection extends Error {
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
        const Reason = address === undefined ? LostConnection : BlockedAddress
        return callback(new Reason(options.hostname), null)
      }
      connected(socket)
      callback(null, socket, facts)
    })
    // The connector of undici returns the socket; its type does not say so.
    if (connecting instanceof Socket) times.watch(connecting)
  }
}

/** Missing of a connection through a proxy, and of an address that is blocked. */
type Facts = Connected | undefined

type Connect<Options> = (
  options: Options,
  callback: (...outcome: [null, Socket, Facts?] | [Error, null, Facts?]) => void,
) => void

export interface TunnelSettings {
  proxy: Proxy
  resolve: Resolve
  isBlocked: IsBlocked
  phases: ConnectPhases
  timeoutMs: number
  ca?: string | undefined
}

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
  const { proxy, phases } = settings
  return (options, callback) => {
    const { hostname, protocol } = options
    judgedAddresses(hostname, settings)
      .then((addresses) =>
        phases.during('tunnel', hostname, () => firstTunnel(addresses, options, settings)),
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
