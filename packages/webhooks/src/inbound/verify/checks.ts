/** Common code of the verification helpers: reads headers, compares, records why it refuses. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { InboundRequest } from '../source.ts'

/**
 * Why a helper returned `false`: a verification returns a boolean, and the log line of the refusal
 * needs the reason. The sender does not get the reason, since it may be an attacker.
 */
const reasons = new WeakMap<object, string>()

/** Records the reason, which must hold nothing of a secret nor of an expected signature. */
export function reject(request: object, reason: string): false {
  reasons.set(request, reason)
  return false
}

/** Called before a verification is repeated. */
export const forgetReason = (request: object): void => void reasons.delete(request)

export const reasonOf = (request: object): string | undefined => reasons.get(request)

/** The characters that a header name may have (RFC 9110, section 5.6.2). */
export function isHeaderName(value: unknown): boolean {
  return typeof value === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value)
}

/**
 * The value of a header that the request carries once. Of a repeated header Node keeps the first
 * value or joins them, and a proxy may have checked another one: a repeated header is rejected.
 */
export function soleHeader(request: InboundRequest, name: string): string | undefined {
  const values = headerValues(request, name)
  if (values.length === 1) return values[0]
  reject(
    request,
    `the header ${name.toLowerCase()} ${values.length === 0 ? 'is missing' : 'came more than once'}`,
  )
  return undefined
}

/** A plain `{ headers }` is read too, so that a host can try its source without a server. */
export function headerValues(request: InboundRequest, name: string): string[] {
  const wanted = name.toLowerCase()
  const { rawHeaders, headers } = request
  const values: string[] = []
  if (Array.isArray(rawHeaders)) {
    for (let line = 0; line < rawHeaders.length; line += 2) {
      const given = rawHeaders[line] ?? ''
      if (given.length !== wanted.length || given.toLowerCase() !== wanted) continue
      values.push(rawHeaders[line + 1] ?? '')
    }
    return values
  }
  for (const [given, value = []] of Object.entries(
    headers as Record<string, string | string[] | undefined>,
  )) {
    if (given.toLowerCase() === wanted) values.push(...[value].flat())
  }
  return values
}

/** The values of all headers by name, lower-cased: for more names than the headers are searched for. */
export function valuesByName(request: InboundRequest): Record<string, string[]> {
  const { rawHeaders, headers } = request
  // Not a Map: it hashes integers to themselves, so that a sender can choose names that collide.
  const values = Object.create(null) as Record<string, string[]>
  if (Array.isArray(rawHeaders)) {
    for (let line = 0; line < rawHeaders.length; line += 2) {
      const name = (rawHeaders[line] ?? '').toLowerCase()
      ;(values[name] ??= []).push(rawHeaders[line + 1] ?? '')
    }
    return values
  }
  for (const [name, value = []] of Object.entries(
    headers as Record<string, string | string[] | undefined>,
  )) {
    ;(values[name.toLowerCase()] ??= []).push(...[value].flat())
  }
  return values
}

/** Compares hashes, so that the duration reveals neither the difference nor the length. */
export function equalBytes(given: Uint8Array, expected: Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}

/**
 * Whether the value of a header is this text. Node reads header bytes as Latin-1: a secret with
 * characters beyond ASCII matches whether the sender wrote it in UTF-8 or in Latin-1.
 */
export function equalHeader(value: string, expected: string): boolean {
  const wanted = Buffer.from(expected)
  const asUtf8 = equalBytes(Buffer.from(value, 'latin1'), wanted)
  const asLatin1 = equalBytes(Buffer.from(value), wanted)
  return asUtf8 || asLatin1
}
