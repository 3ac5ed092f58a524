/** How long the steps of a new connection take, and which address it goes to. */
import type { Socket } from 'node:net'

/** `null` where there was no such step. Times are in milliseconds. */
export interface Connected {
  address: string | null
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

/**
 * Watches a socket that connects. The function says at its end what has taken how long; of a failure the last
 * time is that of the step that failed.
 */
export function watchConnecting(socket: Socket | undefined): (error: Error | null) => Connected {
  let address: string | null = null
  let isFound = false
  let isConnected = false
  let dnsMs: number | null = null
  let connectMs: number | null = null
  let tlsMs: number | null = null
  let sinceMs = performance.now()
  const lap = (): number => {
    const before = sinceMs
    sinceMs = performance.now()
    return sinceMs - before
  }
  socket?.once('lookup', () => {
    isFound = true
    dnsMs = lap()
  })
  // One for each address of a name.
  socket?.on('connectionAttempt', (ip: string) => (address = ip))
  socket?.once('connect', () => {
    isConnected = true
    connectMs = lap()
  })
  return (error) => {
    // Without TLS it is called before the socket tells the listener above.
    if (!isConnected && error === null) connectMs = lap()
    else if (isConnected) tlsMs = lap()
    else if (isFound || address !== null) connectMs = lap()
    else dnsMs = lap()
    return { address: socket?.remoteAddress ?? address, dnsMs, connectMs, tlsMs }
  }
}
