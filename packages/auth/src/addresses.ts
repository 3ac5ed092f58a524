/** Networks, as CIDRs or single addresses of IPv4 and IPv6, and whether an address is in one. */
import { BlockList, isIP } from 'node:net'

interface Network {
  address: string
  prefix: number
  family: 'ipv4' | 'ipv6'
}

/** A single address means the network that has only that address. */
function parsed(cidr: string): Network | undefined {
  const [address = '', length, ...rest] = cidr.split('/')
  const version = isIP(address)
  // A zone belongs to one machine.
  if (version === 0 || rest.length > 0 || address.includes('%')) return undefined
  const longest = version === 4 ? 32 : 128
  if (length !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined
  const prefix = length === undefined ? longest : Number(length)
  if (prefix > longest) return undefined
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}

/** Whether it is a CIDR or a single address. */
export const isNetwork = (text: string): boolean => parsed(text) !== undefined

/** Whether an address is in one of the networks. An address that is not known is in none. */
export type IsWithin = (address: string | undefined) => boolean

/** An IPv4 address that is written as an IPv6 one (`::ffff:192.0.2.1`) is in the same networks. */
export function createNetworks(cidrs: readonly string[]): IsWithin {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const network = parsed(cidr)
    if (network) list.addSubnet(network.address, network.prefix, network.family)
  }
  return (address) => {
    const plain = address?.split('%')[0] ?? ''
    const version = isIP(plain)
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Whether each of these networks lies within one of the others. */
export const isCoveredBy = (inner: readonly string[], outer: readonly string[]): boolean =>
  inner.every((cidr) => outer.some((other) => contains(other, cidr)))

function contains(outer: string, inner: string): boolean {
  const [larger, smaller] = [parsed(outer), parsed(inner)]
  if (!larger || !smaller || larger.family !== smaller.family) return false
  if (larger.prefix > smaller.prefix) return false
  const list = new BlockList()
  list.addSubnet(larger.address, larger.prefix, larger.family)
  return list.check(smaller.address, smaller.family)
}
