import type { InboundRequest } from '../source.ts'
import { refuse } from './refusal.ts'

/**
 * The value of a header that the request carries once. Node keeps the first of two `Authorization`
 * and joins two of most others, and whoever stands in between may have looked at another one: a
 * header that comes twice is refused, and noted like one that is missing.
 */
export function soleHeader(request: InboundRequest, name: string): string | undefined {
  const wanted = name.toLowerCase()
  const values = headerLines(request)
    .filter(([line]) => line.toLowerCase() === wanted)
    .map(([, value]) => value)
  if (values.length === 1) return values[0]
  refuse(
    request,
    `the header ${wanted} ${values.length === 0 ? 'is missing' : 'came more than once'}`,
  )
  return undefined
}

/** A plain `{ headers }` is read too, so that a host can try its source without a server. */
function headerLines(request: InboundRequest): [string, string][] {
  const { rawHeaders, headers } = request
  if (Array.isArray(rawHeaders)) {
    return Array.from({ length: rawHeaders.length / 2 }, (_, line) => [
      rawHeaders[2 * line] ?? '',
      rawHeaders[2 * line + 1] ?? '',
    ])
  }
  return Object.entries(headers as Record<string, string | string[] | undefined>).flatMap(
    ([name, value = []]) => [value].flat().map((one): [string, string] => [name, one]),
  )
}
