/** The input and output of the operations on deliveries, for routes, named actions and `svc.webhooks`. */
import { Type, type Static } from '@sinclair/typebox'
import { nullable, TenantFilter, type Input } from '@svc/core/internal'
import { closed, EventName, oneOf, paged, text, Time, Uuid, WebhookId } from './schema-pieces.ts'

/** The state of a delivery after an attempt; see {@link DeliveryAttempt}. */
export type DeliveryStatus = 'delivered' | 'failed' | 'dead' | 'skipped'

const Status = oneOf<DeliveryStatus>(
  ['delivered', 'failed', 'dead', 'skipped'],
  '"failed" will be tried again; "dead" is a dead letter, "skipped" was not sent: the webhook or the event is deleted, or the transform gave null.',
)

export const deliveryFilter = {
  status: Type.Optional(Status),
  event: Type.Optional(EventName),
  eventId: Type.Optional(text(255)),
  deliveryId: Type.Optional(Uuid),
  statusCode: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  tenant: TenantFilter,
}
/** A field of the queries for attempts. A dead letter is the latest of its delivery. */
export const latestOnly = {
  latest: Type.Optional(
    Type.Boolean({
      description:
        'Only the latest attempt of each delivery: its state, and how many there were. A page for which many attempts were looked at may have fewer, or none; the next one goes on with older ones.',
    }),
  ),
}
/** Fields of the queries for lists over all webhooks. */
export const overAllWebhooks = { webhookId: Type.Optional(Uuid) }

const DeliveryFilter = Type.Object({ ...paged, ...deliveryFilter }, closed)
/**
 * Which attempts are listed. `since` (included) and `until` (not included) are ISO 8601, and refer
 * to the start of an attempt; of a dead letter, to when it became one.
 */
export type DeliveryFilter = Input<typeof DeliveryFilter>

export const ListedDeliveries = Type.Object(
  {
    ...DeliveryFilter.properties,
    ...latestOnly,
    webhookId: Type.Optional(WebhookId),
    payloads: Type.Optional(Type.Boolean()),
  },
  closed,
)
/**
 * Attempts of one webhook's deliveries, or of all: of one `tenant` where it is given. With `latest: true`
 * only the latest of each delivery, so that each delivery is in the list once; the filters are those of
 * that attempt. With `payloads: false` the payloads are not read, and `null` in the list.
 */
export type ListedDeliveries = Input<typeof ListedDeliveries>

export const DeliveryAttempt = Type.Object({
  id: Type.String({
    format: 'uuid',
    description: 'Of the attempt; of a dead letter its own.',
  }),
  webhookId: Uuid,
  event: Type.String(),
  eventId: nullable(Type.String({ description: 'null where no event made the delivery.' })),
  payload: Type.Unknown(),
  deliveryId: Type.String({
    format: 'uuid',
    description: 'The same over all attempts of a delivery.',
  }),
  attempt: Type.Integer({ description: '1, 2, … over all attempts of a delivery.' }),
  status: Status,
  statusCode: nullable(Type.Integer({ description: 'null where no answer began.' })),
  error: nullable(
    Type.String({
      description:
        'Why it failed: dns, refused, reset, timeout, tls, blocked, redirect, too-large, http, proxy, transform or lost.',
    }),
  ),
  durationMs: nullable(Type.Integer()),
  responseBody: nullable(Type.String({ description: 'The first KiB of the answer, as text.' })),
  attemptedAt: Time,
  nextAttemptAt: nullable(Time),
  url: Type.Optional(Type.String({ description: "Where it is not the webhook's own address." })),
  phases: Type.Optional(
    Type.Array(nullable(Type.Integer()), {
      description:
        'Milliseconds, of an attempt that made a connection or failed: name, connection, TLS, to the first byte of the answer, its rest; null for what it did not have. Not through a proxy.',
    }),
  ),
  address: Type.Optional(Type.String({ description: 'Where it connected to, likewise.' })),
  responseHeaders: Type.Optional(
    Type.String({
      description:
        'Of a failed attempt: the headers of the answer, a line for each, the first KiB of them; without cookies and others that let in whoever has them.',
    }),
  ),
  isTest: Type.Optional(Type.Boolean({ description: 'There, and true, of a test.' })),
  eventTenant: Type.Optional(
    Type.String({ description: 'The tenant that the event was published for, if any.' }),
  ),
})
/**
 * One attempt of one delivery. `error` is `null`, or why it failed: `dns`, `refused`, `reset`,
 * `timeout`, `tls`, `blocked` (an address that deliveries may not go to), `redirect`, `too-large`
 * (headers), `http` (any other answer), `proxy` (that of the host failed), `transform` (the function
 * threw) or `lost` (its process died). Times are ISO 8601.
 */
