/** The settings that a webhook may have besides its URL and its events. */
import { Type } from '@sinclair/typebox'
import { STORABLE_TEXT, nullable, wordedPattern, type Input } from '@svc/core/internal'
import { MAX_HEADERS, MAX_VALUE_BYTES } from './outbound/settings/custom-headers.ts'
import { MOST_FIELDS } from './outbound/settings/fields.ts'
import { MAX_ATTEMPTS, MAX_DELAY_SECONDS } from './outbound/settings/retry-schedule.ts'
import { closed, Time } from './schema-pieces.ts'

/**
 * A filter over `{ event, tenant, payload }`, in a part of MongoDB's query language: at most 8 levels
 * and 4 KiB.
 *
 * @example
 * const filter: WebhookFilter = { tenant: 'acme', payload: { total: { $gte: 100 } } }
 */
export type WebhookFilter = Record<string, unknown>

const Texts = (most: number, longest: number, description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: most,
    propertyNames: { minLength: 1, maxLength: 200 },
    additionalProperties: { type: 'string', maxLength: longest },
    description,
  })

const Retry = Type.Object(
  {
    maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ATTEMPTS })),
    delaysSeconds: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: MAX_DELAY_SECONDS }), {
        minItems: 1,
        maxItems: MAX_ATTEMPTS - 1,
      }),
    ),
  },
  {
    ...closed,
    description:
      'A schedule of its own: the delays between the attempts, each ±10 %, and how often a delivery is tried, by default once more than there are delays.',
  },
)

const RateLimit = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    perSeconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
  },
  { ...closed, description: 'At most `limit` attempts in any span of `perSeconds`.' },
)

const FIELD = wordedPattern(
  '^[^.\\u0000]+(?:\\.[^.\\u0000]+)*$',
  'names with dots between them, without NUL',
)

const Ordered = Type.Boolean({
  description: 'One delivery at a time, in the order of their commits.',
})

/** The settings: `null` is the default. */
const Settings = Type.Object({
  description: nullable(Type.String({ maxLength: 1000, pattern: STORABLE_TEXT })),
  metadata: nullable(Texts(50, 1000, 'Texts of your own, by names of your own.')),
  filter: nullable(
    Type.Unsafe<WebhookFilter>({
      type: 'object',
      additionalProperties: true,
      description: 'Which of the events it is sent: a filter over { event, tenant, payload }.',
    }),
  ),
  headers: nullable(
    Texts(MAX_HEADERS, MAX_VALUE_BYTES, 'Headers that each attempt has besides ours.'),
  ),
  timeoutMs: nullable(
    Type.Integer({
      minimum: 1,
      description: 'Longest duration of an attempt, at most the deliveryTimeoutMs of the host.',
    }),
  ),
  retry: nullable(Retry),
  rateLimit: nullable(RateLimit),
  maxInFlight: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Attempts at a time.',
    }),
  ),
  ordered: nullable(Ordered),
  transform: nullable(
    Type.String({
      maxLength: 64,
      description:
        'The name of a transform: slack, discord, teams, cloudevents, payload, or one of the host; "none" for our own body where the host has a default.',
    }),
  ),
  fields: nullable(
    Type.Array(Type.String({ maxLength: 200, pattern: FIELD }), {
      maxItems: MOST_FIELDS,
      description:
        'The parts of the payload that its deliveries carry: paths such as customer.name. [] for an empty payload.',
    }),
  ),
})

/** The fields of the bodies that register and change a webhook. */
const SettingsInput = Type.Partial(Settings)
/** The settings in a request body. */
export type SettingsInput = Input<typeof SettingsInput>
export const settingsInput = SettingsInput.properties

/** The settings as a webhook shows them, with what cannot be set. */
export const settingsShown = {
  ...Settings.properties,
  ordered: Ordered,
  filterCost: nullable(
    Type.Integer({
      description:
        'The steps that the filter took for the last event that it was dear for: more than 20000. null where it never was.',
    }),
  ),
  disabledAt: nullable(Time),
  disabledReason: nullable(Type.String()),
  failingSince: nullable(Time),
  lastSuccessAt: nullable(Time),
  lastFailureAt: nullable(Time),
  waiting: Type.Integer({
    description: 'Deliveries that are not done yet, counted up to 10000, in lists up to 1000.',
  }),
}
