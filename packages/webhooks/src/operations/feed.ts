/** The operations on the feed: events in the order of their commits, for receivers that pull. */
import {
  compileFilterMatch,
  DeferredFilters,
  EVERY_EVENT,
  FeedDeleted,
  namesThatMean,
  narrowedReach,
  OWN_EVENTS,
  publishedEventId,
  storedEventId,
  subjectOf,
  uuidOf,
  withoutGate,
  nullable,
  TenantFilter,
  type Core,
  type FeedReader,
  type FeedRow,
  type Place,
  type Reach,
  type Input,
} from '@svc/core/internal'
import {
  CursorExpired,
  EventNotAllowed,
  EventNotFound,
  InvalidCursor,
  SeveralEvents,
  WebhookNotFound,
} from '../errors.ts'
import { parsedExactly } from '../exact-json.ts'
import { onlyFields } from '../outbound/settings/fields.ts'
import type { StoredWebhook } from '../tables/webhook-row.ts'
import { findUpdateTimes, findWebhook } from '../tables/webhooks.ts'
import { operation, assertMayReceive, isHidden, type Caller } from '../caller.ts'
import { Type, type Static } from '@sinclair/typebox'
import { closed, text, Time, WebhookId } from '../schema-pieces.ts'

const MOST_EVENTS = 1000

/** As a query has it, names are separated by commas. */
const FeedEvents = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  items: { type: 'string', maxLength: 200 },
  minItems: 1,
  maxItems: MOST_EVENTS,
  maxLength: 20_000,
  description:
    'Names and patterns such as order.* of allowed events, and names of ours (svc.…), separated by commas. By default all allowed events.',
})

/** What each query of a feed takes. */
const FEED_PAGES = {
  after: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'The cursor of a former page. By default from now on; `start`: from the oldest event that is kept.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Events of a page.' }),
  ),
  wait: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 25,
      default: 0,
      description: 'How many seconds to wait for the first event, where there is none.',
    }),
  ),
}

const FeedQuery = Type.Object(
  { ...FEED_PAGES, events: Type.Optional(FeedEvents), tenant: TenantFilter },
  closed,
)
/**
 * Which part of the feed: at most `limit` events (1 to 500, 100 by default) after the cursor `after` (`start`: from
 * the oldest that is kept; by default from now on), of some `events`, of a `tenant` (empty: of none). `wait`: for
 * how many seconds, 0 to 25, to wait for the first one.
 *
 * @example
 * const query: FeedQuery = { after: cursor, events: ['order.*'], wait: 20 }
 */
export type FeedQuery = Input<typeof FeedQuery>

const WebhookFeedQuery = Type.Object({ id: WebhookId, ...FEED_PAGES }, closed)
/** The webhook `id`, and which part of its feed: see {@link FeedQuery}. */
export type WebhookFeedQuery = Input<typeof WebhookFeedQuery>

const EventInFeed = Type.Object({
  id: Type.String({ description: 'As it was published.' }),
  name: Type.String(),
  payload: Type.Unknown(),
  tenant: nullable(Type.String({ description: "null for the operator's." })),
  publishedAt: Time,
  changed: Type.Optional(
    Type.Array(
      Type.String({ description: 'The path of a leaf that differs from what was before.' }),
    ),
  ),
})
/** An event as the feed has it. `changed` is there where its publisher said what was before. */
export type EventInFeed = Static<typeof EventInFeed>

const FeedAnswer = Type.Object({
  events: Type.Array(EventInFeed),
  cursor: Type.String({
    description:
      'The `after` of the next page. It does not expire for so long as the events after it are kept.',
  }),
  hasMore: Type.Boolean({ description: 'Whether there may be more events already.' }),
})
/** A part of the feed. */
export type FeedAnswer = Static<typeof FeedAnswer>

/** The answer to a cursor before events that may be deleted. */
const ExpiredAnswer = Type.Object({
  statusCode: Type.Integer(),
  code: Type.String(),
  error: Type.String(),
  message: Type.String(),
  oldest: Type.String({ description: 'The cursor to go on after.' }),
})

const EventOfId = Type.Object(
  {
    eventId: Type.String({ description: 'As it was published.' }),
    name: Type.Optional(text(200)),
    tenant: TenantFilter,
  },
  closed,
)
/** The event `eventId`; `name` and `tenant` (empty: none) where several have that id. */
export type EventOfId = Input<typeof EventOfId>

const DEFAULT_LIMIT = 100
const START = 'start'

/** The scopes that open the routes of the feed. Its reads take their turn, and its waits do not. */
const READS = withoutGate({ scopes: ['events:read', 'webhooks:manage'] })

