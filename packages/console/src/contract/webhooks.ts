/** Webhooks, deliveries, events, statistics and inbound requests. */
import type { OfTenant, Paging, Span } from './lists.ts'

export type Filter = Record<string, unknown>

export interface RateLimit {
  limit: number
  perSeconds: number
}

/** What a webhook may have besides its URL and its events; `null` resets. */
export interface WebhookSettings {
  label?: string | null
  description?: string | null
  metadata?: Record<string, string> | null
  filter?: Filter | null
  headers?: Record<string, string> | null
  timeoutMs?: number | null
  retry?: { maxAttempts?: number; delaysSeconds?: number[] } | null
  rateLimit?: RateLimit | null
  maxInFlight?: number | null
  ordered?: boolean | null
  transform?: string | null
}

/** `failing`: active, and its last attempt failed. `disabled`: inactive for a reason of its own. */
export type WebhookState = 'active' | 'failing' | 'paused' | 'disabled'

/** Values of `headers` are `"***"`. */
export interface Webhook {
  id: string
  tenant: string | null
  url: string
  events: string[]
  label: string | null
  active: boolean
  description: string | null
  metadata: Record<string, string> | null
  filter: Filter | null
  filterCost: number | null
  headers: Record<string, string> | null
  timeoutMs: number | null
  retry: { maxAttempts?: number; delaysSeconds?: number[] } | null
  rateLimit: RateLimit | null
  maxInFlight: number | null
  ordered: boolean
  transform: string | null
  disabledAt: string | null
  disabledReason: string | null
  failingSince: string | null
  lastSuccessAt: string | null
  lastFailureAt: string | null
  /** Verifies its ed25519 signatures; there where the host makes them. */
  publicKey?: string
  createdAt: string
  updatedAt: string
}

/** What signs its deliveries, and the values of its headers. */
export interface WebhookSecrets {
  secret: string
  headers: Record<string, string> | null
}

export type DeliveryStatus = 'delivered' | 'failed' | 'dead' | 'skipped'

/** One attempt of a delivery, without its payload. `failed` will be tried again, save where it is a test. */
export interface Attempt {
  id: string
  webhookId: string
  event: string
  eventId: string | null
  deliveryId: string
  attempt: number
  status: DeliveryStatus
  statusCode: number | null
  /** `dns`, `refused`, `reset`, `timeout`, `tls`, `blocked`, `redirect`, `too-large`, `http`, … */
  error: string | null
  durationMs: number | null
  responseBody: string | null
  /** There where `responseBody` is `null` because it may repeat what is masked in the payload. */
  responseBodyHidden?: true
  attemptedAt: string
  nextAttemptAt: string | null
  /** The tenant that the event was published for, where it was for one. */
  eventTenant?: string
}

export interface DeliveryQuery extends Paging, OfTenant, Span {
  webhookId?: string
  status?: DeliveryStatus
  event?: string
  eventId?: string
  deliveryId?: string
  statusCode?: number
}

/** A delivery in full. `payload` is masked where the host has the option `redact`. */
export interface Delivery {
  webhookId: string
  deliveryId: string
  event: string
  eventId: string | null
  payload: unknown
  /** Newest first. */
  attempts: Attempt[]
}

export interface EventDescription {
  name: string
  description: string | null
  /** A JSON Schema, or `null`. */
  schema: unknown
  example: unknown
  deprecated: boolean
}

/** An event that was published, without its payload. */
export interface PublishedEvent {
  name: string
  id: string
  tenant: string | null
  publishedAt: string
  /** The size of the payload as JSON text. */
  bytes: number
}

export interface EventQuery extends Paging, OfTenant, Span {
  name?: string
  id?: string
  /** A piece of the payload's JSON text, 3 to 200 characters: see `searchesPayloads`. */
  text?: string
}

export interface EventInFull extends PublishedEvent {
  payload: unknown
  /** The newest attempts of its deliveries, at most 200. */
  attempts: Attempt[]
}

export interface TriedEvent extends PublishedEvent {
  matches: boolean
}

export type InboundOutcome = 'accepted' | 'duplicate' | 'refused' | 'failed'

export interface InboundRequest {
  id: string
  at: string
  source: string
  tenant: string | null
  outcome: InboundOutcome
  reason: string | null
  event: string | null
  eventId: string | null
  ip: string | null
  bytes: number
  durationMs: number
  /** There where the host keeps raw bodies. */
  headers?: Record<string, string | string[]>
  body?: string
}

export interface Percentiles {
  p50: number | null
  p95: number | null
  p99: number | null
}

export interface StatsPoint {
  at: string
  attempts: { delivered: number; failed: number; skipped: number }
  deliveries: { delivered: number; dead: number }
  durationMs: Percentiles
  firstAttemptMs: Percentiles
}

export interface Stats {
  from: string
  to: string
  by: string
  points: StatsPoint[]
}

export interface StatsQuery extends OfTenant {
  from?: string
  to?: string
  by?: 'minute' | 'hour' | 'day'
  webhookId?: string
  event?: string
}

export interface RecoverInput {
  id: string
  since: string
  until?: string
  what: 'dead' | 'failed' | 'missing'
  perSecond?: number
  /** Counts, and changes nothing. */
  dryRun?: boolean
}

/** Deliveries that are put on their way again, and how far that is. */
export interface Recovery {
  id: string
  webhookId: string
  what: RecoverInput['what']
  since: string
  until: string
  perSecond: number | null
  /** How many in all; `null` until they are counted. */
  deliveries: number | null
  done: number
  createdAt: string
  finishedAt: string | null
}
