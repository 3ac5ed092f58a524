import { isIPv4, isIPv6 } from 'node:net'

/** An IP network: the bytes of its address, and how many leading bits of them count. */
export interface Network {
  bytes: Uint8Array
  bits: number
}

/** The 4 or 16 bytes of an address in its usual spelling, with or without a zone id; null for anything else. */
export function addressBytes(text: string): Uint8Array | null {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number)
  return isIPv6(text) ? ipv6Bytes(text.replace(/%.*$/, '')) : null
}

/** Reads `10.0.0.0/8` or `fd00::/8`; null where it is not a CIDR. */
export function parseNetwork(cidr: string): Network | null {
  const [, address = '', length = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(cidr) ?? []
  const bytes = addressBytes(address)
  const bits = Number(length)
  return bytes !== null && bits <= bytes.length * 8 ? { bytes, bits } : null
}

/** Whether an address lies in a network. One of IPv4 never lies in one of IPv6. */
export function contains({ bytes, bits }: Network, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false
  const whole = bits >> 3
  for (let at = 0; at < whole; at++) if (bytes[at] !== address[at]) return false
  const rest = 0xff00 >> (bits & 7)
  return (bits & 7) === 0 || (bytes[whole]! & rest & 0xff) === (address[whole]! & rest & 0xff)
}

function ipv6Bytes(address: string): Uint8Array {
  const [head = '', tail] = address.split('::')
  const before = groups(head)
  const after = groups(tail ?? '')
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return Uint8Array.from(
    [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]),
  )
}

/** The 16-bit groups of a part of an IPv6 address, whose last may be written as an IPv4 address. */
function groups(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [(a << 8) | b, (c << 8) | d]
  })
}
