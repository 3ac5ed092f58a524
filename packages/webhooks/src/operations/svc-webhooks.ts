/** `svc.webhooks`: the operations for code of this process. */
import type { NamedActions, OnBehalfOf, OperationOptions } from '@svc/core'
import { callerFor, methodsOf, type Core } from '@svc/core/internal'
import type {
  ConfiguredSource,
  InboundFilter,
  InboundTest,
  InboundTestResult,
  LoggedRequest,
  ReplayResult,
} from '../inbound-schemas.ts'
import type {
  ListedRecoveries,
  RecoverInput,
  RecoverManyInput,
  RecoverManyResult,
  RecoverResult,
  WebhookRecovery,
} from '../outbound/recoveries/recover.ts'
import type { EventInFeed, EventOfId, FeedAnswer, FeedQuery, WebhookFeedQuery } from './feed.ts'
import type {
  HandlerDeadLetter,
  HandlerPause,
  HandlerRedrive,
  ListedHandlerDeadLetters,
  PauseAllInput,
  PausedAnswer,
  ResumeAllInput,
} from './handlers.ts'
import type { Stats, StatsQuery } from './stats.ts'
import type {
  Count,
  CountedDeadLetters,
  CountedWebhooks,
  DeliverySigning,
  EventDescription,
  FilterTrial,
  NewWebhook,
  Page,
  RotateSecretInput,
  TenantOfWebhooks,
  TenantPage,
  TestInput,
  TriedEvent,
  Webhook,
  WebhookUpdate,
  WebhookWithSecret,
} from '../schemas.ts'
import type {
  DeliverInput,
  DeliveryAttempt,
  DeliveryDetail,
  FoundDeliveries,
  ListedDeliveries,
  OneDelivery,
  QueuedDelivery,
  RedeliverInput,
  RedriveInput,
  RedriveResult,
} from '../delivery-schemas.ts'
import { THE_PROCESS } from '../caller.ts'
import type { Operations } from './operations.ts'

/**
 * The operations on webhooks and deliveries. They reject with the errors of their routes: each with
 * Unavailable, and those that write with InvalidOption and NoTransaction, beside its own. With `db`,
 * a client inside a transaction of the caller, an operation writes in that transaction: nothing of it
 * is visible or sent before the commit. After a commit of `svc.transaction` the workers are woken at
 * once; the commit of another transaction they find by polling, within seconds.
 *
 * @example
 * await app.svc.transaction(async (db) => {
 *   const { rows } = await db.query('insert into customers (name) values ($1) returning id', [name])
 *   await app.svc.webhooks.register({ url, events: ['order.created'], label: rows[0].id }, { db })
 * })
 */
