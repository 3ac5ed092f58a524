import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { IsBlocked } from './blocked-addresses.ts'
import type { Resolve } from './resolver.ts'

/** A connection that was about to go, or has gone, to a blocked address. */
export class BlockedAddress extends Error {
  readonly code = 'SVC_WEBHOOKS_BLOCKED'
  constructor(hostname: string) {
    super(`${hostname} is at an address that deliveries may not go to`)
  }
}

/**
 * Makes a lookup that fails where one of the addresses of a name is blocked. A name with an open and a
 * blocked address is refused as a whole: which of them is connected to would be left to chance.
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
  connect: (
    options: Options,
    callback: (...outcome: [null, Socket] | [Error, null]) => void,
  ) => void,
  isBlocked: IsBlocked,
  connected: (socket: Socket) => void,
): typeof connect {
  return (options, callback) => {
    if (isIP(options.hostname) !== 0 && isBlocked(options.hostname)) {
      return callback(new BlockedAddress(options.hostname), null)
    }
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      if (isBlocked(socket.remoteAddress ?? '')) {
        socket.destroy()
        return callback(new BlockedAddress(options.hostname), null)
      }
      connected(socket)
      callback(null, socket)
    })
  }
}
