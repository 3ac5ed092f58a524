import type { UrlWritings } from '../preset-schemes.ts'

/** The writings in which a URL may be signed, that in which it was sent first. */
export function writingsOf(url: string, urls: UrlWritings | undefined): string[] {
  const writings = [url]
  if (urls?.decode !== undefined) writings.push(withDecoded(url, urls.decode))
  if (urls?.anyPort || urls?.normalised) writings.push(...spellings(url, urls))
  return [...new Set(writings)]
}

function withDecoded(url: string, characters: string): string {
  return url.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return characters.includes(character) ? character : escape
  })
}

function spellings(url: string, { anyPort, normalised }: UrlWritings): string[] {
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
