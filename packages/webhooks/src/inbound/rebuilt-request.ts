import type { ListedRow } from '../tables/inbound-log.ts'
import type { InboundRequest } from './source.ts'

/** A logged request as the functions of its source read it: its masked headers stay masked. */
export function rebuilt(row: ListedRow, path: string): InboundRequest {
  const rawHeaders = JSON.parse(row.headers ?? '[]') as string[]
  const headers: Record<string, string> = {}
  for (let line = 0; line < rawHeaders.length; line += 2) {
    headers[(rawHeaders[line] ?? '').toLowerCase()] ??= rawHeaders[line + 1] ?? ''
  }
  const url = row.url ?? path
  const request = {
    method: 'POST',
    url,
    originalUrl: url,
    ip: row.ip,
    headers,
    rawHeaders,
    rawBody: row.body ?? Buffer.alloc(0),
    query: Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? '')),
    params: paramsOf(url, path),
    raw: { method: 'POST', url, headers, rawHeaders },
  }
  return request as unknown as InboundRequest
}

/** The values of `/hooks/:connection/stripe` in a URL; a prefix of the host stands before the path. */
function paramsOf(url: string, path: string): Record<string, string> {
  const given = (url.split('?')[0] ?? '').split('/').toReversed()
  const wanted = path.split('/').toReversed()
  return Object.fromEntries(
    wanted.flatMap((part, place) =>
      part.startsWith(':') ? [[part.slice(1), decodeURIComponent(given[place] ?? '')]] : [],
    ),
  )
}
