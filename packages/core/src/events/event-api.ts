import type { Db } from '../postgres/transaction.ts'

export interface PublishOptions {
  /**
   * Names the event together with its name, up to 255 characters: a second publish of both is a
   * replay. @default a UUIDv7
   */
  id?: string
  /** A client inside a transaction: the event is rolled back with it, delivered after its commit. */
  db?: Db
}

export interface PublishResult {
  id: string
  /** Whether an event of that name and id existed. */
  duplicate: boolean
}

export interface EventContext {
  /** The id of the event. */
  id: string
  name: string
  publishedAt: Date
  /** 1, 2, … */
  attempt: number
  /** Aborts when the attempt has had its time, or the process closes. */
  signal: AbortSignal
}

// oxlint-disable-next-line typescript/no-explicit-any -- the host knows what it published
export type EventHandler<Payload = any> = (payload: Payload, event: EventContext) => unknown

export interface SubscribeOptions {
  /** The durable name of the subscription. @default the event's name */
  subscription?: string
  /** `false`: called again when the event is replayed. @default true */
  idempotent?: boolean
  /** How long one attempt may take, in seconds; at most 86385. @default 300 */
  timeoutSeconds?: number
  /** Attempts in flight in this process. @default 10 */
  concurrency?: number
}

export interface Events {
  /**
   * Writes the event and the jobs of everybody who wants it in one transaction: the caller's with
   * `db`, else one of its own, which is committed when the promise resolves.
   *
   * @throws InvalidEventName, InvalidEventId, InvalidPayload, InvalidOption, NoTransaction
   */
  publish: (name: string, payload: unknown, options?: PublishOptions) => Promise<PublishResult>
  /**
   * A durable subscription: over all processes each event reaches it once, within milliseconds of
   * its commit, and again after a throw until it succeeds or its attempts are used up.
   *
   * @throws InvalidEventName, InvalidSubscription, InvalidOption, SubscriptionTaken (at once, not by
   *   the promise)
   */
  subscribe: (name: string, handler: EventHandler, options?: SubscribeOptions) => Promise<void>
  /** Retires a subscription: it is told of no event any more, in any process. */
  unsubscribe: (subscription: string) => Promise<void>
}