export interface SvcWebhooks {
  /**
   * Registers a webhook and returns it with its secret.
   *
   * @throws InvalidInput, UrlRefused, EventNotAllowed, InvalidFilter, InvalidHeader, InvalidMetadata,
   *   TimeoutTooLong, UnknownTransform, TransformNotAllowed, KeyEventsNotAllowed, SecretRefused,
   *   WebhooksLimitReached, ForeignTenant
   * @example
   * const { id, secret } = await app.svc.webhooks.register({ url, events: ['order.created'] })
   */
  register: (input: NewWebhook, options?: OperationOptions) => Promise<WebhookWithSecret>
  /** Lists webhooks, newest first; all of them where no `limit` is given. @throws InvalidInput */
  list: (page?: Page) => Promise<Webhook[]>
  /** Counts webhooks, up to 10000. @throws InvalidInput */
  count: (of?: CountedWebhooks) => Promise<Count>
  /** The webhook with its secret. @throws InvalidInput, WebhookNotFound */
  get: (id: string) => Promise<WebhookWithSecret>
  /**
   * How the deliveries of a webhook are signed: what its receiver has to know, beside the secret.
   *
   * @throws InvalidInput, WebhookNotFound
   */
  signing: (id: string) => Promise<DeliverySigning>
  /**
   * Changes the given fields. While `active` is `false` deliveries wait.
   *
   * @throws InvalidInput, WebhookNotFound, UrlRefused, EventNotAllowed, InvalidFilter, InvalidHeader,
   *   InvalidMetadata, TimeoutTooLong, UnknownTransform, TransformNotAllowed, KeyEventsNotAllowed
   */
  update: (input: WebhookUpdate, options?: OperationOptions) => Promise<Webhook>
  /**
   * Deletes a webhook, its waiting deliveries and its dead letters. The log shows them as `skipped`.
   *
   * @throws WebhookNotFound
   */
  delete: (id: string, options?: OperationOptions) => Promise<void>
  /**
   * Replaces the secret by `secret`, or by a new one. Deliveries are signed with the old one as well for
   * `overlapSeconds` (86400 by default, at most 31536000).
   *
   * @throws InvalidInput, WebhookNotFound, SecretRefused, TooManySecrets
   */
  rotateSecret: (input: RotateSecretInput, options?: OperationOptions) => Promise<WebhookWithSecret>
  /**
   * Queues a `webhook.test` event for only this webhook, or another event with its example, or with a `payload`
   * of your own, which is checked as that of a publish.
   *
   * @throws InvalidInput, WebhookNotFound, EventNotAllowed, NoExample
   */
  test: (webhook: string | TestInput, options?: OperationOptions) => Promise<QueuedDelivery>
  /**
   * Reads the feed: events in the order of their commits, after a cursor. With `wait` it waits for the first one.
   *
   * @throws InvalidInput, InvalidCursor, EventNotAllowed, CursorExpired
   * @example
   * let { cursor } = await app.svc.webhooks.feed()
   * const page = await app.svc.webhooks.feed({ after: cursor, wait: 20 })
   */
  feed: (query?: FeedQuery) => Promise<FeedAnswer>
  /**
   * The same of one webhook: what it is sent, whether it is active or not.
   *
   * @throws InvalidInput, WebhookNotFound, InvalidCursor, CursorExpired
   */
  webhookFeed: (query: WebhookFeedQuery) => Promise<FeedAnswer>
  /** An event as the feed has it. @throws InvalidInput, EventNotFound, SeveralEvents */
  event: (eventId: string | EventOfId) => Promise<EventInFeed>
  /** Lists the allowed events, as the host describes them. */
  listEvents: () => Promise<EventDescription[]>
  /**
   * Makes one attempt now and writes it to the log; a failure is not tried again. With `db` the
   * transaction stays open for as long as the receiver takes, at most `deliveryTimeoutMs`.
   *
   * @throws InvalidInput, WebhookNotFound, WebhookInactive
   */
  deliver: (input: DeliverInput, options?: OperationOptions) => Promise<DeliveryAttempt>
  /**
   * Lists the attempts of a webhook's deliveries, newest first, or over all webhooks where none is
   * named; all of them where no `limit` is given.
   *
   * @throws InvalidInput, WebhookNotFound; ListTooLong after 5 seconds: `searchDeliveries` shows what it found
   */
  listDeliveries: (webhook?: string | ListedDeliveries) => Promise<DeliveryAttempt[]>
  /**
   * A page of the same list, of 50 by default. Its search ends after 1.5 seconds with what it has found.
   *
   * @throws InvalidInput, WebhookNotFound
   */
  searchDeliveries: (query?: ListedDeliveries) => Promise<FoundDeliveries>
  /**
   * Queues a delivery of the log, or a dead letter, once more, under a new delivery id. With `url` it
   * goes to that address, whatever holds the deliveries of the webhook.
   *
   * @throws InvalidInput, WebhookNotFound, DeliveryNotFound, UrlRefused; AddressNotAllowed where
   *   `url` is given on behalf of a tenant
   */
  redeliver: (input: RedeliverInput, options?: OperationOptions) => Promise<QueuedDelivery>
  /**
   * Lists the dead letters of a webhook, newest first, or over all webhooks where none is named: the
   * last attempt of each, under the id of the dead letter.
   *
   * @throws InvalidInput, WebhookNotFound
   */
  listDeadLetters: (webhook?: string | ListedDeliveries) => Promise<DeliveryAttempt[]>
  /** Counts dead letters, up to 10000. @throws InvalidInput */
  countDeadLetters: (of?: CountedDeadLetters) => Promise<Count>
  /**
   * Queues all dead letters of a webhook again, with all their attempts; with `ids` only those, by
   * the ids that a list of dead letters shows.
   *
   * @throws InvalidInput, WebhookNotFound
   */
  redrive: (webhook: string | RedriveInput, options?: OperationOptions) => Promise<RedriveResult>
  /**
   * Puts deliveries of a span on their way again, in portions in the background: dead letters, what
   * waits for its next attempt, or events that the webhook wants and never got a delivery of.
   *
   * @throws InvalidInput, WebhookNotFound, InvalidSpan
   * @example
   * const since = '2030-01-31T12:00:00Z'
   * const { deliveries } = await app.svc.webhooks.recover({ id, what: 'missing', since })
   */
  recover: (input: RecoverInput, options?: OperationOptions) => Promise<RecoverResult>
  /**
   * The same over many webhooks: each has a recovery of its own.
   *
   * @throws InvalidInput, WebhookNotFound, NoUrl, ForeignTenant, InvalidSpan
   * @example
   * const since = '2030-01-31T12:00:00Z'
   * await app.svc.webhooks.recoverMany({ tenant: 'acme', what: 'dead', since })
   */
  recoverMany: (input: RecoverManyInput, options?: OperationOptions) => Promise<RecoverManyResult>
  /**
   * A delivery with its attempts, newest first, and the request of one of them: made again by the settings and
   * secrets that the webhook has now. Values of the webhook's own headers are `***`.
   *
   * @throws InvalidInput, WebhookNotFound, DeliveryNotFound
   * @example
   * const { request } = await app.svc.webhooks.getDelivery({ webhookId, deliveryId })
   */
  getDelivery: (delivery: OneDelivery) => Promise<DeliveryDetail>
  /**
   * Lists the recoveries of a webhook, newest first, and how far each is.
   *
   * @throws InvalidInput, WebhookNotFound
   */
  listRecoveries: (webhook: string | ListedRecoveries) => Promise<WebhookRecovery[]>
  /** A recovery, and how far it is. @throws InvalidInput, WebhookNotFound, RecoveryNotFound */
  getRecovery: (recovery: { webhookId: string; id: string }) => Promise<WebhookRecovery>
  /**
   * Lists the dead letters of the host's own handlers, over all subscriptions or of one, newest first; all of them
   * where no `limit` is given.
   *
   * @throws InvalidInput, OperatorOnly
   */
  listHandlerDeadLetters: (filter?: ListedHandlerDeadLetters) => Promise<HandlerDeadLetter[]>
  /**
   * Has dead letters of a handler handled again, with all their attempts, as `svc.events.redrive` does.
   *
   * @throws InvalidInput, OperatorOnly, SubscriptionNotFound
   */
  redriveHandler: (redrive: HandlerRedrive) => Promise<RedriveResult>
  /**
   * Stops all deliveries, or those to the webhooks of a tenant, until `resumeAll`: no attempt of whatever kind
   * begins in any process within a second, also over restarts. Events make deliveries meanwhile, nothing is lost,
   * and no attempt is used up.
   *
   * @throws InvalidInput, OperatorOnly
   * @example
   * await app.svc.webhooks.pauseAll({ reason: 'we send wrong amounts' })
   */
  pauseAll: (input?: PauseAllInput, options?: OperationOptions) => Promise<PausedAnswer>
  /** Lets deliveries go on. Without a tenant, those of paused tenants stay paused. @throws InvalidInput, OperatorOnly */
  resumeAll: (input?: ResumeAllInput, options?: OperationOptions) => Promise<PausedAnswer>
  /** As `svc.events.pause`. @throws InvalidInput, OperatorOnly, SubscriptionNotFound */
  pauseHandler: (input: HandlerPause, options?: OperationOptions) => Promise<PausedAnswer>
  /** As `svc.events.resume`. @throws InvalidInput, OperatorOnly, SubscriptionNotFound */
  resumeHandler: (
    input: { subscription: string },
    options?: OperationOptions,
  ) => Promise<PausedAnswer>
  /** Deletes a dead letter of a handler. @throws InvalidInput, OperatorOnly, DeadLetterNotFound */
  deleteHandlerDeadLetter: (id: string, options?: OperationOptions) => Promise<void>
  /**
   * Counts attempts and deliveries, with their latencies: the last day by the hour, of all
   * webhooks, unless the query has other values. At most 1000 points.
   *
   * @throws InvalidInput, InvalidSpan, TooManyPoints
   */
  stats: (query?: StatsQuery) => Promise<Stats>
  /**
   * Lists inbound requests, newest first; all of them where no `limit` is given.
   *
   * @throws InvalidInput
   */
  listInbound: (filter?: InboundFilter) => Promise<LoggedRequest[]>
  /**
   * Publishes what a logged inbound request was published as once more, in a transaction of its own.
   *
   * @throws InboundRequestNotFound, NotReplayable
   */
  replayInbound: (id: string) => Promise<ReplayResult>
  /** The sources of this host, and whether a sample can be sent to each. @throws OperatorOnly */
  listSources: () => Promise<ConfiguredSource[]>
  /**
   * Sends a sample to a source as its sender would, signed with the secret of this host, with the header
   * `x-svc-test`. What it publishes is an event as any other, whose id begins with `test-`. For development: see the
   * option `inboundTests`.
   *
   * @throws InvalidInput, OperatorOnly, SourceNotFound; NotTestable where the option forbids it, or the host
   *   has no secret that such a request is signed with
   */
  testInbound: (test: string | InboundTest) => Promise<InboundTestResult>
  /**
   * Which of the newest events, at most 50, a filter matches. Nothing is delivered.
   *
   * @throws InvalidInput, InvalidFilter, EventNotAllowed
   */
  tryFilter: (trial: FilterTrial) => Promise<TriedEvent[]>
  /**
   * The tenants that have webhooks, by name: all of them without a `limit`. Webhooks are counted up to
   * 1000.
   *
   * @throws InvalidInput
   */
  listTenants: (page?: TenantPage) => Promise<TenantOfWebhooks[]>
  /**
   * These operations on behalf of a caller: with a tenant, webhooks of other tenants do not
   * exist for it, and the audit names the actor. For a page of the host's own.
   *
   * @throws InvalidInput where the tenant is neither a tenant nor `null`
   * @example
   * const webhooks = await app.svc.webhooks.as({ tenant: 'acme' }).list()
   */
  as: (who: ActingFor) => Omit<SvcWebhooks, 'as'>
}

/**
 * For whom `svc.webhooks.as` acts.
 *
 * @example
 * const customer: ActingFor = { tenant: 'acme', keyEvents: false }
 */
export interface ActingFor extends OnBehalfOf {
  /**
   * Whether they may see the events about API keys, `svc.key.…`, and have them sent to a webhook.
   * @default true
   */
  keyEvents?: boolean | undefined
}

declare module '@svc/core' {
  interface Svc {
    /** Webhooks, deliveries and inbound requests. */
    webhooks: SvcWebhooks
  }
  interface SvcActions extends NamedActions<'__svc.webhooks', SvcWebhooks> {}
}

export const createSvcWebhooks = (core: Core, operations: Operations): SvcWebhooks => ({
  ...methodsOf(core, 'svc.webhooks', operations, THE_PROCESS),
  // The host, whose code it is, has judged what they may do within their reach.
  as: ({ keyEvents: seesKeyEvents = true, ...who }) =>
    methodsOf(core, 'svc.webhooks', operations, {
      ...callerFor(who),
      isAdmin: true,
      seesKeyEvents,
    }),
})