export type DeliveryAttempt = Static<typeof DeliveryAttempt>

/** A page of attempts. */
export interface FoundDeliveries {
  items: DeliveryAttempt[]
  /** The `after` of what is older; `null` at the end. */
  next: string | null
  /** `false` where the search took long and ended before the page was full: `next` continues it. */
  complete: boolean
}

export const OneDelivery = Type.Object(
  {
    webhookId: WebhookId,
    deliveryId: Type.String(),
    attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  },
  closed,
)
/** A delivery, and which `attempt` the request of is wanted: by default the last one that was sent. */
export type OneDelivery = Input<typeof OneDelivery>

const { payload: _payload, ...attemptOfDelivery } = DeliveryAttempt.properties

export const SentRequest = Type.Object({
  attempt: Type.Integer(),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'The values of headers that the webhook adds are "***".',
  }),
  body: nullable(Type.String({ description: 'The text that is signed.' })),
  lacks: nullable(
    oneOf(
      ['payload', 'transform', 'secret'],
      'Why there is no body and no signature: the payload is no longer kept, a transform of the host has made them, or this host cannot read the secrets of the webhook.',
    ),
  ),
  changedAt: nullable(
    Type.String({
      format: 'date-time',
      description:
        'When the settings of the webhook were changed, where that was after the attempt: its request may have been another.',
    }),
  ),
})
/**
 * The request of an attempt. Nothing of it is kept: it is made again by the settings and secrets that the
 * webhook has now, with the attempt's own id, number and time.
 */
export type SentRequest = Static<typeof SentRequest>

export const DeliveryDetail = Type.Object({
  webhookId: Uuid,
  deliveryId: Uuid,
  event: Type.String(),
  eventId: nullable(Type.String()),
  status: Status,
  nextAttemptAt: nullable(Time),
  attempts: Type.Array(Type.Object(attemptOfDelivery), {
    description: 'Newest first, at most 100 of them.',
  }),
  request: nullable(SentRequest),
})
/**
 * A delivery with its attempts, newest first, in the state after the last one. `request` is `null` where
 * none was sent.
 */
export type DeliveryDetail = Static<typeof DeliveryDetail>

export const DeliverInput = Type.Object(
  {
    webhookId: WebhookId,
    event: EventName,
    payload: Type.Unknown(),
    deliveryId: Uuid,
    attempt: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  },
  closed,
)
/** One attempt to make now: `deliveryId` is a UUID, `attempt` its number from 1. */
export type DeliverInput = Input<typeof DeliverInput>

export const RedeliverInput = Type.Object(
  {
    webhookId: WebhookId,
    deliveryId: Type.String(),
    url: Type.Optional(
      Type.String({
        description: 'Another address than that of the webhook; for operators with admin alone.',
      }),
    ),
  },
  closed,
)
/** A delivery of the log, or a dead letter, to send once more: to the webhook, or to another `url`. */
export type RedeliverInput = Input<typeof RedeliverInput>

export const QueuedDelivery = Type.Object({ deliveryId: Uuid })
/** A delivery that was queued. */
export type QueuedDelivery = Static<typeof QueuedDelivery>

export const RedriveInput = Type.Object(
  {
    id: WebhookId,
    ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 500 })),
  },
  closed,
)
/** The webhook `id`, and which of its dead letters: by default all of them. */
export type RedriveInput = Input<typeof RedriveInput>

export const RedriveResult = Type.Object({ redriven: Type.Integer() })
/** How many dead letters were queued again. */
export type RedriveResult = Static<typeof RedriveResult>
