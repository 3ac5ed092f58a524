/**
 * What `@svc/webhooks` builds with, but for the rows (`@svc/providers/presets`), which not every host
 * needs. Not for hosts: it changes without notice.
 */
export { payloadByType } from './engine/bodies.ts'
export { replyOf, stageOf, type Respond } from './engine/handshakes.ts'
export { rememberedSeconds, rowOf, type Row } from './engine/row.ts'
export { bodyText, decoderOf, SENT, Sent, sentOf, type SentRequest } from './engine/sent.ts'
export { NO_SECRET, verifierOf, type NamedSecret, type Verifier } from './engine/verify.ts'
export { BodyRefused, EmptyKey, HostMistake, Refused, type BodyFault } from './errors.ts'
export {
  bearerScheme,
  hmacScheme,
  tokenInHeader,
  type Extracted,
  type ExtractedSignature,
  type HmacSettings,
  type SignatureEncoding,
  type SignatureFields,
  type TimestampUnit,
} from './helpers.ts'
export { rulesOf, vainOption, type OptionRules } from './options.ts'
export type { Need, NeedValue, Place, Preset } from './preset.ts'
export type { OwnSignature, Scheme } from './preset-schemes.ts'
export type { SignableRow } from './testing/signed-request.ts'
export { ProviderClient, type GuardedFetch } from './provider-client.ts'
