import type { Db } from '../postgres/transaction.ts'
import type { EventQuery, FoundEvents, FoundEventWithPayload } from './event-search.ts'
import type {
  PublishedName,
  PublishedPayload,
  SubscribedName,
  SubscribedPayload,
} from './svc-events.ts'

/**
 * Options of `events.publish`. Unknown ones are an InvalidOption.
 *
 * @example
 * await app.svc.events.publish('order.created', order, { id: `order-${order.id}`, tenant: 'acme' })
 */
export interface PublishOptions {
  /**
   * Names the event together with its name, up to 255 characters: a second publish of both is a
   * replay. @default a UUIDv7
   */
  id?: string | undefined
  /**
   * A client inside a transaction: the event is rolled back with it, delivered after its commit.
   * @default a transaction of its own
   */
  db?: Db | undefined
  /**
   * Whom the event is for: it reaches the tenant's recipients and those without a tenant. The `id` is
   * the tenant's own. @default null: recipients without a tenant alone
   */
  tenant?: string | null | undefined
  /**
   * What the payload was before: the paths of the leaves that differ, such as `status` or `customer.name`, are kept
   * with the event as `changed`, for filters and the feed. A list that differs is one path, its own; what is deeper
   * than 8 levels counts for its parent; at most 200 paths. `null`: there was nothing. What is given here is not stored.
   * @default unknown
   */
  before?: unknown
}

/** What `events.publish` resolves to, once the event is committed or written in the caller's transaction. */
export interface PublishResult {
  /** The id of the event: the option `id`, or a UUIDv7 (RFC 9562). */
  id: string
  /** Whether an event of that name and id existed: nothing was written then. */
  duplicate: boolean
}

/** What a handler gets beside the payload. */
export interface EventContext {
  /** The id of the event, as it was published: the same at each attempt, for idempotent handlers. */
  id: string
  /** The name of the event. */
  name: string
  /** The tenant that it was published for; `null` for none. */
  tenant: string | null
  publishedAt: Date
  /** The number of this attempt: 1, 2, … */
  attempt: number
  /** Aborts when the attempt has had its time, or the process closes. */
  signal: AbortSignal
}

/**
 * Called for each event; a throw or a rejection is a failed attempt. Where a process dies, it may
 * be called twice for one event: compare `event.id`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the host knows what it published
export type EventHandler<Payload = any> = (payload: Payload, event: EventContext) => unknown

/** Options of `events.subscribe`. */
export interface SubscribeOptions {
  /** The durable name of the subscription. @default the event's name */
  subscription?: string | undefined
  /** `false`: called again when the event is replayed. @default true */
  idempotent?: boolean | undefined
  /** How long one attempt may take, in seconds; at most 86385. @default 300 */
  timeoutSeconds?: number | undefined
  /** Attempts in flight in this process, 1 to 10000. @default 10 */
  concurrency?: number | undefined
}

/** Options of `events.deadLetters`. */
export interface DeadLetterOptions {
  /** At most 1000. @default 100 */
  limit?: number | undefined
  /** The `id` of the last one of the page before. */
  after?: string | undefined
}

/** Options of `events.pause`. */
export interface PauseOptions {
  /** Why, for those who see it in `svc.health` and the audit: up to 500 characters. @default none */
  reason?: string | null | undefined
}

/** Options of `events.redrive`. */
export interface RedriveOptions {
  /** Only the dead letters with these ids. @default all of the subscription */
  ids?: string[] | undefined
}

/** An event that a subscription has not handled, after all its attempts. */
export interface SubscriptionDeadLetter {
  /** The id of the dead letter, a UUIDv7: for `after`, and for the `ids` of `events.redrive`. */
  id: string
  /** The name of the event. */
  event: string
  /** The id of the event. */
  eventId: string
  tenant: string | null
  /** `null` where the event is deleted. */
  payload: unknown
  publishedAt: Date | null
  /** The message of what the handler threw last; `lost` where its process died. */
  error: string
  /** How often the handler was called for it, also before it was redriven. */
  attempts: number
  diedAt: Date
}

