/**
 * `svc.events.search`: events, newest first. The table has no index in that order, since every
 * publish would pay for it; it is written in the order of time, so a BRIN index finds what lies
 * between two moments. The search goes back in growing spans, and stops when the page is full.
 */
import { Type, type Static } from '@sinclair/typebox'
import { readOperation } from '../actions/define-operation.ts'
import { InvalidInput } from '../errors.ts'
import type { Db } from '../postgres/transaction.ts'
import { STORABLE_TEXT, nullable, TenantFilter } from '../http/schemas.ts'
import { EVERYWHERE } from '../tenants/tenants.ts'
import { publishedEventId, storedEventId } from './event-id.ts'
import { findEvent, searchEvents, type FoundRow, type Position } from './event-search-table.ts'

const Name = Type.String({ maxLength: 200, pattern: STORABLE_TEXT })
const Time = Type.String({ format: 'date-time' })

const EventQuery = Type.Object(
  {
    name: Type.Optional(Type.Union([Name, Type.Array(Name, { maxItems: 1000 })])),
    except: Type.Optional(Name),
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: STORABLE_TEXT })),
    tenant: TenantFilter,
    text: Type.Optional(Type.String({ minLength: 3, maxLength: 200, pattern: STORABLE_TEXT })),
    since: Type.Optional(Time),
    until: Type.Optional(Time),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 50 })),
    after: Type.Optional(Type.String({ maxLength: 2000 })),
    payloads: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
/**
 * Which events are searched: those of a `name` or of some, without those whose names begin with
 * `except`, with an `id`, of a `tenant` (empty: of none), whose payload holds a `text` (of its JSON, in
 * any case of letters), published from `since` on and before `until`, both ISO 8601. At most `limit` of
 * them (1 to 1000, 50 by default), those that follow `after`. With `payloads` each has its payload.
 *
 * @example
 * const query: EventQuery = { name: 'order.created', since: '2030-01-31T00:00:00Z', limit: 100 }
 */
export type EventQuery = Static<typeof EventQuery>

const EventId = Type.Object(
  {
    name: Name,
    id: Type.String({ maxLength: 255, pattern: STORABLE_TEXT }),
    tenant: nullable(Type.String({ maxLength: 64, pattern: STORABLE_TEXT })),
  },
  { additionalProperties: false },
)

/** An event that was published, as `events.search` and `events.find` show it. */
export interface FoundEvent {
  name: string
  id: string
  tenant: string | null
  /** ISO 8601 in UTC. */
  publishedAt: string
  /** The size of the payload's JSON text, in UTF-8. */
  bytes: number
  /** Present where `payloads` was set. */
  payload?: unknown
}

/** `next`: the `after` of what is older, also where a search took long and found few; `null` at the end. */
export interface FoundEvents {
  items: FoundEvent[]
  next: string | null
}

export interface EventSearch {
  search: (query?: EventQuery) => Promise<FoundEvents>
  find: (
    name: string,
    id: string,
    of?: { tenant?: string | null },
  ) => Promise<Required<FoundEvent> | null>
}

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** How far back each span reaches, from where the search began; then all that is older. */
const SPANS_MS = [MINUTE, 10 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, DAY, 3 * DAY, 10 * DAY]
/** A page that takes longer than this has fewer items. */
const LONGEST_SEARCH_MS = 1500

const BEGIN = '-infinity'

export function createEventSearch(db: Db): EventSearch {
  const search = readOperation(EventQuery, async (query): Promise<FoundEvents> => {
    const { name, tenant = EVERYWHERE, limit = 50, since = BEGIN, until = 'infinity' } = query
    const filter = { ...query, names: name === undefined ? null : [name].flat(), reach: tenant }
    let upper: Position = query.after === undefined ? [until, '', ''] : positionIn(query.after)
    const end = Math.min(Date.now(), Date.parse(upper[0]) || Infinity)
    const startedMs = performance.now()
    const found: FoundRow[] = []
    for (const from of [...SPANS_MS.map((ms) => new Date(end - ms).toISOString()), BEGIN]) {
      const isLast = from === BEGIN || (since !== BEGIN && Date.parse(from) <= Date.parse(since))
      const lower = isLast ? since : from
      // One more than the page holds: whether there is another one.
      const most = limit + 1 - found.length
      found.push(...(await searchEvents(db, { ...filter, lower, upper, limit: most })))
      if (found.length > limit) return pageOf(found.slice(0, limit), last(found, limit))
      if (isLast) return pageOf(found, null)
      upper = [lower, '', '']
      if (performance.now() - startedMs > LONGEST_SEARCH_MS) break
    }
    return pageOf(found, upper)
  })
  const find = readOperation(EventId, async ({ name, id, tenant }) => {
    const row = await findEvent(db, name, storedEventId(tenant, id))
    return row ? { ...shown(row), payload: JSON.parse(row.payload ?? 'null') } : null
  })
  return {
    search: (query = {}) => search(query),
    find: (name, id, { tenant = null } = {}) => find({ name, id, tenant }),
  }
}

const last = (found: FoundRow[], limit: number): Position | null => {
  const row = found[limit - 1]
  return row ? [row.position, row.name, row.id] : null
}

const pageOf = (rows: FoundRow[], next: Position | null): FoundEvents => ({
  items: rows.map(shown),
  next: next && Buffer.from(JSON.stringify(next)).toString('base64url'),
})

const shown = ({ name, id, tenant, publishedAt, bytes, payload }: FoundRow): FoundEvent => ({
  name,
  id: publishedEventId(id),
  tenant,
  publishedAt,
  bytes,
  ...(payload !== null && { payload: JSON.parse(payload) }),
})

/** @throws InvalidInput */
function positionIn(after: string): Position {
  try {
    const position: unknown = JSON.parse(Buffer.from(after, 'base64url').toString('utf8'))
    if (isPosition(position)) return position
  } catch {
    // Text that is not JSON: the error below covers it.
  }
  throw new InvalidInput('input/after must be the "next" of a former answer')
}

const isPosition = (value: unknown): value is Position =>
  Array.isArray(value) &&
  value.length === 3 &&
  value.every((part) => typeof part === 'string' && !part.includes('\0')) &&
  !Number.isNaN(Date.parse(value[0]))
