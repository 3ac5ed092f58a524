/** The statements on the feed: the events in the order of their commits. */
import type { Db } from '../postgres/transaction.ts'

/** Stands among the queues with new jobs where readers of the feed wait for an event. */
export const FEED = 'svc.feed'

/**
 * A position in the feed, and the mark of its event, which tells it from another one that got the position where a
 * server that lacked the last commits took over; `null`: the event is not there.
 */
export interface Place {
  position: number
  mark: number | null
}

export interface FeedSpan {
  after: Place
  names: readonly string[]
  /** `null`: those of all tenants; an empty text: those of none. */
  tenant: string | null
  limit: number
}

export interface FeedRow extends Place {
  name: string
  /** The id as it is stored, see event-id.ts. */
  id: string
  tenant: string | null
  /** Milliseconds since 1970. */
  publishedAt: number
  /** The paths of the leaves that differ from what was before; `null` where that is unknown. */
  changed: string[] | null
  /** JSON text. */
  payload: string
}

export interface FeedPage {
  events: FeedRow[]
  /** The events up to this position are all that are wanted. */
  to: number
  mark: number | null
  /** Whether the event after which the page begins is there, with its mark. */
  isKnown: boolean
  /** When the server was started, as text: another one may have taken over. */
  server: string
  hasMore: boolean
  /** The highest position of an event that was deleted since it was old. */
  deletedTo: number
  last: number
}

/** Events that one statement walks by, those that are not wanted included. */
const WALKED = 20_000
/** Payloads of one page, unless a single one is larger. */
const LARGEST_PAGE_BYTES = 8 * 1024 * 1024

export async function readFeed(
  db: Db,
  { after, names, tenant, limit }: FeedSpan,
): Promise<FeedPage> {
  const { rows } = await db.query(
    `select svc."__svc.read_feed"($1, $2, $3, $4, $5, $6, $7) as page`,
    [after.position, after.mark, names, tenant, WALKED, limit, LARGEST_PAGE_BYTES],
  )
  // One text of JSON: a host may have set type parsers of its own for other types.
  return JSON.parse((rows[0] as { page: string }).page) as FeedPage
}

/** The place of the newest event that no open transaction can precede. */
export async function feedEnd(db: Db): Promise<Place> {
  const { rows } = await db.query(
    `select json_build_object('position', newest, 'mark', mark)::text as place from svc."__svc.newest_position"()`,
  )
  return JSON.parse((rows[0] as { place: string }).place) as Place
}

/** Events of these names with one of these ids, at most two. */
export async function findFeedEvents(
  db: Db,
  names: readonly string[],
  ids: readonly string[],
): Promise<FeedRow[]> {
  const { rows } = await db.query(
    `select json_build_object(
              'position', position, 'mark', null, 'name', name, 'id', id, 'tenant', tenant, 'changed', changed,
              'publishedAt', extract(epoch from published_at)::float8 * 1000, 'payload', payload)::text as event
       from svc."__svc.events"
      where name = any($1::text[]) and id = any($2::text[]) limit 2`,
    [names, ids],
  )
  return rows.map(({ event }: { event: string }) => JSON.parse(event) as FeedRow)
}

export async function declaredEvents(db: Db): Promise<string[]> {
  const { rows } = await db.query(
    `select event_name as name from svc."__svc.subscriptions" where fans_out`,
  )
  return rows.map(({ name }: { name: string }) => name)
}

/** Whether readers wait in this process, which publishes of all processes then notify. */
export async function setAwaitsEvents(db: Db, processId: string, awaits: boolean): Promise<void> {
  await db.query(
    `update svc."__svc.processes" set awaits_events = $2 where id = $1 and awaits_events <> $2`,
    [processId, awaits],
  )
}
