/**
 * The input and output of the operations on webhooks, for routes, named actions and `svc.webhooks`.
 * Those on deliveries: `delivery-schemas.ts`.
 */
import { Type, type Static } from '@sinclair/typebox'
import {
  STORABLE_TEXT,
  nullable,
  Search,
  Tenant,
  TenantFilter,
  type Input,
} from '@svc/core/internal'
import { closed, oneOf, paged, text, Time, Uuid, WebhookId } from './schema-pieces.ts'
import { LONGEST_SECRET, SECRET_TEXT, SHORTEST_SECRET } from './outbound/settings/secret.ts'
import { settingsInput, settingsShown } from './settings-schemas.ts'

const Label = nullable(
  Type.String({
    maxLength: 200,
    pattern: STORABLE_TEXT,
    description: 'A name of your own for it, at most 200 characters; null for none.',
  }),
)
const Url = nullable(
  Type.String({
    description:
      'http or https, at most 2048 characters, no credentials; null: nothing is delivered, and its feed is read.',
  }),
)
/** One schema with two types, see `nullable`: the message names both. */
const Events = Type.Unsafe<string | string[]>({
  type: ['array', 'string'],
  items: { type: 'string', maxLength: 200 },
  minItems: 1,
  maxItems: 1000,
  maxLength: 200,
  description:
    'Names of allowed events and of ours (svc.…), and patterns: "order.*" for all allowed events whose names begin with "order.", "*" for all. At most 1000; a text is a list of one.',
})
const GivenSecret = Type.String({
  minLength: SHORTEST_SECRET,
  maxLength: LONGEST_SECRET,
  pattern: SECRET_TEXT,
  description:
    'A secret that the receiver has already, of 16 to 256 visible ASCII characters; after "whsec_" base64 of at least 16 bytes. By default a new one is made.',
})

export const NewWebhook = Type.Object(
  {
    url: Url,
    events: Events,
    secret: Type.Optional(GivenSecret),
    label: Type.Optional(Label),
    tenant: Type.Optional(Tenant),
    ...settingsInput,
  },
  closed,
)
/**
 * A webhook to register. `events` are 1 to 1000 allowed events or patterns: `'order.*'` for all whose names begin
 * with `order.`, `'*'` for all; a text is a list of one. What is left out has its default.
 *
 * @example
 * const webhook: NewWebhook = { url: 'https://acme.example/hook', events: '*', tenant: 'acme' }
 */
export type NewWebhook = Input<typeof NewWebhook>

const changes = {
  url: Type.Optional(Url),
  events: Type.Optional(Events),
  active: Type.Optional(Type.Boolean({ description: 'false pauses its deliveries.' })),
  label: Type.Optional(Label),
  ...settingsInput,
}
export const WebhookUpdate = Type.Object({ id: WebhookId, ...changes }, closed)
/** The changes of the webhook `id`. */
export type WebhookUpdate = Input<typeof WebhookUpdate>
/** The fields of a webhook that change; the others stay as they are. */
export type WebhookChanges = Omit<WebhookUpdate, 'id'>

export const Webhook = Type.Object({
  id: Uuid,
  tenant: nullable(Type.String({ description: "null for the operator's." })),
  url: nullable(Type.String()),
  events: Type.Array(Type.String()),
  label: nullable(Type.String()),
  active: Type.Boolean({ description: 'While it is false, deliveries wait.' }),
  ...settingsShown,
  publicKey: Type.Optional(
    Type.String({
      description:
        '`whpk_` and the base64 of its own ed25519 key; absent where the host has no option `ed25519`.',
    }),
  ),
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

/** How long the old secret of a webhook signs after a rotation, unless the caller sets it. */
export const DEFAULT_OVERLAP_SECONDS = 86_400

export const RotateSecretInput = Type.Object(
  {
    id: WebhookId,
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 31_536_000,
        default: DEFAULT_OVERLAP_SECONDS,
        description:
          'How long, in seconds, deliveries are signed with the old secret as well; 0 ends all old secrets.',
      }),
    ),
    secret: Type.Optional(GivenSecret),
  },
  closed,
)
/**
 * The webhook `id`, for how many seconds its old secret signs as well (86400 by default), and the new secret
 * (by default one is made).
 */
