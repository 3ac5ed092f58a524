import { isIP } from 'node:net'
import type { Refuses } from './blocked-addresses.ts'

export const LONGEST_URL = 2048

/** What a URL may not be to receive deliveries, in words for whoever registers it; null where it may. */
export function whyNot(url: string, refuses: Refuses): string | null {
  if (url.length > LONGEST_URL) return `must be at most ${LONGEST_URL} characters`
  // The URL parser drops these unseen: what is stored would not be what is called.
  if (/[\u0000-\u0020\u007f]/.test(url)) return 'must not contain spaces or control characters'
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return 'must be an http or https URL'
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain credentials'
  const address = literalAddress(parsed.hostname)
  if (address !== null && refuses(address)) {
    return `must not point at ${address}: deliveries go there only where the option allowedNetworks opens it`
  }
  return null
}

/**
 * The address that a parsed URL's host is, or null for a name. The parser has already turned every other spelling
 * (decimal, octal, hexadecimal, short, full-width) into the usual one; only a second trailing dot gets past it.
 */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.+$/, '')
  return isIP(bare) === 0 ? null : bare
}
