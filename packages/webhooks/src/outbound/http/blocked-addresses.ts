/** The addresses that deliveries may not go to. connector.ts refuses them, and webhook-url.ts in the URL of a webhook. */
import { BlockList, isIP, SocketAddress } from 'node:net'

/** Whether deliveries may not go to an address. */
export type IsBlocked = (address: string) => boolean

/**
 * Every network of IANA's special-purpose registry of IPv4, also the few that are globally reachable
 * (no receiver of webhooks is there), and multicast. 168.63.129.16 is the platform address of Azure,
 * the one metadata service outside of those networks.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const BLOCKED_IPV4 = [
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

/**
 * The special-purpose networks of IPv6 inside global unicast (2000::/3); 2001::/23 holds Teredo,
 * 2002::/16 is 6to4.
 *
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const BLOCKED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

/** Loopback, unique local, link-local, multicast and the rest lie outside of global unicast. */
const GLOBAL_UNICAST = '2000::/3'

/**
 * The prefixes of IPv6 behind which an IPv4 address is reached: IPv4-mapped, and the well-known
 * prefix of NAT64 (RFC 6052). `BlockList` itself compares an IPv4-mapped address with the IPv4
 * networks.
 */
const MAPPED = '::ffff:'
const NAT64 = '64:ff9b::'

/**
 * Makes the check of addresses in their usual spelling, as a URL parser, a resolver or a socket gives
 * them. Text that is not an address is blocked.
 *
 * @param allowedNetworks CIDRs that are open although they are listed above
 */
export function createAddressFilter(allowedNetworks: readonly string[]): IsBlocked {
  const isAllowed = matcherOf(allowedNetworks)
  const isReserved = matcherOf([...BLOCKED_IPV4, ...BLOCKED_IPV6])
  const isReachable = matcherOf([GLOBAL_UNICAST, `${MAPPED}0:0/96`, `${NAT64}/96`])

  return (text) => {
    const family = familyOf(text)
    if (family === null) return true
    // A zone id (`fe80::1%eth0`) names an interface of this machine.
    const address = new SocketAddress({ address: text.replace(/%.*$/, ''), family })
    if (isAllowed(address)) return false
    return isReserved(address) || (family === 'ipv6' && !isReachable(address))
  }
}

/** Whether text is a network such as `10.0.0.0/8` or `fd00::/8`. */
export const isNetwork = (cidr: string): boolean => networkOf(cidr) !== null

type Family = 'ipv4' | 'ipv6'

interface Network {
  address: string
  bits: number
  family: Family
}

function networkOf(cidr: string): Network | null {
  const [, address = '', length = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(cidr) ?? []
  const family = familyOf(address)
  const bits = Number(length)
  return family !== null && bits <= (family === 'ipv4' ? 32 : 128)
    ? { address, bits, family }
    : null
}

/**
 * Two lists: with one, every IPv4 address would be in `::/0`. Each network of IPv4 is listed once
 * more behind the prefix of NAT64.
 */
function matcherOf(cidrs: readonly string[]): (address: SocketAddress) => boolean {
  if (cidrs.length === 0) return () => false
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const cidr of cidrs) {
    const network = networkOf(cidr)
    if (network === null) throw new TypeError(`${cidr} is not a network`)
    const { address, bits, family } = network
    lists[family].addSubnet(address, bits, family)
    if (family === 'ipv4') lists.ipv6.addSubnet(`${NAT64}${address}`, 96 + bits, 'ipv6')
  }
  return (address) =>
    lists[address.family].check(address) || (address.family === 'ipv6' && lists.ipv4.check(address))
}

function familyOf(address: string): Family | null {
  const version = isIP(address)
  if (version === 0) return null
  return version === 4 ? 'ipv4' : 'ipv6'
}
