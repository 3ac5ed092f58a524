/**
 * The path as the router reads it. It is needed only where the matched route does not decide: for
 * 404s, and for routes whose parameter or wildcard may contain a protected prefix.
 */

/** How this application's router reads a target: the options of find-my-way that bear on it. */
export interface RouterOptions {
  caseSensitive: boolean
  ignoreTrailingSlash: boolean
  ignoreDuplicateSlashes: boolean
}

/** Many readers take a backslash for a slash, in an authority too (WHATWG, URL). */
const ABSOLUTE = /^https?:\/\/[^/?#;\\]+/i
/** The router of a server that takes each target as it is written. */
export const AS_WRITTEN: RouterOptions = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
}

/**
 * Dot segments, empty segments, backslashes, semicolons, encoded delimiters, control characters,
 * spaces at a segment's edge, encoding on encoding.
 */
const DOUBTFUL =
  /\/\.\.?(?:\/|$)|\/\/|[\\;?#\p{Cc}]|\/\p{White_Space}|\p{White_Space}(?:\/|$)|%[0-9a-f]{2}/iu
/** The router takes an encoded slash for a part of a segment, the next decoder for a separator. */
const ENCODED_SLASH = /%2f/i

/**
 * @returns `undefined` where another reader (a proxy, a file system, a handler that decodes once
 *   more) may see another path: it counts as protected then
 */
export function pathOf(target: string, router: RouterOptions): string | undefined {
  // With its query delimiter the router may end the path at a semicolon. To the next reader it is a
  // part of the path: such a path is doubtful, whatever the router's option.
  const raw = withoutQuery(withoutAuthority(target))
  if (raw[0] !== '/' || ENCODED_SLASH.test(raw)) return undefined
  const path = decoded(raw)
  if (path === undefined) return undefined
  const plain = normalized(path, router)
  return DOUBTFUL.test(plain) ? undefined : plain
}

/** Normalises a path or a registered pattern as the router does before it compares them. */
export function normalized(path: string, router: RouterOptions): string {
  let plain = path
  if (router.ignoreDuplicateSlashes) plain = plain.replace(/\/{2,}/g, '/')
  if (router.ignoreTrailingSlash && plain.length > 1 && plain.endsWith('/')) {
    plain = plain.slice(0, -1)
  }
  return router.caseSensitive ? plain : plain.toLowerCase()
}

function withoutAuthority(target: string): string {
  if (target[0] === '/') return target
  const authority = ABSOLUTE.exec(target)?.[0]
  if (authority === undefined || target.includes('#')) return target
  const rest = target.slice(authority.length)
  return rest[0] === '/' ? rest : `/${rest}`
}

function withoutQuery(target: string): string {
  const end = target.search(/[?#]/)
  return end > 0 ? target.slice(0, end) : target
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
