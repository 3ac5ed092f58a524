// The texts of rows with the values of a request, written apart from the engine's.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What a provider's server has of a request before it is sent. */
export interface Unsigned {
  method: string
  /** As the provider calls it. */
  url: string
  headers: Record<string, string>
  /** A JSON value, or the fields of a form. */
  json?: unknown
  /** Where the items of a batch stand. */
  split?: string | undefined
  form?: Record<string, string>
  options: Record<string, string>
}

/** A request while it is being signed. */
export type Working = Unsigned & {
  fields?: string[]
  timestamp?: string
  covered?: string
  secret?: string
}

/** The only item of the batch. */
export function itemOf(request: Working): Record<string, unknown> {
  const names = (request.split ?? '').split('.').filter((name) => name !== '')
  const list = names.reduce<unknown>(
    (at, name) => (at as Record<string, unknown>)[name],
    request.json,
  )
  return (Array.isArray(list) ? list[0] : list) as Record<string, unknown>
}

export const bodyOf = ({ json, form }: Working): string =>
  form ? new URLSearchParams(form).toString() : JSON.stringify(json ?? {})

/** A text of a row with its values, for requests of one item and no odd cases. */
export function filled(text: string, request: Working): string {
  const optional = text.replaceAll(/\[([^[\]]*\{[^[\]]*)\]/g, (_, inner: string) =>
    [...inner.matchAll(/\{([^{}]+)\}/g)].every(
      ([, name = '']) => value(name, request) !== undefined,
    )
      ? inner
      : '',
  )
  return optional.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const [place = '', otherwise] = name.split('|')
    const found = value(place, request) ?? otherwise
    if (found === undefined) throw new Error(`the test has no ${name}`)
    return found
  })
}

function value(place: string, request: Working): string | undefined {
  const name = place.slice(place.indexOf(':') + 1)
  switch (place.split(':')[0]) {
    case 'body':
      return bodyOf(request)
    case 'sha256-hex':
      return createHash('sha256')
        .update(value(name, request) ?? '')
        .digest('hex')
    case 'base64url':
      return Buffer.from(value(name, request) ?? '').toString('base64url')
    case 'timestamp':
      return request.timestamp
    case 'method':
      return request.method
    case 'url':
      return request.url
    case 'path':
      return request.url.replace(/^https?:\/\/[^/]+/, '')
    case 'params':
      return Object.entries(request.form ?? {})
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flat()
        .join('')
    case 'covered':
      return request.covered
    case 'secret':
      return request.secret
    case 'crc32':
      return String(crc32(bodyOf(request)))
    case 'field':
      return request.fields?.join(' ')
    case 'option':
      return request.options[name]
    case 'header':
      return request.headers[name]
    case 'query':
      return new URL(request.url).searchParams.get(name) ?? undefined
    case 'form':
      return request.form?.[name]
    case 'json':
      return textAt(request.json, name)
    case 'item':
      return textAt(itemOf(request), name)
    default:
      return undefined
  }
}

function textAt(root: unknown, path: string): string | undefined {
  const found = path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], root)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined
}
