/** What new connections wait for, by the host that they go to: pure book-keeping. */

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