type Pages = Pick<FeedQuery, 'after' | 'limit' | 'wait'>

/** The filters of all readers of this process: together they take a bounded share of its time. */
const filters = new DeferredFilters()

export function feedOperations(
  core: Pick<Core, 'feed' | 'calls' | 'readDb' | 'svc'>,
  allowedEvents: readonly string[],
) {
  /** Reads in the turn of the caller. */
  const inTurn = <T>({ reach }: Caller, read: () => Promise<T>) =>
    core.calls.run(reach === '' ? null : reach, 'reads', read)

  const endOf = (by: Caller) => inTurn(by, () => core.feed.end())

  async function page(
    by: Caller,
    { after, limit = DEFAULT_LIMIT, wait = 0 }: Pages,
    of: Omit<FeedReader, 'limit'>,
    fields: StoredWebhook['fields'] = null,
  ): Promise<FeedAnswer> {
    const ms = wait * 1000
    if (after === undefined) {
      const end = await endOf(by)
      if (ms === 0) return { events: [], cursor: cursorOf(end), hasMore: false }
      return follow(end)
    }
    return follow(after === START ? null : placeOf(after))

    async function follow(place: Place | null): Promise<FeedAnswer> {
      try {
        const gone = by.gone?.()
        const { events, to, hasMore } = await core.feed.follow(
          place,
          { ...of, limit },
          { ms, gone, inTurn: (read) => inTurn(by, read) },
        )
        return { events: await shownTo(by, events, fields), cursor: cursorOf(to), hasMore }
      } catch (error) {
        if (!(error instanceof FeedDeleted)) throw error
        const oldest = cursorOf(error.oldest)
        throw Object.assign(new CursorExpired(oldest), { oldest })
      }
    }
  }

  /** Whether it is another webhook by now; those of one moment are looked up together. */
  const updatedAt = gathered((ids: string[]) => findUpdateTimes(core.readDb, ids))

  return {
    feed: operation({
      input: FeedQuery,
      output: FeedAnswer,
      routes: {
        'GET /feed': {
          summary: 'Read events in the order of their commits',
          takes: FeedQuery.properties,
          errors: { 410: ExpiredAnswer },
          config: READS,
        },
      },
      async run(by, { events, tenant, ...pages }) {
        const names = namesFor(by, events, allowedEvents)
        const reach = narrowedReach(by.reach, tenant)
        // Of another tenant it reads nothing.
        return page(
          by,
          pages,
          reach === undefined ? { names: NONE, reach: by.reach } : { names, reach },
        )
      },
    }),

    webhookFeed: operation({
      input: WebhookFeedQuery,
      output: FeedAnswer,
      routes: {
        'GET /:id/feed': {
          summary: 'Read the events that the webhook is sent, in the order of their commits',
          takes: FEED_PAGES,
          errors: { 410: ExpiredAnswer },
          config: READS,
        },
      },
      async run(by, { id: given, after, wait = 0, ...pages }) {
        const id = uuidOf(given)
        const endMs = performance.now() + wait * 1000
        const from = after === undefined && wait > 0 ? cursorOf(await endOf(by)) : after
        for (;;) {
          const webhook = id && (await findWebhook(core.readDb, id, by.reach))
          if (!webhook) throw new WebhookNotFound(given)
          const names = new Set(webhook.events.filter((name) => !isHidden(by, name)))
          const reach: Reach = webhook.tenant
          const of = { names, reach, wants: wantedBy(webhook) }
          const leftMs = Math.max(0, endMs - performance.now())
          const span = { ...pages, after: from, wait: leftMs / 1000 }
          const answer = await page(by, span, of, webhook.fields)
          // It is read again where it was changed while the reader waited.
          if (leftMs === 0 || answer.events.length === 0) return answer
          if ((await updatedAt(webhook.id)) === webhook.updatedAt) return answer
        }
      },
    }),

    event: operation({
      input: EventOfId,
      output: EventInFeed,
      text: 'eventId',
      routes: {
        'GET /events/:eventId': { summary: 'Get an event', config: READS },
        // Longer ids than the router takes as a parameter.
        'GET /events/*': {
          summary: 'Get an event',
          names: { '*': 'eventId' },
          config: READS,
          hide: true,
        },
      },
      async run(by, { eventId, name, tenant }) {
        const known = await inTurn(by, () => core.feed.names())
        const all = known.filter((one) => !isHidden(by, one))
        const names = name === undefined ? all : all.filter((one) => one === name)
        const reach = narrowedReach(by.reach, tenant)
        const found =
          reach === undefined || eventId.length > LONGEST_ID || !isStorable(eventId)
            ? []
            : await inTurn(by, () => find(names, eventId, reach))
        if (found.length > 1) throw new SeveralEvents(shortened(eventId))
        if (!found[0]) throw new EventNotFound(shortened(eventId))
        const [event] = await shownTo(by, found, null)
        return event as EventInFeed
      },
    }),
  }

  async function find(names: string[], id: string, reach: Reach): Promise<FeedRow[]> {
    if (names.length === 0) return []
    if (reach !== null)
      return core.feed.find(names, [storedEventId(reach === '' ? null : reach, id)])
    const { items } = await core.svc.events.search({ name: names, id, limit: 2 })
    return core.feed.find(
      names,
      items.map(({ tenant }) => storedEventId(tenant, id)),
    )
  }
}

