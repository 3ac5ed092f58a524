/** Turns a verified request into one event, or into one for each item of a batch. */
import { extractKey, storedKey, type Scope } from './deduplication-key.ts'
import type { DeduplicationKey } from '@svc/core/internal'
import { calling } from './host-functions.ts'
import type { InboundRequest } from './source.ts'
import { SourceMistake } from './source-mistake.ts'
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
  /** The name of each item's event, in their order; `null` for an item that repeats another. */
  names: (string | null)[]
}

/**
 * @param json the payload of the body
 * @throws the errors of the source's functions
 */
export function planOf(source: Source, request: InboundRequest, body: string, json: string): Plan {
  const tenant = tenantOf(source, request, body)
  const scope = { tenant, params: (request.params as object | undefined) ?? {} }
  const items = itemsOf(source, json)
  if (items === null) {
    const event = eventOf(source, request, body, json, scope)
    return { tenant, events: [event], names: [event.name] }
  }
  const events = withoutRepeats(
    items.map((item) => eventOf(source, request, body, JSON.stringify(item ?? null), scope, item)),
  )
  return {
    tenant,
    events: events.filter((event) => event !== null),
    names: events.map((event) => event && event.name),
  }
}

/** The items of a batch; `null` where the body is one event. */
export function itemsOf({ split }: Source, json: string): unknown[] | null {
  if (!split) return null
  const items: unknown = calling('split', () => split(JSON.parse(json)))
  if (!Array.isArray(items)) {
    throw new SourceMistake(`split must return a list, not a value of type ${typeof items}`)
  }
  const missing = items.findIndex((item) => item === undefined)
  if (missing === -1) return items
  throw new SourceMistake(`split must return a list of items, and its element [${missing}] is none`)
}

/** A batch that holds an item twice publishes it once, as two requests would: the others are `null`. */
function withoutRepeats(events: ToPublish[]): (ToPublish | null)[] {
  const seen = new Set<string>()
  return events.map((event) => {
    const { deduplicationKey } = event
    if (deduplicationKey === null) return event
    const isFirst = !seen.has(deduplicationKey.key)
    seen.add(deduplicationKey.key)
    return isFirst ? event : null
  })
}

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
export function namesIn(text: string, items: number): (string | null)[] | undefined {
  const names = JSON.parse(text) as string | (string | null)[]
  if (!Array.isArray(names)) return Array.from({ length: items }, () => names)
  return names.length === items ? names : undefined
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
  const name =
    typeof publishAs === 'string'
      ? publishAs
      : calling('publishAs', () => publishAs(request, body, ...item))
  const key = extractKey(source, request, body, ...item)
  return { name, json, deduplicationKey: key === null ? null : storedKey(source, key, scope) }
}

function tenantOf({ tenant }: Source, request: InboundRequest, body: string): string | null {
  const value: unknown = calling('tenant', () => tenant?.(request, body)) ?? null
  if (value === null || (typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,64}$/.test(value))) {
    return value
  }
  throw new SourceMistake(
    'tenant must return 1 to 64 letters, digits, "_", ".", ":" or "-", or null',
  )
}
