import { isIP } from 'node:net'
import type { IsBlocked } from './blocked-addresses.ts'

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
