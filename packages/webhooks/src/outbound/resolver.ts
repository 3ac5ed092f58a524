import { lookup as systemLookup, type LookupAddress } from 'node:dns'

/** Asks the system's resolver for all addresses of a name: `node:dns`'s `lookup`, or a test's. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/** The system's resolver runs on libuv's four threads, which the whole process shares. */
const UNPROVEN_AT_ONCE = 2
const PROVEN_KEPT = 10_000

/**
 * Resolves names so that those whose name servers are dead cost the others nothing: a name is asked
 * for once at a time, and names whose last lookup did not succeed hold at most two threads
 * together. Nothing is remembered but which names resolved: every connection asks anew.
 */
export function fairResolver(timeoutMs: number, lookup: Lookup = systemLookup): Resolve {
  const proven = new Set<string>()
  const asked = new Map<string, Promise<LookupAddress[]>>()
  const waiting: (() => void)[] = []
  let unproven = 0

  async function ask(hostname: string): Promise<LookupAddress[]> {
    if (proven.has(hostname)) return await query(hostname)
    const waitedMs = await aTurn()
    try {
      // Whoever wanted it has given up by now.
      if (waitedMs >= timeoutMs) throw new LookupTimeout(hostname)
      return await query(hostname)
    } finally {
      const next = waiting.shift()
      if (next === undefined) unproven--
      else next()
    }
  }

  async function aTurn(): Promise<number> {
    if (unproven < UNPROVEN_AT_ONCE) {
      unproven++
      return 0
    }
    const since = performance.now()
    await new Promise<void>((go) => waiting.push(go))
    return performance.now() - since
  }

  async function query(hostname: string): Promise<LookupAddress[]> {
    proven.delete(hostname)
    const addresses = await new Promise<LookupAddress[]>((resolve, reject) => {
      lookup(hostname, { all: true }, (error, found) =>
        error === null ? resolve(found) : reject(error),
      )
    })
    proven.add(hostname)
    if (proven.size > PROVEN_KEPT) proven.delete(proven.values().next().value!)
    return addresses
  }

  return (hostname) => {
    const running = asked.get(hostname)
    if (running !== undefined) return running
    const answer = ask(hostname).finally(() => asked.delete(hostname))
    asked.set(hostname, answer)
    return answer
  }
}

class LookupTimeout extends Error {
  readonly code = 'ETIMEDOUT'
  constructor(hostname: string) {
    super(`nobody looked up ${hostname} in time`)
  }
}
