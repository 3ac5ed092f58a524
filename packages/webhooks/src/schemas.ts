/** The input and output of the operations, for routes, named actions and `svc.webhooks`. */
import { Type, type Static } from '@sinclair/typebox'
import { STORABLE_TEXT, nullable, Tenant, TenantFilter } from '@svc/core/internal'
import { settingsInput, settingsShown } from './settings-schemas.ts'

const strict = { additionalProperties: false }

const Label = nullable(
  Type.String({
    maxLength: 200,
    pattern: STORABLE_TEXT,
    description: 'A name of your own for it, at most 200 characters; null for none.',
  }),
)
const Url = Type.String({ description: 'http or https, at most 2048 characters, no credentials.' })
const EventName = Type.String({ pattern: '^[A-Za-z0-9_.\\-/]{1,200}$' })
const Events = Type.Array(Type.String({ maxLength: 200 }), {
  minItems: 1,
  maxItems: 1000,
  description:
    'Names of allowed events and of ours (svc.…), at most 1000, or "*" for all allowed events.',
})
const Uuid = Type.String({ format: 'uuid' })
const Time = Type.String({ format: 'date-time' })

export const NewWebhook = Type.Object(
  {
    url: Url,
    events: Events,
    label: Type.Optional(Label),
    tenant: Type.Optional(Tenant),
    ...settingsInput,
  },
  strict,
)
/**
 * A webhook to register. `events` are 1 to 1000 allowed events, or `['*']` for all of them; what is left
 * out has its default.
 *
 * @example
 * const webhook: NewWebhook = { url: 'https://acme.example/hook', events: ['*'], tenant: 'acme' }
 */
export type NewWebhook = Static<typeof NewWebhook>

const changes = {
  url: Type.Optional(Url),
  events: Type.Optional(Events),
  active: Type.Optional(Type.Boolean({ description: 'false pauses its deliveries.' })),
  label: Type.Optional(Label),
  ...settingsInput,
}
export const WebhookChanges = Type.Object(changes, strict)
/** The fields of a webhook that change; the others stay as they are. */
export type WebhookChanges = Static<typeof WebhookChanges>

export const WebhookUpdate = Type.Object({ id: Type.String(), ...changes }, strict)
/** The changes of the webhook `id`. */
export type WebhookUpdate = Static<typeof WebhookUpdate>

export const Webhook = Type.Object({
  id: Uuid,
  tenant: nullable(Type.String({ description: "null for the operator's." })),
  url: Type.String(),
  events: Type.Array(Type.String()),
  label: nullable(Type.String()),
  active: Type.Boolean({ description: 'While it is false, deliveries wait.' }),
  ...settingsShown,
  createdAt: Time,
  updatedAt: Time,
})
/**
 * A webhook as lists and updates show it: without its secret, and with `"***"` for the values of its
 * headers. Times are ISO 8601.
 */
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = Type.Object({
  ...Webhook.properties,
  secret: Type.String({ description: 'Signs its deliveries: the HMAC key is the whole string.' }),
})
/** A webhook with the secret that signs its deliveries, and with the values of its headers. */
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

/** How long the old secret of a webhook signs after a rotation, where the caller says nothing. */
export const DEFAULT_OVERLAP_SECONDS = 86_400

const rotation = {
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 31_536_000,
      default: DEFAULT_OVERLAP_SECONDS,
      description: 'How long, in seconds, deliveries are signed with the old secret as well.',
    }),
  ),
}
export const RotateSecretBody = Type.Object(rotation, strict)
export const RotateSecretInput = Type.Object({ id: Type.String(), ...rotation }, strict)
/** The webhook `id`, and for how many seconds its old secret signs as well (86400 by default). */
export type RotateSecretInput = Static<typeof RotateSecretInput>

const testEvent = {
  event: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'The event whose example is sent; by default webhook.test.',
    }),
  ),
}
export const TestBody = Type.Object(testEvent, strict)
const TestObject = Type.Object({ id: Type.String(), ...testEvent }, strict)
export const TestWebhook = Type.Union([Type.String(), TestObject])
/** The webhook `id`, and the event whose example it is sent: by default a `webhook.test`. */
export type TestInput = Static<typeof TestObject>

export const FilterTrial = Type.Object(
  {
    filter: settingsInput.filter,
    events: Events,
    tenant: Type.Optional(Tenant),
  },
  strict,
)
/** A filter, and the events that a webhook with it would ask for; `tenant`: of that webhook. */
export type FilterTrial = Static<typeof FilterTrial>

/** An event that was published lately, and whether a filter lets it through. `publishedAt` is ISO 8601. */
export interface TriedEvent {
  name: string
  id: string
  tenant: string | null
  publishedAt: string
  bytes: number
  matches: boolean
}

