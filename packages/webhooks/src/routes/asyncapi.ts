/** The deliveries as an AsyncAPI 3 document: a channel, a message and an operation for each event. */
import { Type } from '@sinclair/typebox'
import { errorResponses } from '@svc/core/internal'
import { bodyExample, bodySchema, type DescribedEvent } from '../outbound/described-event.ts'
import type { HeaderNames } from '../outbound/settings/header-names.ts'
import { MANAGED, type Api } from './management.ts'

const text = { type: 'string' }

const headersOf = (names: HeaderNames): object => ({
  type: 'object',
  required: [names.signature, names.timestamp, names.deliveryId, names.event, names.attempt],
  properties: {
    [names.signature]: {
      ...text,
      description: '`sha256=` and the hex HMAC-SHA256 of `<timestamp>.<body>`.',
    },
    [names.timestamp]: { ...text, description: 'Unix seconds of the signature.' },
    [names.deliveryId]: { ...text, format: 'uuid' },
    [names.event]: text,
    [names.attempt]: text,
    [names.test]: { ...text, const: 'true', description: 'There where it is a test.' },
    [names.tenant]: { ...text, description: "To the operator's webhooks: the event's tenant." },
  },
})

const AnyObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

export function asyncApiRoute(
  api: Api,
  events: readonly DescribedEvent[],
  names: HeaderNames,
): void {
  const document = asyncApiDocument(events, headersOf(names))
  const schema = {
    tags: ['webhooks'],
    summary: 'The deliveries as an AsyncAPI 3 document',
    response: { 200: AnyObject, ...errorResponses },
  }
  api.get('/asyncapi.json', { config: MANAGED, schema }, () => document)
}

function asyncApiDocument(events: readonly DescribedEvent[], headers: object): object {
  const byName = (valueOf: (event: DescribedEvent) => object) =>
    Object.fromEntries(events.map((event) => [event.name, valueOf(event)]))
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Webhooks',
      version: '1.0.0',
      description: 'Each event is sent as a POST to the URLs that are registered for it.',
    },
    defaultContentType: 'application/json',
    // `address: null`: the URL is that of the receiver.
    channels: byName((event) => ({
      address: null,
      ...descriptionOf(event),
      messages: { [event.name]: messageOf(event, headers) },
    })),
    operations: byName((event) => ({
      action: 'send',
      channel: { $ref: refTo(event) },
      messages: [{ $ref: refToMessage(event) }],
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    })),
  }
}

function messageOf(event: DescribedEvent, headers: object): object {
  return {
    name: event.name,
    title: event.name,
    ...descriptionOf(event),
    ...(event.deprecated ? { tags: [{ name: 'deprecated' }] } : {}),
    contentType: 'application/json',
    headers,
    payload: bodySchema(event, `${refToMessage(event)}/payload`),
    ...(event.hasExample ? { examples: [{ payload: bodyExample(event) }] } : {}),
  }
}

const descriptionOf = ({ description }: DescribedEvent): object =>
  description === null ? {} : { description }

const refTo = ({ name }: DescribedEvent): string => `#/channels/${escaped(name)}`

const refToMessage = (event: DescribedEvent): string =>
  `${refTo(event)}/messages/${escaped(event.name)}`

/** RFC 6901: names of events hold no `~`. */
const escaped = (name: string): string => name.replaceAll('/', '~1')
