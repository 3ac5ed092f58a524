/** Which key a request presents, read from its headers as they were sent. */
import type { CredentialsFailure } from './auth-failure.ts'

/** No such header, one of blanks, or an `Authorization` of another scheme or without a token. */
export const MISSING: CredentialsFailure = { verdict: 'missing' }
/** Two headers of a kind, or both kinds with different keys. */
export const AMBIGUOUS: CredentialsFailure = { verdict: 'ambiguous' }

/**
 * The text of the key. It is read from `rawHeaders`, since in `headers` Node keeps only the first of
 * two `Authorization` headers and joins two `X-API-Key` headers with a comma.
 */
export function presentedKey(rawHeaders: readonly string[]): string | CredentialsFailure {
  let apiKey: string | undefined
  let authorization: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 9 && isNamed(name, 'x-api-key')) {
      const value = rawHeaders[i + 1] as string
      if (isBlank(value)) continue
      if (apiKey !== undefined) return AMBIGUOUS
      apiKey = value
    } else if (name.length === 13 && isNamed(name, 'authorization')) {
      const value = rawHeaders[i + 1] as string
      if (isScheme(value)) continue
      if (authorization !== undefined) return AMBIGUOUS
      authorization = value
    }
  }
  if (authorization === undefined) return apiKey ?? MISSING
  const token = bearerToken(authorization)
  if (apiKey === undefined || token === undefined) return apiKey ?? token ?? MISSING
  return token === apiKey ? apiKey : AMBIGUOUS
}

/** A proxy may set each header on every request, empty where there is nothing to pass on. */
function isBlank(value: string, from = 0): boolean {
  for (let i = from; i < value.length; i++) if (!isBlankAt(value, i)) return false
  return true
}

/** Whether nothing follows the scheme. */
function isScheme(authorization: string): boolean {
  let end = 0
  while (end < authorization.length && !isBlankAt(authorization, end)) end++
  return isBlank(authorization, end)
}

function isBlankAt(value: string, i: number): boolean {
  const code = value.charCodeAt(i)
  return code === SPACE || code === TAB
}

const isNamed = (name: string, wanted: string): boolean =>
  name === wanted || name.toLowerCase() === wanted

const SPACE = 32
const TAB = 9

/**
 * RFC 6750 §2.1: the scheme in any case, spaces, the token. `undefined` for another scheme. Only
 * spaces are trimmed: a key with a no-break space at its end is another key.
 */
function bearerToken(authorization: string): string | undefined {
  if (authorization.slice(0, 6).toLowerCase() !== 'bearer') return undefined
  if (authorization.length > 6 && authorization.charCodeAt(6) !== SPACE) return undefined
  let start = 6
  while (authorization.charCodeAt(start) === SPACE) start++
  let end = authorization.length
  while (end > start && authorization.charCodeAt(end - 1) === SPACE) end--
  return authorization.slice(start, end)
}
