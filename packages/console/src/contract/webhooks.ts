/** Webhooks, deliveries, events, statistics and inbound requests. */
import type { EventQuery as SearchedEvents, FoundEvent } from '@svc/core'
import type {
  DeliveryAttempt,
  ListedDeliveries,
  LoggedRequest,
  NewWebhook,
  Page,
  SentRequest,
  Stats,
  WebhookChanges,
  WebhookUpdate,
  WebhookWithSecret,
} from '@svc/webhooks'

export type {
  Count,
  DeliverySigning,
  DeliveryStatus,
  EventDescription,
  LoggedRequest as InboundRequest,
  Stats,
  StatsQuery,
  TriedEvent,
  Webhook,
  WebhookFilter as Filter,
  WebhookRecovery as Recovery,
} from '@svc/webhooks'

// Interfaces: in a declaration the compiler writes an unnamed type out, and loses an `undefined`.
export interface WebhookToCreate extends NewWebhook {}
export interface WebhookToUpdate extends WebhookUpdate {}
/** What a webhook may have besides its URL and its events; `null` resets. */
export type WebhookSettings = Omit<WebhookChanges, 'url' | 'events' | 'active'>
export type WebhookState = NonNullable<Page['state']>
/** What signs its deliveries, and the values of its headers. */
export type WebhookSecrets = Pick<WebhookWithSecret, 'secret' | 'headers'>
export type InboundOutcome = LoggedRequest['outcome']
export type StatsPoint = Stats['points'][number]
export type DeliveryQuery = Omit<ListedDeliveries, 'payloads'>
/** An event that was published, without its payload. */
export type PublishedEvent = Omit<FoundEvent, 'payload'>
/** `text`: see `searchesPayloads`. */
export type EventQuery = Omit<SearchedEvents, 'payloads' | 'except'>

/** One attempt of a delivery, without its payload. */
export type Attempt = Omit<DeliveryAttempt, 'payload'> & {
  /** There where `responseBody` is `null` because it may repeat what is masked in the payload. */
  responseBodyHidden?: true
}

/** A delivery in full. `payload` is masked where the host has the option `redact`. */
export interface Delivery {
  webhookId: string
  deliveryId: string
  event: string
  eventId: string | null
  payload: unknown
  /** After the newest attempt. */
  status: DeliveryAttempt['status']
  nextAttemptAt: string | null
  /** Newest first. */
  attempts: Attempt[]
  /** Of the attempt that was asked for, by default of the newest one; `null` where none was sent. */
  request: RequestOfAttempt | null
}

export type RequestOfAttempt = SentRequest & {
  /** There where `body` and the signatures are not shown because the payload is masked. */
  bodyHidden?: true
  /** There where `body` has only its first 65536 characters. */
  bodyCut?: true
}

export interface EventInFull extends PublishedEvent {
  payload: unknown
  /** The latest attempt of each of its deliveries, at most 200: the newest. */
  attempts: Attempt[]
}