/** `fastify.svc.events`: durable events. */
export interface Events {
  /**
   * Writes the event and a job for each subscription in one transaction: the caller's with `db`, else
   * one of its own, which is committed when the promise resolves.
   *
   * @throws InvalidEventName, ReservedEventName, InvalidEventId, InvalidPayload, PayloadMismatch,
   *   InvalidOption, NoTransaction, InvalidTransaction, Unavailable
   * @example
   * await app.svc.transaction(async (db) => {
   *   await db.query('insert into orders (id) values ($1)', [7])
   *   await app.svc.events.publish('order.created', { id: 7 }, { db, id: 'order-7' })
   * })
   */
  publish: <Name extends PublishedName>(
    name: Name,
    payload: PublishedPayload<Name>,
    options?: PublishOptions,
  ) => Promise<PublishResult>
  /**
   * A durable subscription. Over all processes each event reaches it once, within milliseconds of
   * its commit, and again after a throw until it succeeds or its attempts are used up.
   *
   * @example
   * await app.svc.events.subscribe('order.created', async (order, { id, signal }) => {
   *   await ship(order, { idempotencyKey: id, signal })
   * })
   * @throws InvalidEventName, InvalidSubscription, InvalidOption, SubscriptionTaken (at once, not by
   *   the promise), Unavailable
   */
  subscribe: <Name extends SubscribedName>(
    name: Name,
    handler: EventHandler<SubscribedPayload<Name>>,
    options?: SubscribeOptions,
  ) => Promise<void>
  /**
   * Ends a subscription in all processes, and deletes its waiting jobs.
   *
   * @throws InvalidSubscription, Unavailable
   */
  unsubscribe: (subscription: string) => Promise<void>
  /**
   * The events that a subscription has not handled after all its attempts, newest first. They are
   * kept for 90 days.
   *
   * @throws InvalidSubscription, InvalidOption, Unavailable
   * @example
   * const [letter] = await app.svc.events.deadLetters('order.created', { limit: 1 })
   * app.log.warn({ eventId: letter?.eventId, error: letter?.error }, 'order not handled')
   */
  deadLetters: (
    subscription: string,
    options?: DeadLetterOptions,
  ) => Promise<SubscriptionDeadLetter[]>
  /**
   * Puts dead letters of a subscription back to work, with all their attempts; the numbers of the
   * attempts go on.
   *
   * @returns how many
   * @throws InvalidSubscription, InvalidOption, Unavailable
   */
  redrive: (subscription: string, options?: RedriveOptions) => Promise<{ redriven: number }>
  /**
   * Stops a subscription in all processes within a second, until `resume`, also over restarts: no call of its
   * handler begins. Publishing goes on, nothing is lost, and no attempt is used up.
   *
   * @throws InvalidSubscription, InvalidOption, Unavailable
   */
  pause: (subscription: string, options?: PauseOptions) => Promise<void>
  /** Lets a subscription go on. @throws InvalidSubscription, Unavailable */
  resume: (subscription: string) => Promise<void>
  /**
   * Events that were published and are kept, newest first, in pages: `next` is the `after` of the
   * next one. A search for a text may take long: it ends with what it has found, says `complete: false`,
   * and `next` continues it.
   *
   * @throws InvalidInput, Unavailable
   * @example
   * const { items } = await app.svc.events.search({ name: 'order.created', text: '4711' })
   */
  search: (query?: EventQuery) => Promise<FoundEvents>
  /**
   * One event with its payload; `null` where it is not kept. Its id is its tenant's own.
   *
   * @throws InvalidInput, Unavailable
   */
  find: (
    name: string,
    id: string,
    of?: { tenant?: string | null | undefined },
  ) => Promise<FoundEventWithPayload | null>
}
