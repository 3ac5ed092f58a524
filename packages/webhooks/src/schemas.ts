/** What goes in and out of routes and actions. */
import { Type, type Static, type TSchema } from '@sinclair/typebox'

const strict = { additionalProperties: false }

/** As one schema with two types: a union's complaints name only its last branch. */
export const orNull = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] })

/** Postgres stores no NUL in a text. */
const Label = orNull(
  Type.String({
    maxLength: 200,
    pattern: '^[^\\u0000]*$',
    description: 'A name of your own for it, at most 200 characters; null for none.',
  }),
)
const Url = Type.String({ description: 'http or https, at most 2048 characters, no credentials.' })
const EventName = Type.String({ pattern: '^[A-Za-z0-9_.\\-/]{1,200}$' })
const Events = Type.Array(Type.String({ maxLength: 200 }), {
  minItems: 1,
  maxItems: 1000,
  description: 'Names of allowed events, at most 1000, or "*" for all of them.',
})
const Time = Type.String({ format: 'date-time' })

export const NewWebhook = Type.Object(
  { url: Url, events: Events, label: Type.Optional(Label) },
  strict,
)
export type NewWebhook = Static<typeof NewWebhook>

const changes = {
  url: Type.Optional(Url),
  events: Type.Optional(Events),
  active: Type.Optional(Type.Boolean({ description: 'false pauses its deliveries.' })),
  label: Type.Optional(Label),
}
export const WebhookChanges = Type.Object(changes, strict)
export type WebhookChanges = Static<typeof WebhookChanges>

export const WebhookUpdate = Type.Object({ id: Type.String(), ...changes }, strict)
export type WebhookUpdate = Static<typeof WebhookUpdate>

export const Webhook = Type.Object({
  id: Type.String({ format: 'uuid' }),
  url: Type.String(),
  events: Type.Array(Type.String()),
  label: orNull(Type.String()),
  active: Type.Boolean(),
  createdAt: Time,
  updatedAt: Time,
})
/** A registration as lists and updates show it: without its secret. */
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = Type.Object({
  ...Webhook.properties,
  secret: Type.String({ description: 'Signs its deliveries: the HMAC key is the whole string.' }),
})
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

const rotation = {
  overlapSeconds: Type.Integer({
    minimum: 0,
    maximum: 31_536_000,
    default: 86_400,
    description: 'How long the old secret signs along.',
  }),
}
export const Rotation = Type.Object(rotation, strict)
/** Of a request that needs no body: an empty object, and nothing unknown in it. */
export const Nothing = Type.Object({}, strict)
export const RotateSecret = Type.Object({ id: Type.String(), ...rotation }, strict)
export type RotateSecret = { id: string; overlapSeconds?: number }

export type DeliveryStatus = 'delivered' | 'failed' | 'dead' | 'skipped'

const Status = Type.Unsafe<DeliveryStatus>({
  type: 'string',
  enum: ['delivered', 'failed', 'dead', 'skipped'],
  description: '"failed" will be retried, "dead" is in the dead-letter queue.',
})

export const deliveryFilter = {
  status: Type.Optional(Status),
  event: Type.Optional(EventName),
  deliveryId: Type.Optional(Type.String({ format: 'uuid' })),
}

export const ListDeliveries = Type.Union([
  Type.String(),
  Type.Object(
    {
      webhookId: Type.String(),
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      after: Type.Optional(Type.String({ format: 'uuid' })),
      ...deliveryFilter,
    },
    strict,
  ),
])

export const DeliveryRecord = Type.Object({
  id: Type.String({ format: 'uuid' }),
  webhookId: Type.String({ format: 'uuid' }),
  event: Type.String(),
  eventId: orNull(Type.String()),
  payload: Type.Unknown(),
  deliveryId: Type.String({ format: 'uuid' }),
  attempt: Type.Integer(),
  status: Status,
  statusCode: orNull(Type.Integer()),
  error: orNull(Type.String()),
  durationMs: orNull(Type.Integer()),
  responseBody: orNull(Type.String()),
  attemptedAt: Time,
  nextAttemptAt: orNull(Time),
})
/** One attempt of one delivery. */
export interface DeliveryRecord {
  id: string
  webhookId: string
  event: string
  /** `null` where no event made the delivery. */
  eventId: string | null
  payload: unknown
  /** The same over all attempts of a delivery. */
  deliveryId: string
  attempt: number
  status: DeliveryStatus
  /** `null` where no answer began. */
  statusCode: number | null
  /** Why it failed: `dns`, `refused`, `reset`, `timeout`, `tls`, `blocked`, `redirect`, `too-large`, `http` or `lost`. */
  error: string | null
  durationMs: number | null
  /** The first KiB of the answer, as text. */
  responseBody: string | null
  attemptedAt: string
  nextAttemptAt: string | null
}

export const OneAttempt = Type.Object(
  {
    webhookId: Type.String(),
    event: EventName,
    payload: Type.Unknown(),
    deliveryId: Type.String({ format: 'uuid' }),
    attempt: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  },
  strict,
)
export type OneAttempt = Static<typeof OneAttempt>

export const Redelivery = Type.Object(
  { webhookId: Type.String(), deliveryId: Type.String() },
  strict,
)
export type Redelivery = Static<typeof Redelivery>

export const Queued = Type.Object({ deliveryId: Type.String({ format: 'uuid' }) })
export type Queued = Static<typeof Queued>

export const Redriven = Type.Object({ redriven: Type.Integer() })
export type Redriven = Static<typeof Redriven>
