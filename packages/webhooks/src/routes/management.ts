import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ErrorBody, isUuid } from '@svc/core/internal'
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import { DeliveryNotFound, WebhookNotFound } from '../errors.ts'

/** The encapsulated child that the management routes stand in. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** What `@svc/auth` guards these routes by, wherever their base path is. */
const guarded = { scopes: ['webhooks:manage'] }

export const managed = (more: object = {}): FastifyContextConfig => ({ ...guarded, ...more })

export const Params = Type.Object({ id: Type.String({ description: 'Id of the webhook.' }) })

export const errors = { '4xx': ErrorBody, '5xx': ErrorBody }

export const tags = ['webhooks']

/** Of ids that are too long for the router. */
export function unknownId(path: string): Error {
  const [, id = '', , deliveryId = ''] = path.split('/')
  if (deliveryId !== '' && isUuid(id)) return new DeliveryNotFound(shortened(deliveryId))
  return new WebhookNotFound(shortened(id))
}

const shortened = (id: string): string => `${id.slice(0, 40)}…`

/** Answers hold secrets and payloads. */
export function keepOutOfCaches(api: FastifyInstance): void {
  api.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
