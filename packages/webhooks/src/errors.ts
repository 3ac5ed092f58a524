import { createError } from '@fastify/error'

/** There is no webhook of this id. */
export const WebhookNotFound = createError<[string]>(
  'SVC_WEBHOOKS_NOT_FOUND',
  'there is no webhook %s',
  404,
)

/** The webhook has no delivery of this id, or it is no longer kept. */
export const DeliveryNotFound = createError<[string]>(
  'SVC_WEBHOOKS_DELIVERY_NOT_FOUND',
  'there is no delivery %s of this webhook',
  404,
)

/** Deliveries cannot go to this URL; the message says why. */
export const UrlRefused = createError<[string]>('SVC_WEBHOOKS_URL_REFUSED', 'url %s', 400)

/** The option `allowedEvents` does not list this event. */
export const EventNotAllowed = createError<[string, string]>(
  'SVC_WEBHOOKS_EVENT_NOT_ALLOWED',
  'the event "%s" is not allowed: use one of %s',
  400,
)

/** The webhook is not active: only active webhooks receive deliveries. */
export const WebhookInactive = createError<[string]>(
  'SVC_WEBHOOKS_INACTIVE',
  'the webhook %s is not active',
  409,
)

/** A logged inbound request that does not exist, or is older than what is kept. */
export const InboundRequestNotFound = createError<[string]>(
  'SVC_WEBHOOKS_INBOUND_NOT_FOUND',
  'there is no inbound request %s in the log',
  404,
)

/** A logged inbound request that cannot be published again. */
export const NotReplayable = createError<[string]>(
  'SVC_WEBHOOKS_NOT_REPLAYABLE',
  'the request cannot be replayed: %s',
  409,
)
