import '@svc/core/node-version'
// The actions that it declares reach a host only through a line that the compiler keeps.
import './operations/named-actions.ts'

export { svcWebhooks, svcWebhooks as default } from './plugin.ts'
export type { SvcWebhooksOptions } from './options.ts'
export {
  basicAuth,
  bearerToken,
  headerToken,
  hmac,
  type BasicAuthOptions,
  type BearerTokenOptions,
  type ExtractedSignature,
  type HeaderTokenOptions,
  type HmacOptions,
  type InboundReply,
  type InboundRequest,
  type InboundSource,
  type SecretLookup,
  type SignatureEncoding,
  type SignatureFields,
  type TimestampUnit,
  type Verify,
} from './inbound/index.ts'
export type {
  DeliveryRecord,
  DeliveryStatus,
  NewWebhook,
  OneAttempt,
  Queued,
  Redelivery,
  Redriven,
  RotateSecret,
  Webhook,
  WebhookChanges,
  WebhookUpdate,
  WebhookWithSecret,
} from './schemas.ts'
export type { LogFilter } from './tables/delivery-log.ts'
export * from './errors.ts'
export * from './inbound/errors.ts'