export type RotateSecretInput = Input<typeof RotateSecretInput>

export const TestInput = Type.Object(
  {
    id: WebhookId,
    event: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'The event whose example is sent; by default webhook.test.',
      }),
    ),
    payload: Type.Optional(
      Type.Unknown({
        description:
          'Sent in place of the example; at most 256 KiB, and as the schema of the event says.',
      }),
    ),
  },
  closed,
)
/**
 * The webhook `id`, and the event whose example it is sent: by default a `webhook.test`. `payload` is sent in
 * place of the example: it has at most 256 KiB, and is checked as that of a publish.
 */
export type TestInput = Input<typeof TestInput>

export const FilterTrial = Type.Object(
  {
    filter: settingsInput.filter,
    events: Events,
    tenant: Type.Optional(Tenant),
  },
  closed,
)
/**
 * A filter, and the events that a webhook with it would subscribe to; `tenant`: of that webhook.
 */
export type FilterTrial = Input<typeof FilterTrial>

/** A recent event, and whether a filter matches it. `publishedAt` is ISO 8601. */
export interface TriedEvent {
  name: string
  id: string
  tenant: string | null
  publishedAt: string
  bytes: number
  matches: boolean
}

export const State = oneOf(
  ['active', 'failing', 'paused', 'disabled'],
  '"failing": active, and its last attempt failed. "disabled": inactive for the reason in disabledReason; "paused": inactive without one.',
)
export const ofTenantAndState = {
  tenant: TenantFilter,
  state: Type.Optional(State),
  search: Search,
}
export const Page = Type.Object(
  {
    ...paged,
    ...ofTenantAndState,
    ids: Type.Optional(Type.Array(WebhookId, { minItems: 1, maxItems: 200 })),
  },
  closed,
)
/**
 * A part of a list, newest first: at most `limit` entries, those that follow the entry `after`, of
 * one `tenant` (empty: of none), in one `state`, with a label or URL that `search` finds, and with one of
 * these `ids`, where these are given.
 */
export type Page = Input<typeof Page>

export const CountedWebhooks = Type.Object(ofTenantAndState, closed)
/** Which webhooks are counted: those of a `tenant` (empty: of none), in a `state`, those that `search` finds. */
export type CountedWebhooks = Input<typeof CountedWebhooks>

export const CountedDeadLetters = Type.Object(
  { tenant: TenantFilter, webhookId: Type.Optional(Uuid) },
  closed,
)
/** Whose dead letters are counted: those of a `tenant` (empty: of none), those of a webhook. */
export type CountedDeadLetters = Input<typeof CountedDeadLetters>

/** A count; with `atLeast` it stopped at 10000, or it took too long. */
export interface Count {
  count: number
  atLeast?: true
}

/** How the deliveries of a webhook are signed. */
export interface DeliverySigning {
  /** What the names of the headers begin with: `X-Svc-`, where the host has set no other. */
  headerPrefix: string
  /** What makes the body, and may sign it in the way of the receiver; `null` for our own body. */
  transform: string | null
  /** Whether deliveries have the headers `…-Signature` and `…-Timestamp`. */
  ownSignatures: boolean
  /** Whether those have the headers of Standard Webhooks 1.0 as well. */
  standardWebhooks: boolean
  /** What verifies the ed25519 signatures, `whpk_…`; `null` where there are none. */
  publicKey: string | null
}

export const TenantPage = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    after: Type.Optional(text(64)),
    search: Search,
  },
  closed,
)
/** A part of a list of tenants: those that follow the tenant `after`. */
export type TenantPage = Input<typeof TenantPage>

/** A tenant that has webhooks. */
export interface TenantOfWebhooks {
  tenant: string
  webhooks: number
}

export const EventDescription = Type.Object({
  name: Type.String(),
  description: nullable(Type.String()),
  schema: Type.Unknown({ description: 'The JSON Schema of its payload; null where it has none.' }),
  example: Type.Unknown({ description: 'A payload; null where there is none.' }),
  deprecated: Type.Boolean(),
})
/** An event that webhooks may subscribe to, as the host describes it. */
export type EventDescription = Static<typeof EventDescription>
