/**
 * `svc.events.search`: events, newest first. Those of a tenant have an index in that order; for all, every
 * publish would pay for one: the table is written in the order of time, so a BRIN index finds what lies
 * between two moments. The search goes back in growing spans, and stops when the page is full, or when it
 * has taken long. The next span is no longer than what remains of that time allows, at the pace of the last.
 */
import type { Input } from '../options/input.ts'
import { Type } from '@sinclair/typebox'
import { readOperation } from '../actions/define-operation.ts'
import { validatorFor } from '../actions/validate-input.ts'
import { InvalidInput } from '../errors.ts'
import { isStatementTimeout } from '../postgres/contention.ts'
import type { Db } from '../postgres/transaction.ts'
import { STORABLE_TEXT, nullable, TenantFilter } from '../http/schemas.ts'
import { EVERYWHERE, withinReach, type Reach } from '../tenants/tenants.ts'
import { publishedEventId, storedEventId } from './event-id.ts'

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
export type EventQuery = Input<typeof EventQuery>

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
  /** The paths of what has changed; absent where the publisher did not say what was before. */
  changed?: string[]
  /** Present where `payloads` was set. */
  payload?: unknown
}

/** What `events.find` shows. */
export type FoundEventWithPayload = FoundEvent & Required<Pick<FoundEvent, 'payload'>>

/** A page of found events. */
export interface FoundEvents {
  items: FoundEvent[]
  /** The `after` of what is older; `null` at the end. */
  next: string | null
  /** `false` where the search took long and ended before the page was full: `next` continues it. */
  complete: boolean
}

const MINUTE = 60_000
/** How much longer the next span is at most. */
const GROWTH = 8
/** A page that takes longer than this has fewer items. */
const LONGEST_SEARCH_MS = 1500

/** What is searched next where a span took too long: this part of it. */
const NARROWED_BY = 60
const BEGIN = '-infinity'
/** Of an earlier year Postgres would read another text. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')

/** Where a page begins, and the first span that it searches, in milliseconds. */
interface Start {
  upper: Position
  firstSpanMs: number
}

export function createEventSearch(db: Db) {
  const search = readOperation(EventQuery, async (query): Promise<FoundEvents> => {
    const { name, tenant = EVERYWHERE, limit = 50, since = BEGIN, until = 'infinity' } = query
    const filter = { ...query, names: name === undefined ? null : [name].flat(), reach: tenant }
    const start: Start =
      query.after === undefined
        ? { upper: [until, '', ''], firstSpanMs: MINUTE }
        : startIn(query.after)
    let { upper, firstSpanMs: lengthMs } = start
    let fromMs = Math.min(Date.now(), Date.parse(upper[0]) || Infinity)
    let begunMs = performance.now()
    const endMs = begunMs + LONGEST_SEARCH_MS
    const found: FoundRow[] = []
    for (;;) {
      fromMs -= lengthMs
      const from = fromMs < FIRST_MS ? BEGIN : new Date(fromMs).toISOString()
      const isLast = from === BEGIN || (since !== BEGIN && fromMs <= Date.parse(since))
      const lower = isLast ? since : from
      // One more than the page holds: whether there is another one.
      const most = limit + 1 - found.length
      try {
        found.push(...(await searchEvents(db, { ...filter, lower, upper, limit: most })))
      } catch (error) {
        // No moment can be searched in parts.
        if (!isStatementTimeout(error) || lengthMs <= 1) throw error
        const firstSpanMs = wholeMs(Math.min(MINUTE, lengthMs / NARROWED_BY))
        return pageOf(found, { upper, firstSpanMs }, false)
      }
      if (found.length > limit) return pageOf(found.slice(0, limit), last(found, limit))
      if (isLast) return pageOf(found, null)
      upper = [lower, '', '']
      const nowMs = performance.now()
      if (nowMs > endMs) return pageOf(found, { upper, firstSpanMs: MINUTE }, false)
      lengthMs = wholeMs(lengthMs * Math.min(GROWTH, (endMs - nowMs) / (nowMs - begunMs)))
      begunMs = nowMs
    }
  })
  const find = readOperation(EventId, async ({ name, id, tenant }) => {
    const row = await findEvent(db, name, storedEventId(tenant, id))
    return row ? { ...shown(row), payload: JSON.parse(row.payload ?? 'null') } : null
  })
  return {
    search: (query: EventQuery = {}): Promise<FoundEvents> => search(query),
    find: (
      name: string,
      id: string,
      { tenant = null }: { tenant?: string | null | undefined } = {},
    ) => find({ name, id, tenant }),
  }
}

const wholeMs = (ms: number): number => Math.max(1, Math.floor(ms))