const PLACE = /^feed:(?<position>0|[1-9]\d{0,14})(?:\.(?<mark>0|[1-9]\d{0,8}))?$/

/** A place in the feed, as a text that says nothing to its holder. */
const cursorOf = ({ position, mark }: Place): string =>
  Buffer.from(`feed:${position}${mark === null ? '' : `.${mark}`}`).toString('base64url')

/** @throws InvalidCursor */
function placeOf(cursor: string): Place {
  const { position, mark } =
    PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.groups ?? {}
  const place = { position: Number(position), mark: mark === undefined ? null : Number(mark) }
  // A text with other characters in it is decoded without them.
  if (position === undefined || cursorOf(place) !== cursor) throw new InvalidCursor()
  return place
}

const LONGEST_ID = 255
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
const shortened = (id: string): string => (id.length > 40 ? `${id.slice(0, 40)}…` : id)

const NONE: ReadonlySet<string> = new Set()

/** @throws EventNotAllowed, KeyEventsNotAllowed */
function namesFor(
  by: Caller,
  events: FeedQuery['events'],
  allowed: readonly string[],
): ReadonlySet<string> {
  if (events === undefined) return new Set([EVERY_EVENT])
  const given = typeof events === 'string' ? events.split(',') : events
  const known = new Set([...allowed.flatMap(namesThatMean), ...OWN_EVENTS])
  const unknown = given.find((name) => !known.has(name))
  if (unknown !== undefined) {
    throw new EventNotAllowed(unknown, [EVERY_EVENT, ...allowed, ...OWN_EVENTS].join(', '))
  }
  assertMayReceive(by, given)
  return new Set(given)
}

/** For how long the events of a page are parsed before other work of the process has its turn. */
const LONGEST_TURN_MS = 10

/** The events as the caller gets them. Over HTTP numbers stay as they were published, as in deliveries. */
async function shownTo(
  { gone }: Caller,
  events: readonly FeedRow[],
  fields: StoredWebhook['fields'],
): Promise<EventInFeed[]> {
  const parse = gone === undefined ? JSON.parse : parsedExactly
  const shown: EventInFeed[] = []
  let turnEndMs = performance.now() + LONGEST_TURN_MS
  for (const { id, name, payload, tenant, publishedAt, changed } of events) {
    if (performance.now() > turnEndMs) {
      await new Promise((resolve) => setImmediate(resolve))
      turnEndMs = performance.now() + LONGEST_TURN_MS
    }
    shown.push({
      id: publishedEventId(id),
      name,
      payload: parse(fields === null ? payload : onlyFields(payload, fields)) as unknown,
      tenant,
      publishedAt: new Date(publishedAt).toISOString(),
      ...(changed && { changed }),
    })
  }
  return shown
}

/** Looks values up by their ids: all that are asked for in one turn of the event loop with one call. */
function gathered<Value>(
  find: (ids: string[]) => Promise<ReadonlyMap<string, Value>>,
): (id: string) => Promise<Value | undefined> {
  let next: { ids: Set<string>; found: Promise<ReadonlyMap<string, Value>> } | undefined
  return async (id) => {
    if (next === undefined) {
      const ids = new Set<string>()
      const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        next = undefined
        return find([...ids])
      })
      next = { ids, found }
    }
    const { ids, found } = next
    ids.add(id)
    return (await found).get(id)
  }
}

function wantedBy({ filter }: StoredWebhook): FeedReader['wants'] {
  if (filter === null) return undefined
  const match = compileFilterMatch(filter)
  return async ({ name, tenant, payload, changed }) => {
    const { isMatch } = await filters.decide(match, () =>
      subjectOf(name, tenant, JSON.parse(payload), changed),
    )
    return isMatch === true
  }
}
