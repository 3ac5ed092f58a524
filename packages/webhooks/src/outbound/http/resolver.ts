import { lookup as systemLookup, promises as dns, type LookupAddress } from 'node:dns'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** Asks the system's resolver for all addresses of a name, as `node:dns`'s `lookup` does. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/** What a resolver asks. */
export interface Sources {
  /** The path of the hosts file. `null`: only `lookup` is asked. */
  hosts: string | null
  /** Addresses of name servers. @default those of the system */
  servers?: string[]
  lookup: Lookup
}

const SYSTEM: Sources = {
  hosts:
    process.platform === 'win32'
      ? `${process.env['SystemRoot']}\\System32\\drivers\\etc\\hosts`
      : '/etc/hosts',
  lookup: systemLookup,
}

/** Three tries of 0.5, 1 and 2 s. */
const DNS_OPTIONS = { timeout: 500, tries: 3 }
/**
 * With these the name servers have answered, without an address. `SERVFAIL` is none of them: the servers of
 * the name did not answer the one that was asked. A refused connection is: the system fails on it as quickly.
 */
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'ECONNREFUSED'])

/**
 * Looks names up in the hosts file, then by DNS, and those that DNS does not have by the system
 * (`dns.lookup`), which knows search domains and NSS.
 *
 * libuv runs the lookups of the system on half of its threads: two at a time. Where name servers are
 * silent, a lookup holds its thread for 10 s and more, and cannot be cancelled. c-ares asks them without a
 * thread. All names whose servers are silent have one lookup of the system at a time, together.
 *
 * No address is cached: every connection looks its name up.
 */
export class Resolver {
  readonly #sources: Sources
  readonly #pending = new Map<string, Promise<LookupAddress[]>>()
  readonly #open = new Set<dns.Resolver>()
  #isWaitingForSilent = false

  constructor(sources: Sources = SYSTEM) {
    this.#sources = sources
  }

  /** Attempts that need a name at the same time share the answer. */
  readonly resolve: Resolve = (hostname) => {
    const pending = this.#pending.get(hostname)
    if (pending !== undefined) return pending
    const answer = this.#find(hostname).finally(() => this.#pending.delete(hostname))
    this.#pending.set(hostname, answer)
    return answer
  }

  /** The names that DNS is asked for have no answer. */
  close(): void {
    for (const resolver of this.#open) resolver.cancel()
  }

  async #find(hostname: string): Promise<LookupAddress[]> {
    const { hosts, lookup } = this.#sources
    if (hosts === null) return await lookedUp(hostname, lookup)
    const listed = addressesIn(hosts, hostname)
    if (listed.length > 0) return listed
    const { addresses, isAnswered } = await this.#ask(hostname)
    if (addresses.length > 0) return addresses
    if (isAnswered) return await lookedUp(hostname, lookup)
    if (this.#isWaitingForSilent) throw new SilentServers(hostname)
    this.#isWaitingForSilent = true
    return await lookedUp(hostname, lookup).finally(() => (this.#isWaitingForSilent = false))
  }

  /** A new resolver for each name: it has the name servers that the system has now. */
  async #ask(hostname: string): Promise<DnsAnswer> {
    const resolver = new dns.Resolver(DNS_OPTIONS)
    if (this.#sources.servers !== undefined) resolver.setServers(this.#sources.servers)
    this.#open.add(resolver)
    try {
      const [four, six] = await Promise.all([
        resolver.resolve4(hostname).then(foundOf(4), noneOf),
        resolver.resolve6(hostname).then(foundOf(6), noneOf),
      ])
      return {
        addresses: [...four.addresses, ...six.addresses],
        isAnswered: four.isAnswered && six.isAnswered,
      }
    } finally {
      this.#open.delete(resolver)
    }
  }
}

/** The resolver of the system, or one that asks only `lookup`. */
export const resolverOf = (lookup: Lookup | undefined): Resolver =>
  new Resolver(lookup && { hosts: null, lookup })

interface DnsAnswer {
  addresses: LookupAddress[]
  isAnswered: boolean
}

const foundOf =
  (family: 4 | 6) =>
  (addresses: string[]): DnsAnswer => ({
    addresses: addresses.map((address) => ({ address, family })),
    isAnswered: true,
  })

function noneOf(error: NodeJS.ErrnoException): DnsAnswer {
  if (error.code === 'ECANCELLED') throw error
  return { addresses: [], isAnswered: ANSWERS.has(String(error.code)) }
}

const lookedUp = (hostname: string, lookup: Lookup): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    )
  })

/** The addresses that a hosts file has for a name (see `man 5 hosts`). */
function addressesIn(path: string, hostname: string): LookupAddress[] {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch {}
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .filter(([, ...names]) => names.includes(hostname))
    .map(([address]) => ({ address: address!, family: isIP(address!) }))
    .filter(({ family }) => family !== 0)
}

/** The code is that of a system whose name servers do not answer. */
class SilentServers extends Error {
  readonly code = 'EAI_AGAIN'
  constructor(hostname: string) {
    super(`the name servers of ${hostname} do not answer`)
  }
}
