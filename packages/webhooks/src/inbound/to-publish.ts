/** Turns a verified request into one event, or into one for each item of a batch. */
import { extractKey, storedKey, type Scope } from './deduplication-key.ts'
import type { DeduplicationKey } from '@svc/core/internal'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

export interface ToPublish {
  name: string
  /** The payload, as JSON text. */
  json: string
  deduplicationKey: DeduplicationKey | null
}

export interface Plan {
  tenant: string | null
  events: ToPublish[]
}

/**
 * @param json the payload of the body
 * @throws the errors of the source's functions
 */
export function planOf(source: Source, request: InboundRequest, body: string, json: string): Plan {
  const tenant = tenantOf(source, request, body)
  const scope = { tenant, params: (request.params as object | undefined) ?? {} }
  if (!source.split) return { tenant, events: [eventOf(source, request, body, json, scope)] }
  const items: unknown = source.split(JSON.parse(json))
  if (!Array.isArray(items)) {
    throw new TypeError(`split must return a list, not a value of type ${typeof items}`)
  }
  const events = items.map((item: unknown) =>
    eventOf(source, request, body, JSON.stringify(item ?? null), scope, item),
  )
  return { tenant, events: withoutRepeats(events) }
}

/** A batch that holds an item twice publishes it once, as two requests would. */
function withoutRepeats(events: ToPublish[]): ToPublish[] {
  const seen = new Set<string>()
  return events.filter(({ deduplicationKey }) => {
    if (deduplicationKey === null) return true
    const isFirst = !seen.has(deduplicationKey.key)
    seen.add(deduplicationKey.key)
    return isFirst
  })
}

function eventOf(
  source: Source,
  request: InboundRequest,
  body: string,
  json: string,
  scope: Scope,
  ...item: [item?: unknown]
): ToPublish {
  const { publishAs } = source
  const name = typeof publishAs === 'string' ? publishAs : publishAs(request, body, ...item)
  const key = extractKey(source, request, body, ...item)
  return { name, json, deduplicationKey: key === null ? null : storedKey(source, key, scope) }
}

function tenantOf({ tenant }: Source, request: InboundRequest, body: string): string | null {
  const value: unknown = tenant?.(request, body) ?? null
  if (value === null || (typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,64}$/.test(value))) {
    return value
  }
  throw new TypeError('tenant must return 1 to 64 letters, digits, "_", ".", ":" or "-", or null')
}