export const TenantPage = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    after: Type.Optional(Type.String({ maxLength: 64, pattern: STORABLE_TEXT })),
  },
  strict,
)
/** A part of a list of tenants: those that follow the tenant `after`. */
export type TenantPage = Static<typeof TenantPage>

/** A tenant that has webhooks. */
export interface TenantOfWebhooks {
  tenant: string
  webhooks: number
}

export const EventDescription = Type.Object({
  name: Type.String(),
  description: nullable(Type.String()),
  payload: Type.Unknown({ description: 'The JSON Schema of its payload; null where it has none.' }),
  example: Type.Unknown({ description: 'A payload; null where there is none.' }),
  deprecated: Type.Boolean(),
})
/** An event that webhooks may ask for, and what the host says of it. */
export type EventDescription = Static<typeof EventDescription>

/** The state of a delivery after an attempt; see {@link DeliveryAttempt}. */
export type DeliveryStatus = 'delivered' | 'failed' | 'dead' | 'skipped'

const Status = Type.Unsafe<DeliveryStatus>({
  type: 'string',
  enum: ['delivered', 'failed', 'dead', 'skipped'],
  description:
    '"failed" will be tried again, "dead" is a dead letter, "skipped" was not sent: the webhook or the event is deleted, or the transform gave null.',
})

export const deliveryFilter = {
  status: Type.Optional(Status),
  event: Type.Optional(EventName),
  eventId: Type.Optional(Type.String({ maxLength: 255, pattern: '^[^\\u0000]*$' })),
  deliveryId: Type.Optional(Uuid),
  statusCode: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
}
/** Of lists over all webhooks. */
export const overAllWebhooks = { webhookId: Type.Optional(Uuid), tenant: TenantFilter }

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  after: Type.Optional(Uuid),
}
export const Page = Type.Object({ ...page, tenant: TenantFilter }, strict)
/**
 * A part of a list, newest first: at most `limit` entries, those that follow the entry `after`, of
 * one `tenant` (empty: of none) where it is given.
 */
export type Page = Static<typeof Page>

const DeliveryFilter = Type.Object({ ...page, ...deliveryFilter }, strict)
/**
 * Which attempts are listed. `since` (included) and `until` (not included) are ISO 8601, and say when
 * an attempt began; of a dead letter, when it became one.
 */
export type DeliveryFilter = Static<typeof DeliveryFilter>

const ofWebhook = { webhookId: Type.String() }
const ListedDeliveries = Type.Object(
  { ...DeliveryFilter.properties, ...overAllWebhooks, webhookId: Type.Optional(Type.String()) },
  strict,
)
/** Attempts of one webhook's deliveries, or of all: of one `tenant` where it is given. */
export type ListedDeliveries = Static<typeof ListedDeliveries>

export const ListDeliveries = Type.Union([Type.String(), ListedDeliveries])

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
})
/**
 * One attempt of one delivery. `error` is `null`, or why it failed: `dns`, `refused`, `reset`,
 * `timeout`, `tls`, `blocked` (an address that deliveries may not go to), `redirect`, `too-large`
 * (headers), `http` (any other answer), `proxy` (that of the host failed), `transform` (the function
 * threw) or `lost` (its process died). Times are ISO 8601.
 */
export type DeliveryAttempt = Static<typeof DeliveryAttempt>

export const DeliverInput = Type.Object(
  {
    ...ofWebhook,
    event: EventName,
    payload: Type.Unknown(),
    deliveryId: Uuid,
    attempt: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  },
  strict,
)
/** One attempt to make now: `deliveryId` is a UUID, `attempt` its number from 1. */
export type DeliverInput = Static<typeof DeliverInput>

const redelivery = {
  url: Type.Optional(
    Type.String({
      description: 'Another address than that of the webhook; for operators with admin alone.',
    }),
  ),
}
export const RedeliverBody = Type.Object(redelivery, strict)
export const RedeliverInput = Type.Object(
  { ...ofWebhook, deliveryId: Type.String(), ...redelivery },
  strict,
)
/** A delivery of the log, or a dead letter, to send once more: to the webhook, or to another `url`. */
export type RedeliverInput = Static<typeof RedeliverInput>

export const QueuedDelivery = Type.Object({ deliveryId: Uuid })
/** A delivery that was queued. */
export type QueuedDelivery = Static<typeof QueuedDelivery>

const RedriveSome = Type.Object(
  {
    id: Type.String(),
    ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 500 })),
  },
  strict,
)
export const RedriveInput = Type.Union([Type.String(), RedriveSome])
/** The webhook `id`, and which of its dead letters: by default all of them. */
export type RedriveInput = Static<typeof RedriveSome>

export const RedriveResult = Type.Object({ redriven: Type.Integer() })
/** How many dead letters were queued again. */
export type RedriveResult = Static<typeof RedriveResult>
