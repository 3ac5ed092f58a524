/** The cookie of a session (RFC 6265bis). */

export interface CookieOf {
  /** Whether the request came over TLS. */
  isSecure: boolean
  /** The path that the console is mounted at. */
  path: string
}

export interface NewCookie extends CookieOf {
  token: string
  maxAgeSeconds: number
  /** Whether the page is shown in an iframe of another site. */
  isEmbedded: boolean
}

export const cookieOf = ({ protocol }: { protocol: string }, path: string): CookieOf => ({
  isSecure: protocol === 'https',
  path,
})

/** A name with this prefix cannot be set over plain HTTP. */
const nameOf = ({ isSecure }: CookieOf): string =>
  isSecure ? '__Secure-svc-console' : 'svc-console'

/** The token of the session; `undefined` where the cookie is missing or not unique. */
export function tokenIn(header: string | undefined, of: CookieOf): string | undefined {
  const prefix = `${nameOf(of)}=`
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
  // Another site on a parent domain can set a second cookie. It must not choose the session.
  return new Set(values).size === 1 ? values[0] : undefined
}

/**
 * `SameSite=Strict`. In an iframe of another site browsers send only `SameSite=None`, over TLS, and
 * keep it apart for each site that embeds the page.
 */
export function setCookie({ token, maxAgeSeconds, isEmbedded, ...of }: NewCookie): string {
  const isForeign = isEmbedded && of.isSecure
  return [
    `${nameOf(of)}=${token}`,
    `Path=${of.path}`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    ...(of.isSecure ? ['Secure'] : []),
    ...(isForeign ? ['SameSite=None', 'Partitioned'] : ['SameSite=Strict']),
  ].join('; ')
}

/**
 * Deletes the cookie in both forms: browsers keep a partitioned cookie beside one with the same
 * name that is not partitioned.
 */
export const clearCookies = (of: CookieOf): string[] =>
  [false, true]
    .filter((isEmbedded) => !isEmbedded || of.isSecure)
    .map((isEmbedded) => setCookie({ ...of, token: '', maxAgeSeconds: 0, isEmbedded }))
