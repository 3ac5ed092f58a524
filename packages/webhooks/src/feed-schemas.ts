/** The input and output of the operations on the feed, for routes, named actions and `svc.webhooks`. */
import { Type, type Static } from '@sinclair/typebox'
import { nullable, TenantFilter, type Input } from '@svc/core/internal'
import { closed, text, Time, WebhookId } from './schema-pieces.ts'

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
export const FEED_PAGES = {
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

export const FeedQuery = Type.Object(
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

export const WebhookFeedQuery = Type.Object({ id: WebhookId, ...FEED_PAGES }, closed)
/** The webhook `id`, and which part of its feed: see {@link FeedQuery}. */
export type WebhookFeedQuery = Input<typeof WebhookFeedQuery>

export const EventInFeed = Type.Object({
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

export const FeedAnswer = Type.Object({
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
export const ExpiredAnswer = Type.Object({
  statusCode: Type.Integer(),
  code: Type.String(),
  error: Type.String(),
  message: Type.String(),
  oldest: Type.String({ description: 'The cursor to go on after.' }),
})

export const EventOfId = Type.Object(
  {
    eventId: Type.String({ description: 'As it was published.' }),
    name: Type.Optional(text(200)),
    tenant: TenantFilter,
  },
  closed,
)
/** The event `eventId`; `name` and `tenant` (empty: none) where several have that id. */
export type EventOfId = Input<typeof EventOfId>
