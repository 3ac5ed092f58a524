/** A logged request as the functions of its source read it. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ListedRow } from '../tables/inbound-log.ts'
import type { InboundRequest } from './source.ts'

/**
 * What a router, a query parser and a proxy have made of a request, which cannot be derived from
 * its URL.
 */
type Parts = Partial<
  Pick<InboundRequest, 'params' | 'query' | 'id' | 'hostname' | 'host' | 'protocol' | 'originalUrl'>
>

/** What belongs to the host rather than to the request. */
export interface Host {
  server: FastifyInstance
  log: FastifyBaseLogger
}

const LONGEST_PARTS = 65_536

/** As JSON text; `null` where it is too long, or the host's own parser has made what is no JSON. */
export function partsOf(request: InboundRequest): string | null {
  try {
    const { params, query, id, hostname, host, protocol, originalUrl } = request
    const parts: Parts = { params, query, id, hostname, host, protocol, originalUrl }
    const text = JSON.stringify(parts)
    return text.length > LONGEST_PARTS ? null : text
  } catch {
    return null
  }
}

/** Its masked headers stay masked. */
export function rebuilt(row: ListedRow, path: string, { server, log }: Host): InboundRequest {
  const rawHeaders = JSON.parse(row.headers ?? '[]') as string[]
  const headers: Record<string, string> = {}
  for (let line = 0; line < rawHeaders.length; line += 2) {
    headers[(rawHeaders[line] ?? '').toLowerCase()] ??= rawHeaders[line + 1] ?? ''
  }
  const url = row.url ?? path
  const request = {
    method: 'POST',
    url,
    ip: row.ip,
    headers,
    rawHeaders,
    rawBody: row.body ?? Buffer.alloc(0),
    body: row.body ?? Buffer.alloc(0),
    raw: { method: 'POST', url, headers, rawHeaders },
    routeOptions: { method: 'POST', url: path, config: {} },
    server,
    log,
    ...(row.requestParts === null ? partsIn(url, path) : (JSON.parse(row.requestParts) as Parts)),
  }
  return request as unknown as InboundRequest
}

/** What can be derived from the URL, where the parts were too long to be kept. */
const partsIn = (url: string, path: string): Parts => ({
  originalUrl: url,
  query: Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? '')),
  params: paramsOf(url, path),
})

/** The values of `/hooks/:connection/stripe` in a URL; the path may follow a prefix of the host. */
function paramsOf(url: string, path: string): Record<string, string> {
  const given = (url.split('?')[0] ?? '').split('/').toReversed()
  const wanted = path.split('/').toReversed()
  return Object.fromEntries(
    wanted.flatMap((part, place) =>
      part.startsWith(':') ? [[part.slice(1), decodeURIComponent(given[place] ?? '')]] : [],
    ),
  )
}
