import '@svc/core/node-version'
// A host sees the actions and `svc.webhooks` only through lines that the compiler keeps.
import './operations/svc-webhooks.ts'

export { svcWebhooks, svcWebhooks as default } from './plugin.ts'
export type { Ed25519Options, InboundLogOptions, SvcWebhooksOptions } from './options.ts'
export type { AutoDisableOptions } from './outbound/health/auto-disable.ts'
export type { ProxyOptions } from './outbound/http/proxy.ts'
export type {
  DeliveryDead,
  LastError,
  WebhookDisabled,
  WebhookFailing,
  WebhookRecovered,
} from './outbound/lifecycle-events.ts'
export type { HmacFormat } from './outbound/transforms/hmacs.ts'
export type {
  Sign,
  SignInput,
  Transform,
  TransformDefinition,
  Transformed,
  TransformInput,
} from './outbound/transforms/transform.ts'
export type { WebhookFilter } from './settings-schemas.ts'
export type { ActingFor, SvcWebhooks } from './operations/svc-webhooks.ts'
export type {
  EventDescription,
  Count,
  CountedDeadLetters,
  CountedWebhooks,
  DeliverySigning,
  FilterTrial,
  NewWebhook,
  Page,
  RotateSecretInput,
  TenantOfWebhooks,
  TenantPage,
  TestInput,
  TriedEvent,
  Webhook,
  WebhookChanges,
  WebhookUpdate,
  WebhookWithSecret,
} from './schemas.ts'
export type {
  DeliverInput,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryFilter,
  FoundDeliveries,
  ListedDeliveries,
  OneDelivery,
  DeliveryStatus,
  QueuedDelivery,
  RedeliverInput,
  SentRequest,
  RedriveInput,
  RedriveResult,
} from './delivery-schemas.ts'
export type {
  ListedRecoveries,
  RecoverInput,
  RecoverManyInput,
  RecoverManyResult,
  RecoverResult,
  WebhookRecovery,
} from './outbound/recoveries/recover.ts'
export type {
  EventInFeed,
  EventOfId,
  FeedAnswer,
  FeedQuery,
  WebhookFeedQuery,
} from './operations/feed.ts'
export type {
  HandlerDeadLetter,
  HandlerPause,
  HandlerRedrive,
  ListedHandlerDeadLetters,
  PauseAllInput,
  PausedAnswer,
  ResumeAllInput,
} from './operations/handlers.ts'
export type { Stats, StatsQuery } from './operations/stats.ts'
export type {
  ConfiguredSource,
  InboundFilter,
  InboundTest,
  InboundTestResult,
  LoggedRequest,
  ReplayResult,
} from './inbound-schemas.ts'
export {
  AddressNotAllowed,
  CursorExpired,
  DeadLetterNotFound,
  DeliveriesPaused,
  DeliveryNotFound,
  EventNotAllowed,
  EventNotFound,
  InboundRequestNotFound,
  InvalidCursor,
  InvalidHeader,
  InvalidMetadata,
  InvalidSpan,
  KeyEventsNotAllowed,
  NoExample,
  NotReplayable,
  NotTestable,
  NoUrl,
  OperatorOnly,
  RecoveryNotFound,
  SecretRefused,
  SeveralEvents,
  SourceNotFound,
  SubscriptionNotFound,
  TooManyPoints,
  TimeoutTooLong,
  TransformNotAllowed,
  UnknownTransform,
  UrlRefused,
  WebhookInactive,
  WebhookNotFound,
  WebhooksLimitReached,
} from './errors.ts'
export type {
  InboundReply,
  InboundRequest,
  InboundSource,
  Respond,
  SecretLookup,
  Verify,
} from './inbound/source.ts'
export type { InboundOutcome } from './inbound/inbound-telemetry.ts'
export {
  basicAuth,
  bearerToken,
  headerToken,
  hmac,
  type BasicAuthOptions,
  type BearerTokenOptions,
  type HeaderTokenOptions,
  type HmacOptions,
  type SecretName,
} from './inbound/verify.ts'
export type {
  ExtractedSignature,
  SignatureEncoding,
  SignatureFields,
  TimestampUnit,
} from '@svc/providers/internal'
export {
  BodyNotJson,
  BodyTooLarge,
  BodyTooSlow,
  BodyUnreadable,
  ContentTypeInvalid,
  InboundFailed,
  NoHandshake,
  NotVerified,
  SecretMissing,
  TooManyFields,
} from './inbound/errors.ts'
