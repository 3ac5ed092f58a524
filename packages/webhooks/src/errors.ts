import { createError } from '@svc/core/internal'

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

/** The webhook has no recovery of this id, or it is no longer kept. */
export const RecoveryNotFound = createError<[string]>(
  'SVC_WEBHOOKS_RECOVERY_NOT_FOUND',
  'there is no recovery %s of this webhook',
  404,
)

/** More points of statistics than one answer has. */
export const TooManyPoints = createError<[string, string]>(
  'SVC_WEBHOOKS_TOO_MANY_POINTS',
  'the span has %s points, and an answer at most %s: ask for a shorter span, or by hour or day',
  400,
)

/** A span that ends before it begins, or begins in the future. */
export const InvalidSpan = createError<[string, string]>(
  'SVC_WEBHOOKS_INVALID_SPAN',
  'the span is empty: %s must be after %s',
  400,
)

/** Deliveries cannot go to this URL. The message gives the reason. */
export const UrlRefused = createError<[string]>('SVC_WEBHOOKS_URL_REFUSED', 'url %s', 400)

/** The option `allowedEvents` does not list this event. */
export const EventNotAllowed = createError<[string, string]>(
  'SVC_WEBHOOKS_EVENT_NOT_ALLOWED',
  'the event "%s" is not allowed: use one of %s, or a pattern such as "order.*"',
  400,
)

/** A text that is no cursor of the feed. */
export const InvalidCursor = createError(
  'SVC_WEBHOOKS_INVALID_CURSOR',
  'after must be the cursor of a former page, or "start"',
  400,
)

/** Events after the cursor may be deleted, or lost by the database. `oldest` is the cursor after which none was. */
export const CursorExpired = createError<[string]>(
  'SVC_WEBHOOKS_CURSOR_EXPIRED',
  'events after this cursor may be missing: they were older than the host keeps them, or the database lost them in a failover: go on after "%s", which is the oldest',
  410,
)

/** A caller with a tenant asks about the host's own handlers. */
export const OperatorOnly = createError(
  'SVC_WEBHOOKS_OPERATOR_ONLY',
  'only the operator may do this: use a key without a tenant',
  403,
)

/** There is no subscription of this name. */
export const SubscriptionNotFound = createError<[string]>(
  'SVC_WEBHOOKS_SUBSCRIPTION_NOT_FOUND',
  'there is no subscription "%s"',
  404,
)

/** There is no dead letter of this id. */
export const DeadLetterNotFound = createError<[string]>(
  'SVC_WEBHOOKS_DEAD_LETTER_NOT_FOUND',
  'there is no dead letter %s of a handler',
  404,
)

/** There is no event of this id that the caller may see, or it is not kept any more. */
export const EventNotFound = createError<[string]>(
  'SVC_WEBHOOKS_EVENT_NOT_FOUND',
  'there is no event with the id "%s"',
  404,
)

/** Events of several names or tenants have this id. */
export const SeveralEvents = createError<[string]>(
  'SVC_WEBHOOKS_SEVERAL_EVENTS',
  'several events have the id "%s": say which with name or tenant',
  409,
)

/** An operator has stopped the deliveries. */
export const DeliveriesPaused = createError(
  'SVC_WEBHOOKS_PAUSED',
  'deliveries are paused: no attempt can be made now',
  409,
)

/** The webhook has no address. */
export const NoUrl = createError<[string]>(
  'SVC_WEBHOOKS_NO_URL',
  'the webhook %s has no url, so nothing is sent to it: read its feed, or give it a url',
  409,
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

/** The host has no source of this name. */
export const SourceNotFound = createError<[string]>(
  'SVC_WEBHOOKS_SOURCE_NOT_FOUND',
  'there is no source %s',
  404,
)

/** No sample can be signed for the source, or the host does not allow them. */
export const NotTestable = createError<[string]>(
  'SVC_WEBHOOKS_NOT_TESTABLE',
  'no sample can be sent: %s',
  409,
)

/** The tenant has as many webhooks as `maxWebhooksPerTenant` allows. */
export const WebhooksLimitReached = createError<[string]>(
  'SVC_WEBHOOKS_LIMIT_REACHED',
  'the tenant has %s webhooks, which is the most that it may have: delete one first',
  409,
)

/** The webhook has as many secrets that are still valid as it may have. */
export const TooManySecrets = createError<[string, string]>(
  'SVC_WEBHOOKS_TOO_MANY_SECRETS',
  'the webhook has %s secrets that still sign, which is the most: rotate again after %s, when the first of them ends, or with overlapSeconds 0, which ends all of them now',
  409,
)

/** The host does not sign with ed25519, or the id is not one of a webhook. */
export const NoPublicKeys = createError<[string]>('SVC_WEBHOOKS_NO_PUBLIC_KEYS', '%s', 404)

/** The addresses are asked for on a host without the option. */
export const NoEgressAddresses = createError(
  'SVC_WEBHOOKS_NO_EGRESS_ADDRESSES',
  'this host does not say which addresses its deliveries come from: it lacks the option egressAddresses',
  404,
)

/** A caller with a tenant sets a transform. */
export const TransformNotAllowed = createError(
  'SVC_WEBHOOKS_TRANSFORM_NOT_ALLOWED',
  'the webhooks of a tenant have no transform: leave the field out',
  403,
)

/** A caller who may not read keys asks for a webhook that is sent events about keys. */
export const KeyEventsNotAllowed = createError<[string]>(
  'SVC_WEBHOOKS_KEY_EVENTS_NOT_ALLOWED',
  'events named "svc.key.…" tell about API keys: only a key with the scope "%s" or "admin" may ask for them, or change a webhook for them',
  403,
)

/** A caller that is not an operator with `admin` sends a delivery to another address. */
export const AddressNotAllowed = createError(
  'SVC_WEBHOOKS_ADDRESS_NOT_ALLOWED',
  'only an operator with the scope "admin" can send a delivery to another address: leave url out',
  403,
)

/** A header of a webhook is not allowed, or is not one; the message names it, and not its value. */
export const InvalidHeader = createError<[string]>('SVC_WEBHOOKS_INVALID_HEADER', '%s', 400)

/** A secret of the caller's own is not one; the message gives the reason, and not the secret. */
export const SecretRefused = createError<[string]>(
  'SVC_WEBHOOKS_SECRET_REFUSED',
  'secret cannot be used: %s',
  400,
)

/** The metadata of a webhook cannot be stored; the message names the spot. */
export const InvalidMetadata = createError<[string]>('SVC_WEBHOOKS_INVALID_METADATA', '%s', 400)

/** The option `transforms` has no transform of this name. */
export const UnknownTransform = createError<[string, string]>(
  'SVC_WEBHOOKS_UNKNOWN_TRANSFORM',
  'there is no transform "%s": use one of %s',
  400,
)

/** `timeoutMs` is more than the option `deliveryTimeoutMs`. */
export const TimeoutTooLong = createError<[number]>(
  'SVC_WEBHOOKS_TIMEOUT_TOO_LONG',
  'timeoutMs may be at most %d, the deliveryTimeoutMs of this host',
  400,
)

/** The event has no example that a test could send. */
export const NoExample = createError<[string]>(
  'SVC_WEBHOOKS_NO_EXAMPLE',
  'the event "%s" has no example: give it one with defineEvents',
  400,
)
