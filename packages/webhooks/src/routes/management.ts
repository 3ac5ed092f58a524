import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { isUuid } from '@svc/core/internal'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import { DeliveryNotFound, RecoveryNotFound, WebhookNotFound } from '../errors.ts'

/** The encapsulated child that the management routes are registered in. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** The scope that `@svc/auth` requires on these routes, wherever their base path is. */
export const MANAGED = { scopes: ['webhooks:manage'] }

/** The 404 of ids that are too long for the router. */
export function unknownId(path: string): Error {
  const [, id = '', list, inner = ''] = path.split('/')
  if (inner !== '' && isUuid(id)) {
    const NotFound = list === 'recoveries' ? RecoveryNotFound : DeliveryNotFound
    return new NotFound(shortened(inner))
  }
  return new WebhookNotFound(shortened(id))
}

const shortened = (id: string): string => `${id.slice(0, 40)}…`
