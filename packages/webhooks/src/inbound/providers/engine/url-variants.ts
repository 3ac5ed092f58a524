import type { UrlVariants } from '../preset-schemes.ts'

/** The variants in which a URL may be signed, that in which it was sent first. */
export function variantsOf(url: string, urls: UrlVariants | undefined): string[] {
  const variants = [url]
  if (urls?.decode !== undefined) variants.push(withDecoded(url, urls.decode))
  if (urls?.anyPort || urls?.normalised) variants.push(...spellings(url, urls))
  return [...new Set(variants)]
}

/** Whether the query holds the name of a field, which `=` does not follow. */
export function holdsFieldOf(urls: UrlVariants | undefined): (url: string) => boolean {
  if (!urls?.without) return () => false
  const names = urls.without.map((name) => name.replaceAll('+', String.raw`\+`))
  const field = new RegExp(`(?:${names.join('|')})(?!=)`)
  return (url) => {
    const start = url.indexOf('?')
    return start !== -1 && field.test(url.slice(start))
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
