import type { UrlVariants } from '../preset-schemes.ts'
import type { Sent } from './sent.ts'

/** The variants in which a URL may be signed, that in which it was sent first. */
export function variantsOf(url: string, urls: UrlVariants | undefined): string[] {
  const variants = [url]
  if (urls?.decode !== undefined) variants.push(withDecoded(url, urls.decode))
  if (urls?.anyPort || urls?.normalised) variants.push(...spellings(url, urls))
  return [...new Set(variants)]
}

/**
 * Where fields follow the URL without anything between: whether it ends where it seems to. No field is at
 * the end of the query, or of a parameter of the path, where `=` does not follow its name, and no field
 * begins with what may be the end of a URL.
 */
export function apartFrom(
  urls: UrlVariants | undefined,
): (sent: Sent, names: readonly string[]) => boolean {
  if (!urls?.without) return () => true
  const known = urls.without
  const field = new RegExp(
    `(?:${known.map((name) => name.replaceAll('+', String.raw`\+`)).join('|')})(?!=)`,
  )
  return (sent, names) => {
    const [, query = ''] = sent.target.split(/\?(.*)/s)
    const inPath = Object.values((sent.request.params as Record<string, string> | undefined) ?? {})
    return (
      !field.test(query) &&
      !inPath.some((value) => field.test(value) && !known.includes(value)) &&
      names.every((name) => /^[A-Za-z]/.test(name))
    )
  }
}

function withDecoded(url: string, characters: string): string {
  return url.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return characters.includes(character) ? character : escape
  })
}

function spellings(url: string, { anyPort, normalised }: UrlVariants): string[] {
  const parsed = URL.parse(url)
  if (!parsed) return []
  const { protocol, hostname, host, pathname, search } = parsed
  const start = url.indexOf('/', protocol.length + 2)
  const asSent = start === -1 ? '' : url.slice(start)
  const hosts = anyPort
    ? [hostname, `${hostname}:${protocol === 'https:' ? 443 : 80}`, host]
    : [host]
  const paths = normalised ? [asSent, pathname + search] : [asSent]
  return hosts.flatMap((at) => paths.map((path) => `${protocol}//${at}${path}`))
}
