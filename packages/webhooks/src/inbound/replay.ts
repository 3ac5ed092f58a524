/** What a replay of a logged request publishes, and what is kept of a request for that. */
import { isEventName } from '@svc/core/internal'
import { BodyRefused } from '@svc/providers/internal'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ListedRow } from '../tables/inbound-log.ts'
import { refusalOfBody } from './errors.ts'
import { Inbound } from './inbound.ts'
import { itemsOf, payloadOf, planOf, readBody, type Plan, type ToPublish } from './receive.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

export interface ReplayPlan {
  tenant: string | null
  events: Pick<ToPublish, 'name' | 'json'>[]
}

/**
 * What was to be published when the request came. If the request failed before that was known, the
 * row does not say, and the functions of the source are called again.
 */
export function replayPlanOf(row: ListedRow, source: Source, host: Host): ReplayPlan {
  const inbound = new Inbound(source, rebuilt(row, source.path, host))
  const json = jsonOf(inbound)
  const events = eventsOf(row, inbound, json)
  if (events) return { tenant: row.tenant, events }
  const plan = planOf(inbound, json)
  // The tenant of a request that failed may not have been known.
  const tenant = row.outcome === 'failed' ? (row.tenant ?? plan.tenant) : row.tenant
  return { tenant, events: plan.events }
}

function jsonOf(inbound: Inbound): string {
  try {
    readBody(inbound)
    return payloadOf(inbound)
  } catch (error) {
    throw error instanceof BodyRefused ? refusalOfBody(error) : error
  }
}

/** The events by their stored names; `undefined` where these are missing or do not fit. */
function eventsOf(
  { eventNames }: ListedRow,
  inbound: Inbound,
  json: string,
): ReplayPlan['events'] | undefined {
  if (eventNames === null) return undefined
  const items = itemsOf(inbound, json)
  const payloads = items?.map((item) => JSON.stringify(item ?? null)) ?? [json]
  const names = namesIn(eventNames, payloads.length)
  // Some requests failed because of a wrong name, which the host may have corrected since.
  if (!names?.every((name) => name === null || isPublishable(name))) return undefined
  return payloads.flatMap((payload, place) => {
    const name = names[place] ?? null
    return name === null ? [] : [{ name, json: payload }]
  })
}

const isPublishable = (name: unknown): boolean =>
  isEventName(name) && !String(name).startsWith('svc.')

const LONGEST_NAMES = 65_536

/** The names of a plan as JSON text, where all are the same only one; `null` where it is too long. */
export function namesText({ names }: Plan): string | null {
  // An invalid name fails when it is published.
  if (!names.every((name) => name === null || typeof name === 'string')) return null
  const [first = null] = names
  const isOne = names.length > 0 && names.every((name) => name === first)
  const text = JSON.stringify(isOne ? first : names)
  return text.length > LONGEST_NAMES ? null : text
}

/** The names that {@link namesText} has written; `undefined` where they are those of other items. */
function namesIn(text: string, items: number): (string | null)[] | undefined {
  const names = JSON.parse(text) as string | (string | null)[]
  if (!Array.isArray(names)) return Array.from({ length: items }, () => names)
  return names.length === items ? names : undefined
}

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
function rebuilt(row: ListedRow, path: string, { server, log }: Host): InboundRequest {
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