const last = (found: FoundRow[], limit: number): Start | null => {
  const row = found[limit - 1]
  return row ? { upper: [row.position, row.name, row.id], firstSpanMs: MINUTE } : null
}

const pageOf = (rows: FoundRow[], next: Start | null, complete = true): FoundEvents => ({
  items: rows.map(shown),
  next: next && textOf(next),
  complete,
})

const textOf = ({ upper, firstSpanMs }: Start): string =>
  Buffer.from(JSON.stringify([...upper, firstSpanMs])).toString('base64url')

const shown = (row: FoundRow): FoundEvent => {
  const { name, id, tenant, publishedAt, changed, bytes, payload } = row
  return {
    name,
    id: publishedEventId(id),
    tenant,
    publishedAt,
    ...(changed !== null && { changed: JSON.parse(changed) as string[] }),
    bytes,
    ...(payload !== null && { payload: JSON.parse(payload) }),
  }
}

function startIn(after: string): Start {
  try {
    const start: unknown = JSON.parse(Buffer.from(after, 'base64url').toString('utf8'))
    if (isStart(start)) return { upper: [start[0], start[1], start[2]], firstSpanMs: start[3] }
  } catch {
    // Text that is not JSON: the error below covers it.
  }
  throw new InvalidInput('input/after must be the "next" of a former answer')
}

const timeCheck = validatorFor(undefined, Time)

const isStart = (value: unknown): value is [...Position, firstSpanMs: number] =>
  Array.isArray(value) &&
  value.length === 4 &&
  value.slice(0, 3).every((part) => typeof part === 'string' && !part.includes('\0')) &&
  (value[0] === 'infinity' || timeCheck()(value[0]) === true) &&
  Number.isInteger(value[3]) &&
  value[3] >= 1 &&
  value[3] <= MINUTE

type Position = [publishedAt: string, name: string, id: string]

interface FoundRow {
  name: string
  id: string
  tenant: string | null
  publishedAt: string
  /** JSON text of a list of paths; `null` where the publisher did not say what was before. */
  changed: string | null
  bytes: number
  payload: string | null
  position: string
}

interface EventSpan {
  names: string[] | null
  /** Events whose names begin with this are left out. */
  except?: string | undefined
  id?: string | undefined
  reach: Reach
  text?: string | undefined
  payloads?: boolean | undefined
  lower: string
  upper: Position
  limit: number
}

const time = (digits: string): string =>
  `to_char(published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.${digits}"Z"')`

const COLUMNS = `name, id, tenant, octet_length(payload) as bytes,
  changed::text as changed, ${time('MS')} as "publishedAt", ${time('US')} as position`

async function searchEvents(db: Db, span: EventSpan): Promise<FoundRow[]> {
  const { names, except, id, reach, text, payloads = false, lower, upper, limit } = span
  const { rows } = await db.query(
    `select ${COLUMNS}, case when $10 then payload end as payload
       from svc."__svc.events"
      where published_at >= $1 and published_at <= $2::timestamptz
        and (published_at, name, id) < ($2::timestamptz, $3, $4)
        and ($5::text[] is null or name = any($5))
        and ($11::text is null or not starts_with(name, $11))
        and ($6::text is null or id = $6 or id = coalesce(tenant, '') || E'\\x1f' || $6)
        and ${withinReach('tenant', '$7')}
        and ($8::text is null or payload ~ $8 collate "C")
      order by published_at desc, name desc, id desc
      limit $9`,
    [
      lower,
      ...upper,
      names,
      id ?? null,
      reach,
      text === undefined ? null : inAnyCase(text),
      limit,
      payloads,
      except ?? null,
    ],
  )
  return rows
}

/**
 * A regular expression of Postgres that finds `text` in any case of letters, by Unicode's own rule: which
 * letters `ilike` takes as equal depends on the collation of the database.
 */
const inAnyCase = (text: string): string =>
  Array.from(text)
    .map((one) => {
      const [lower, upper] = [one.toLowerCase(), one.toUpperCase()]
      if (lower === upper) return one.replace(/[!-/:-@[-`{-~]/, String.raw`\$&`)
      // The dotless i has the capital I, which is no case of it: the expression knows that.
      const isSame = new RegExp(`^${one}$`, 'iu')
      const cases = [one, lower, upper, upper.toLowerCase(), lower.toUpperCase()]
      return `[${[...new Set(cases.filter((letter) => isSame.test(letter)))].join('')}]`
    })
    .join('')

async function findEvent(db: Db, name: string, id: string): Promise<FoundRow | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS}, payload from svc."__svc.events" where name = $1 and id = $2`,
    [name, id],
  )
  return rows[0]
}
