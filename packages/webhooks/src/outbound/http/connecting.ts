/** What new connections wait for, how long their steps take, and which address they go to. */
import type { Socket } from 'node:net'

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

export class ConnectPhases {
  #counts: Record<ConnectPhase, Map<string, number>> = { lookup: new Map(), tunnel: new Map() }

  /** The host is in this phase until `work` ends. */
  async during<Value>(
    phase: ConnectPhase,
    hostname: string,
    work: () => Promise<Value>,
  ): Promise<Value> {
    const counts = this.#counts[phase]
    counts.set(hostname, (counts.get(hostname) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (counts.get(hostname) ?? 0) - 1
      if (left > 0) counts.set(hostname, left)
      else counts.delete(hostname)
    }
  }

  of(hostname: string): ConnectPhase | null {
    if (this.#counts.tunnel.has(hostname)) return 'tunnel'
    return this.#counts.lookup.has(hostname) ? 'lookup' : null
  }
}
