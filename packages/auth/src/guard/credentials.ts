/** Which key a request presents, read from its headers as they were sent. */
import type { CredentialsFailure } from './auth-failure.ts'

/** No such header, one of blanks, or an `Authorization` of another scheme or without a token. */
export const MISSING: CredentialsFailure = { verdict: 'missing' }
/** Two headers of a name, or two different keys. */
export const AMBIGUOUS: CredentialsFailure = { verdict: 'ambiguous' }

export interface CredentialsSettings {
  /** Lower-case names of headers that have a key, beside `X-API-Key`. */
  keyHeaders: readonly string[]
  /** Whether the user name of HTTP Basic is a key, where its password is empty. */
  basic: boolean
}

/** The text of the key. */
export type PresentedKey = (rawHeaders: readonly string[]) => string | CredentialsFailure

/**
 * The key is read from `rawHeaders`, since in `headers` Node keeps only the first of two `Authorization`
 * headers and joins two `X-API-Key` headers with a comma.
 */
export function keyReader({ keyHeaders, basic }: CredentialsSettings): PresentedKey {
  const others = keyHeaders.filter((name) => name !== 'x-api-key')
  const tokenOf = basic ? (value: string) => bearerToken(value) ?? basicKey(value) : bearerToken
  if (others.length === 0) return (rawHeaders) => presentedKey(rawHeaders, tokenOf)
  const lengths = new Set(others.map(({ length }) => length))
  return (rawHeaders) => {
    let key = presentedKey(rawHeaders, tokenOf)
    const seen: string[] = []
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string
      if (!lengths.has(name.length)) continue
      const lower = name.toLowerCase()
      const value = rawHeaders[i + 1] as string
      if (!others.includes(lower) || isBlank(value)) continue
      if (seen.includes(lower)) return AMBIGUOUS
      seen.push(lower)
      if (key === MISSING) key = value
      else if (key !== value) return AMBIGUOUS
    }
    return key
  }
}

function presentedKey(
  rawHeaders: readonly string[],
  tokenOf: (authorization: string) => string | undefined,
): string | CredentialsFailure {
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
  const token = tokenOf(authorization)
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

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i

/** RFC 7617 §2: the user name, where the password is empty. `undefined` for anything else. */
function basicKey(authorization: string): string | undefined {
  const [, encoded] = BASIC.exec(authorization) ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  // A user name has no colon: a second one belongs to a password.
  if (text.indexOf(':') !== text.length - 1 || isBlank(text.slice(0, -1))) return undefined
  return text.slice(0, -1)
}
