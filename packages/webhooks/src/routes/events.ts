import { Type } from '@sinclair/typebox'
import { errorResponses } from '@svc/core/internal'
import { descriptionOf, type DescribedEvent } from '../outbound/described-event.ts'
import { EventDescription } from '../schemas.ts'
import { asyncApiDocument } from './asyncapi.ts'
import { config, tags, type Api } from './management.ts'

const AnyObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

export function eventRoutes(api: Api, events: readonly DescribedEvent[]): void {
  const described = events.map(descriptionOf)
  const document = asyncApiDocument(events)

  api.get(
    '/events',
    {
      config,
      schema: {
        tags,
        summary: 'List the events that webhooks may ask for, with their schemas and examples',
        response: { 200: Type.Array(EventDescription), ...errorResponses },
      },
    },
    () => described,
  )

  api.get(
    '/asyncapi.json',
    {
      config,
      schema: {
        tags,
        summary: 'The deliveries as an AsyncAPI 3 document',
        response: { 200: AnyObject, ...errorResponses },
      },
    },
    () => document,
  )
}
