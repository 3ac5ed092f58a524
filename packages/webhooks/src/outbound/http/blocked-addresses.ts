/** The addresses that deliveries may not go to, which guarded-agent.ts refuses, and the URLs that webhooks may have. */
import { BlockList, isIP } from 'node:net'

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
 * Makes the check of addresses in their usual spelling, as a URL parser, a resolver or a socket gives
 * them. Text that is not an address is blocked. An address of IPv6 that leads to one of IPv4 is judged
 * by that one: a network of IPv6 that is allowed does not open it.
 *
 * @param allowedNetworks CIDRs that are open although they are listed above
 */
export function createAddressFilter(allowedNetworks: readonly string[]): IsBlocked {
  const isAllowed = matcherOf(allowedNetworks)
  const isReserved = matcherOf([...BLOCKED_IPV4, ...BLOCKED_IPV6])
  const isGlobal = matcherOf([GLOBAL_UNICAST])
  const isBlockedIpv4 = (address: string) =>
    !isAllowed(address, 'ipv4') && isReserved(address, 'ipv4')

  return (text) => {
    const family = familyOf(text)
    if (family === null) return true
    if (family === 'ipv4') return isBlockedIpv4(text)
    // A zone id (`fe80::1%eth0`) names an interface of this machine.
    const address = text.replace(/%.*$/, '')
    const groups = groupsOf(address)
    const alias = aliasOf(groups)
    if (alias !== null) return isBlockedIpv4(alias)
    if (embeddedIn(groups).some(isBlockedIpv4)) return true
    return (
      !isAllowed(address, 'ipv6') && (isReserved(address, 'ipv6') || !isGlobal(address, 'ipv6'))
    )
  }
}

/** The eight groups of an address of IPv6. */
function groupsOf(address: string): number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [head = [], tail = []] = hex
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))))
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

const ipv4Of = (high: number, low: number): string =>
  [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')

const begin = (groups: number[], ...start: number[]): boolean =>
  start.every((group, at) => groups[at] === group)

/** The address of IPv4 that is another spelling: IPv4-mapped, or the well-known prefix of NAT64 (RFC 6052). */
function aliasOf(groups: number[]): string | null {
  const isAlias = begin(groups, 0, 0, 0, 0, 0, 0xffff) || begin(groups, 0x64, 0xff9b, 0, 0, 0, 0)
  return isAlias ? ipv4Of(groups[6]!, groups[7]!) : null
}

/** The addresses of IPv4 that a way of transition may lead to, for an address that is not open of itself. */
function embeddedIn(groups: number[]): string[] {
  const [, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groups
  // 6to4.
  if (begin(groups, 0x2002)) return [ipv4Of(g1, g2)]
  // Teredo: its server, and its client with each bit inverted.
  if (begin(groups, 0x2001, 0)) return [ipv4Of(g2, g3), ipv4Of(g6 ^ 0xffff, g7 ^ 0xffff)]
  // IPv4-compatible (`::1` is none), IPv4-translated, ISATAP.
  const isCompatible = begin(groups, 0, 0, 0, 0, 0, 0) && g6 > 0xff
  const isTranslated = begin(groups, 0, 0, 0, 0, 0xffff, 0)
  const isIsatap = (g4 & ~0x200) === 0 && g5 === 0x5efe
  if (isCompatible || isTranslated || isIsatap) return [ipv4Of(g6, g7)]
  // NAT64 for local use, of a prefix of any length (RFC 6052, section 2.2).
  if (!begin(groups, 0x64, 0xff9b, 1)) return []
  const low = (group: number) => group & 0xff
  return [
    ipv4Of(g6, g7),
    ipv4Of(g3, (low(g4) << 8) | (g5 >> 8)),
    ipv4Of((low(g3) << 8) | low(g4), g5),
    ipv4Of((low(g4) << 8) | (g5 >> 8), (low(g5) << 8) | (g6 >> 8)),
  ].filter((address) => !address.startsWith('0.'))
}

/** Whether text is an address such as `203.0.113.7`, without a zone. */
export const isAddress = (text: string): boolean => familyOf(text) !== null && !text.includes('%')

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

/** Two lists: with one, every IPv4 address would be in `::/0`. */
function matcherOf(cidrs: readonly string[]): (address: string, family: Family) => boolean {
  if (cidrs.length === 0) return () => false
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const cidr of cidrs) {
    const network = networkOf(cidr)
    if (network === null) throw new TypeError(`${cidr} is not a network`)
    const { address, bits, family } = network
    // The whole prefix of NAT64 opens no network of IPv4: it would open all of them.
    const alias = family === 'ipv6' && bits > 96 ? aliasOf(groupsOf(address)) : null
    if (alias === null) lists[family].addSubnet(address, bits, family)
    else lists.ipv4.addSubnet(alias, bits - 96, 'ipv4')
  }
  return (address, family) => lists[family].check(address, family)
}

function familyOf(address: string): Family | null {
  const version = isIP(address)
  if (version === 0) return null
  return version === 4 ? 'ipv4' : 'ipv6'
}

export const MAX_URL_LENGTH = 2048

/**
 * Why deliveries cannot go to a URL, as the end of the sentence "url …"; null where they can.
 *
 * @param isOperators whether the reader can change the options of the host
 */
export function urlProblem(url: string, isBlocked: IsBlocked, isOperators = true): string | null {
  if (url.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`
  // The URL parser removes these: the stored URL and the called URL would differ.
  if (/[\u0000-\u0020\u007f]/.test(url)) return 'must not contain spaces or control characters'
  // The parser replaces it by U+FFFD, and Postgres stores no JSON that has it.
  if (!url.isWellFormed()) return 'must not contain half of a surrogate pair'
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return 'must be an http or https URL'
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain credentials'
  const address = literalAddress(parsed.hostname)
  if (address !== null && isBlocked(address)) {
    const why = isOperators
      ? 'deliveries go there only where the option allowedNetworks lists its network'
      : 'deliveries go to public addresses only'
    return `must not point at ${address}: ${why}`
  }
  return null
}

/**
 * The address in the host of a parsed URL, or null for a name. The parser has already normalised every
 * other spelling (decimal, octal, hexadecimal, short, full-width), except for a second trailing dot.
 */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.+$/, '')
  return isIP(bare) === 0 ? null : bare
}
