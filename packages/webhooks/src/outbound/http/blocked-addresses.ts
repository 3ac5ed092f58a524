import { addressBytes, contains, parseNetwork, type Network } from './network.ts'

/** Whether deliveries must keep away from an address. */
export type Refuses = (address: string) => boolean

/**
 * Every network of IANA's special-purpose registry of IPv4, also the few that are globally reachable (nobody receives
 * webhooks there), and multicast. Azure's platform address is the one metadata service that stands outside of them all.
 */
const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** Global unicast: whatever lies outside of it (loopback, unique local, link-local, multicast, …) is refused unnamed. */
const GLOBAL_IPV6 = '2000::/3'

/** IANA's special-purpose registry of IPv6 inside global unicast. Teredo is in the first, 6to4 the third. */
const REFUSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

/** Prefixes behind which an IPv4 address is reached: IPv4-mapped, and the well-known prefix of NAT64 (RFC 6052). */
const EMBEDDING = ['::ffff:0:0/96', '64:ff9b::/96']

/**
 * Tells refused addresses from others, in their usual spelling (as a URL's parser, a resolver or a socket gives them).
 * What is no address at all is refused.
 */
export function addressGuard(allowedNetworks: readonly string[]): Refuses {
  const allowed = networks(allowedNetworks)
  const refused = networks([...REFUSED_IPV4, ...REFUSED_IPV6])
  const embedding = networks(EMBEDDING)
  const [global] = networks([GLOBAL_IPV6])
  const within = (list: readonly Network[], address: Uint8Array) =>
    list.some((network) => contains(network, address))

  return (text) => {
    const written = addressBytes(text)
    if (written === null) return true
    const reached = within(embedding, written) ? written.subarray(12) : written
    if (within(allowed, written) || within(allowed, reached)) return false
    return within(refused, reached) || (reached.length === 16 && !contains(global!, reached))
  }
}

function networks(cidrs: readonly string[]): Network[] {
  return cidrs.map((cidr) => {
    const network = parseNetwork(cidr)
    if (network === null) throw new TypeError(`${cidr} is not a network`)
    return network
  })
}
