import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Refuses } from './blocked-addresses.ts'
import type { Resolve } from './resolver.ts'

/** A connection that would have led, or has led, to a refused address. */
export class BlockedAddress extends Error {
  readonly code = 'SVC_WEBHOOKS_BLOCKED'
  constructor(hostname: string) {
    super(`${hostname} is at an address that deliveries must keep away from`)
  }
}

/**
 * A lookup that hands on addresses only where none of them is refused. A name with one good and one refused address is
 * refused as a whole: which of them is connected to would be left to chance.
 */
export function vettedLookup(resolve: Resolve, refuses: Refuses): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined || addresses.some(({ address }) => refuses(address))) {
          callback(new BlockedAddress(hostname), [])
        } else if (options.all === true) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, []),
    )
  }
}

/**
 * Guards a connector on both of its sides: literal addresses, which no lookup ever sees, before it connects; and after
 * it, whatever the socket in the end has at its other side.
 */
export function guarded<Target extends { hostname: string }>(
  connect: (target: Target, callback: (...outcome: [null, Socket] | [Error, null]) => void) => void,
  refuses: Refuses,
  connected: (socket: Socket) => void,
): typeof connect {
  return (target, callback) => {
    if (isIP(target.hostname) !== 0 && refuses(target.hostname)) {
      return callback(new BlockedAddress(target.hostname), null)
    }
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null)
      if (refuses(socket.remoteAddress ?? '')) {
        socket.destroy()
        return callback(new BlockedAddress(target.hostname), null)
      }
      connected(socket)
      callback(null, socket)
    })
  }
}
