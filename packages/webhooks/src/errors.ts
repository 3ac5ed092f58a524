import { createError } from '@fastify/error'

/** There is no webhook of this id. */
export const WebhookNotFound = createError<[string]>(
  'SVC_WEBHOOKS_NOT_FOUND',
  'there is no webhook %s',
  404,
)

/** The webhook has no delivery of this id, or none that is still kept. */
export const DeliveryNotFound = createError<[string]>(
  'SVC_WEBHOOKS_DELIVERY_NOT_FOUND',
  'there is no delivery %s of this webhook',
  404,
)

/** Deliveries cannot go to this URL. */
export const UrlRefused = createError<[string]>('SVC_WEBHOOKS_URL_REFUSED', 'url %s', 400)

/** A webhook subscribes only to what the option `allowedEvents` lists. */
export const EventNotAllowed = createError<[string, string]>(
  'SVC_WEBHOOKS_EVENT_NOT_ALLOWED',
  'the event "%s" is not allowed; there are: %s',
  400,
)

/** Only active webhooks receive deliveries. */
export const WebhookInactive = createError<[string]>(
  'SVC_WEBHOOKS_INACTIVE',
  'the webhook %s is not active',
  409,
)
