/** Which key a request presents, read from the headers as they came over the wire. */

/** No key at all: no such header, an empty one, or an `Authorization` of another scheme. */
export const NO_KEY = Symbol('no key')
/** Two headers of a kind, or both kinds with different keys: nobody can say which one is meant. */
export const UNCLEAR_KEY = Symbol('unclear key')

export type Presented = string | typeof NO_KEY | typeof UNCLEAR_KEY

/**
 * `rawHeaders` and not `headers`: Node keeps the first of two `Authorization` headers in silence,
 * and joins two `X-API-Key` with a comma.
 */
export function presentedKey(rawHeaders: readonly string[]): Presented {
  let apiKey: string | undefined
  let authorization: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 9 && isNamed(name, 'x-api-key')) {
      if (apiKey !== undefined) return UNCLEAR_KEY
      apiKey = rawHeaders[i + 1] as string
    } else if (name.length === 13 && isNamed(name, 'authorization')) {
      if (authorization !== undefined) return UNCLEAR_KEY
      authorization = rawHeaders[i + 1] as string
    }
  }
  if (authorization === undefined) return apiKey || NO_KEY
  const token = bearerToken(authorization)
  if (apiKey === undefined || token === undefined) return apiKey || token || NO_KEY
  return token === apiKey ? apiKey || NO_KEY : UNCLEAR_KEY
}

const isNamed = (name: string, wanted: string): boolean =>
  name === wanted || name.toLowerCase() === wanted

const SPACE = 32

/**
 * RFC 6750 §2.1: the scheme in any case, spaces, the token. `undefined` is another scheme. Nothing
 * is trimmed but spaces: a key with a no-break space at its end is not that key.
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
