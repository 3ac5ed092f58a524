/** The requests that we send, as `@fastify/swagger` documents them. */
import type { FastifySchema } from 'fastify'
import { bodyExample, bodySchema, type DescribedEvent } from '../outbound/described-event.ts'
import type { HeaderNames } from '../outbound/settings/header-names.ts'

interface DescribedRoute {
  schema: FastifySchema
  url: string
  /** Undefined where the host uses Swagger 2. */
  openapiObject?: { openapi?: string; webhooks?: object }
}

/**
 * Adds the requests to an OpenAPI document of 3.1 or later, the first version with webhooks: that of
 * any delivery, and those of the defined events with their payloads. `@fastify/swagger` calls the
 * function for the route that has it in its config; that route is not changed.
 */
export function describeDeliveries(events: readonly DescribedEvent[], names: HeaderNames) {
  const delivery = deliveryOf(names)
  const requests = Object.fromEntries([
    ['delivery', { post: delivery }],
    ...events
      .filter(({ payload }) => payload !== null)
      .map((event) => [event.name, { post: requestOf(event, delivery) }]),
  ]) as Record<string, object>
  return ({ schema, url, openapiObject }: DescribedRoute) => {
    const { hide } = schema as { hide?: boolean }
    if (!hide && openapiObject && openapiObject.openapi?.startsWith('3.0.') === false) {
      openapiObject.webhooks = { ...openapiObject.webhooks, ...requests }
    }
    return { schema, url }
  }
}

function requestOf(event: DescribedEvent, delivery: object): object {
  const { name, description, deprecated } = event
  return {
    ...delivery,
    summary: `A delivery of ${name}`,
    ...(description === null ? {} : { description }),
    ...(deprecated ? { deprecated } : {}),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: bodySchema(event, placeOf(event)),
          ...(event.hasExample ? { example: bodyExample(event) } : {}),
        },
      },
    },
  }
}

const placeOf = ({ name }: DescribedEvent): string =>
  `#/webhooks/${name.replaceAll('/', '~1')}/post/requestBody/content/application~1json/schema`

const header = (name: string, description: string, schema: object, required = true) => ({
  in: 'header',
  name,
  description,
  required,
  schema,
})

const text = { type: 'string' }
const uuid = { type: 'string', format: 'uuid' }

const deliveryOf = (names: HeaderNames) => ({
  tags: ['webhooks'],
  summary: 'A delivery of an event to a registered URL',
  description:
    'Any 2xx answer within the time limit is a delivery; anything else is tried again. Deduplicate by the delivery id.',
  parameters: [
    header(
      names.signature,
      '`sha256=` and the hex HMAC-SHA256 of `<timestamp>.<body>`, keyed with the secret.',
      { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
    ),
    header(
      names.signaturePrevious,
      'The same with the secret before, for a while after a rotation.',
      { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
      false,
    ),
    header(names.timestamp, 'Unix seconds of the signature.', { type: 'integer' }),
    header(names.deliveryId, 'The same over all attempts of the delivery.', uuid),
    header(names.event, 'Name of the event.', text),
    header(names.attempt, '1, 2, …', { type: 'integer', minimum: 1 }),
    header(names.tenant, "To the operator's webhooks: the event's tenant.", text, false),
    header(names.test, 'There where it is a test.', { type: 'string', enum: ['true'] }, false),
    header(
      'webhook-id',
      'With the option `standardWebhooks` or `ed25519`: the delivery id.',
      uuid,
      false,
    ),
    header('webhook-timestamp', 'With one of these options.', { type: 'integer' }, false),
    header(
      'webhook-signature',
      'With one of these options, and while more than two secrets are valid: a signature with each.',
      text,
      false,
    ),
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['event', 'payload', 'deliveryId'],
          properties: {
            event: text,
            payload: { description: 'What the application published.' },
            deliveryId: uuid,
          },
        },
      },
    },
  },
  responses: {
    '2XX': { description: 'Delivered. The first KiB of the body is kept in the delivery log.' },
    '410': { description: 'With the option `deactivateOnGone`: the webhook is made inactive.' },
    '429': { description: 'Tried again no earlier than `Retry-After` says.' },
    '503': { description: 'Tried again no earlier than `Retry-After` says.' },
    default: { description: 'Tried again later.' },
  },
})
