import { InvalidOption } from '@svc/core'
import {
  isBoolean,
  isEventName,
  isFunction,
  isIntegerFrom,
  isString,
  resolveOptions,
  type OptionRules,
  type ResolvedOptions,
} from '@svc/core/internal'
import type { InboundSource } from './inbound/source.ts'
import { resolveSources, type Source } from './inbound/sources.ts'
import {
  resolveAutoDisable,
  type AutoDisable,
  type AutoDisableOptions,
} from './outbound/health/auto-disable.ts'
import { isAddress, isNetwork } from './outbound/http/blocked-addresses.ts'
import { resolveProxy, type ProxyOptions } from './outbound/http/proxy.ts'
import { DEFAULT_PREFIX, isHeaderPrefix } from './outbound/settings/header-names.ts'
import { BUILT_IN } from './outbound/transforms/built-in.ts'
import {
  isTransformName,
  NO_TRANSFORM,
  type AnyTransform,
  type Transform,
  type TransformDefinition,
} from './outbound/transforms/transform.ts'

/**
 * Options of `svcWebhooks`. Each one that does not match is an {@link InvalidOption} at boot.
 *
 * @example
 * const options: SvcWebhooksOptions = {
 *   allowedEvents: ['order.created'],
 *   inbound: { github: providers.github({ path: '/hooks/github', secretName: 'GITHUB_SECRET' }) },
 *   autoDisable: { failingForSeconds: 5 * 24 * 3600 },
 * }
 */
export interface SvcWebhooksOptions {
  /** Names of the events that trigger outbound webhooks. @default none: a host that only receives */
  allowedEvents?: string[] | undefined
  /** Senders of webhooks, by names of your own, see {@link InboundSource}. @default none */
  inbound?: Record<string, InboundSource> | undefined
  /** Base path of the outbound management API; `null` disables it. @default '/_webhooks' */
  managementBasePath?: string | null | undefined
  /** Whether its routes are part of the host's OpenAPI document. @default true */
  openapi?: boolean | undefined
  /** Longest duration of one delivery, in milliseconds: connect, headers and body. @default 10000 */
  deliveryTimeoutMs?: number | undefined
  /**
   * Networks (CIDRs, IPv4 and IPv6) that deliveries may go to although they are loopback, private,
   * link-local or otherwise reserved.
   * @default []
   */
  allowedNetworks?: string[] | undefined
  /**
   * Addresses and CIDRs that deliveries come from, for the firewalls of receivers. They are shown at
   * `GET <managementBasePath>/egress`, which is open, and change nothing else. @default none: a 404
   */
  egressAddresses?: string[] | undefined
  /**
   * What the names of our headers of a delivery begin with: `X-Acme-` makes `X-Acme-Signature`. At most 32
   * letters, digits and `-`. It begins with a letter and ends with `-`, and not as names of HTTP begin:
   * `Accept-`, `Access-Control-`, `Content-`, `If-`, `Proxy-`, `Sec-`, `Transfer-` and `X-Forwarded-`, nor
   * as those of Standard Webhooks, `Webhook-`. Each attempt has that of the process that makes it.
   * @default 'X-Svc-'
   */
  headerPrefix?: string | undefined
  /**
   * Whether deliveries have the headers of Standard Webhooks 1.0 as well. @default false
   * @see https://www.standardwebhooks.com
   */
  standardWebhooks?: boolean | undefined
  /**
   * Signs deliveries with ed25519 as well, in the headers of Standard Webhooks, with a key of each
   * webhook's own. @default null
   */
  ed25519?: Ed25519Options | null | undefined
  /**
   * Functions by names of your own that make another body for the webhooks that name them. Built in
   * are `slack`, `discord`, `teams`, `cloudevents` and `payload`. With `{ run, ownSignatures: false }` our
   * own signatures are left out. The name `none` is taken.
   * @default {}
   */
  transforms?: Record<string, Transform | TransformDefinition> | undefined
  /**
   * The transform of webhooks that name none, for all events but those of ours (`svc.…`). A webhook with
   * `transform: 'none'` gets our own body all the same.
   * @default null: our own body
   */
  defaultTransform?: string | null | undefined
  /**
   * Whether an answer 410 (RFC 9110, section 15.5.11) deactivates the webhook and makes the delivery a
   * dead letter at once. @default false
   */
  deactivateOnGone?: boolean | undefined
  /**
   * Whether receivers get the headers `traceparent` and `tracestate` of the W3C, so that their
   * traces continue those of this host. They get its trace ids then. @default false
   */
  propagateTraceContext?: boolean | undefined
  /** When a webhook is disabled because all its attempts fail. @default null: never */
  autoDisable?: AutoDisableOptions | null | undefined
  /**
   * An HTTP proxy for all deliveries, and for requests of sources to providers. Addresses are
   * checked before. @default null: none
   */
  proxy?: ProxyOptions | null | undefined
  /** How many webhooks a tenant may have; the operator's own are not counted. @default null: no limit */
  maxWebhooksPerTenant?: number | null | undefined
  /** How long rows of the delivery log are kept, in days, 1 to 2000. @default 30 */
  deliveryLogRetentionDays?: number | undefined
  /** How long dead letters are kept, in days; at most 24855. @default 90 */
  deadLetterRetentionDays?: number | undefined
  /** Longest inbound body, in bytes. @default 1048576 */
  bodyLimitBytes?: number | undefined
  /** The log of inbound requests; `false` for none. @default kept for 7 days, where there are sources */
  inboundLog?: false | InboundLogOptions | undefined
  /**
   * Whether an operator with `admin` may send signed samples to the sources. What they publish is not told
   * apart from events of their senders: not for production. @default false
   */
  inboundTests?: boolean | undefined
}

/**
 * The name of a secret that holds `whsk_` and the base64 of a 32-byte seed, or of seed and public key; or
 * several names, up to 5, each of which signs: the new one first, during a rotation. The keys of the
 * webhooks are derived from it. The public ones are shown with each webhook, and at
 * `GET <managementBasePath>/public-keys` and `/jwks.json`, which are open.
 */
export type Ed25519Options =
  | { secretName: string; secretNames?: undefined }
  | { secretNames: readonly string[]; secretName?: undefined }

/** The options of the log of inbound requests. */
export interface InboundLogOptions {
  /** How long a row is kept, in days. @default 7 */
  keepDays?: number | undefined
  /**
   * Whether headers are kept too, without signatures and credentials, and the body of requests that
   * were verified: what a replay needs.
   * @default false
   */
  rawBodies?: boolean | undefined
  /** Rows in a second, at most, of each kind of unverified request, source and process. @default 1 */
  sampleRefused?: number | undefined
}

/** {@link SvcWebhooksOptions} with the defaults filled in. */
export type WebhooksSettings = ResolvedOptions<
  Omit<SvcWebhooksOptions, 'inbound' | 'inboundLog' | 'transforms' | 'autoDisable' | 'proxy'>
> & {
  autoDisable: AutoDisable | null
  proxy: ResolvedOptions<ProxyOptions> | null
  sources: Source[]
  transforms: ReadonlyMap<string, AnyTransform>
  inboundLog: false | ResolvedOptions<InboundLogOptions>
}

const days = { expects: 'an integer from 1 to 36500 (days)', is: isIntegerFrom(1, 36_500) }

const rules: OptionRules = {
  allowedEvents: {
    expects: 'a list of event names: each 1 to 200 letters, digits, "_", ".", "-" or "/"',
    each: isEventName,
    default: [],
  },
  inbound: { expects: 'an object of sources by their names' },
  managementBasePath: {
    expects: 'a URL path such as "/_webhooks", without a slash at its end, or null',
    is: (value) =>
      value === null || (typeof value === 'string' && /^(?:\/[^/\s?#:*]+)+$/.test(value)),
    default: '/_webhooks',
  },
  openapi: { expects: 'true or false', is: isBoolean, default: true },
  deliveryTimeoutMs: {
    expects: 'an integer from 1 to 3600000 (milliseconds, at most an hour)',
    is: isIntegerFrom(1, 3_600_000),
    default: 10_000,
  },
  allowedNetworks: {
    expects: 'a list of CIDRs such as "10.0.0.0/8" or "fd00::/8"',
    each: (cidr) => typeof cidr === 'string' && isNetwork(cidr),
    default: [],
  },
  egressAddresses: {
    expects: 'a list of addresses and CIDRs such as "203.0.113.7" or "203.0.113.0/28"',
    is: (value) => value === null || (Array.isArray(value) && value.every(isAddressOrNetwork)),
    default: null,
  },
  headerPrefix: {
    expects:
      'at most 32 letters, digits and "-" that begin with a letter and end with "-", such as "X-Acme-", and not as names of HTTP begin (Accept-, Access-Control-, Content-, If-, Proxy-, Sec-, Transfer-, X-Forwarded-) or of Standard Webhooks (Webhook-)',
    is: isHeaderPrefix,
    quoted: true,
    default: DEFAULT_PREFIX,
  },
  standardWebhooks: { expects: 'true or false', is: isBoolean, default: false },
  ed25519: {
    expects:
      'an object such as { secretName: "WEBHOOKS_SIGNING_KEY" }, or { secretNames: ["NEW_KEY", "OLD_KEY"] } with up to 5 different names',
    is: isEd25519,
    default: null,
  },
  transforms: {
    expects:
      'an object of functions, or of { run, ownSignatures }, by names of 1 to 64 letters, digits, "_", "." or "-", and not "none"',
    is: areTransforms,
    default: {},
  },
  defaultTransform: {
    expects: 'the name of a transform, or null',
    is: (value) => value === null || isString(value),
    default: null,
  },
  deactivateOnGone: { expects: 'true or false', is: isBoolean, default: false },
  propagateTraceContext: { expects: 'true or false', is: isBoolean, default: false },
  autoDisable: {
    expects: 'an object such as { failingForSeconds: 432000 }, or null',
    is: isRecordOrNull,
    default: null,
  },
  proxy: {
    expects: 'an object such as { url: "http://proxy.example:3128" }, or null',
    is: isRecordOrNull,
    default: null,
  },
  maxWebhooksPerTenant: {
    expects: 'an integer of at least 1, or null',
    is: (value) => value === null || isIntegerFrom(1)(value),
    default: null,
  },
  deliveryLogRetentionDays: {
    expects: 'an integer from 1 to 2000 (days)',
    // Each is a partition, which every connection keeps in memory.
    is: isIntegerFrom(1, 2000),
    default: 30,
  },
  deadLetterRetentionDays: {
    expects: 'an integer from 1 to 24855 (days)',
    // pg-boss stores it in seconds, as a 32-bit integer.
    is: isIntegerFrom(1, 24_855),
    default: 90,
  },
  bodyLimitBytes: {
    expects: 'an integer from 1 to 268435456 (bytes, at most 256 MiB)',
    // Node holds no text of 512 MiB, and a payload is several texts on its way.
    is: isIntegerFrom(1, 268_435_456),
    default: 1_048_576,
  },
  inboundLog: {
    expects: 'false, or an object { keepDays, rawBodies, sampleRefused }',
    is: (value) => value === false || (typeof value === 'object' && value !== null),
  },
  inboundTests: {
    expects: 'true or false',
    is: isBoolean,
    default: false,
  },
}

const logRules: OptionRules = {
  keepDays: { ...days, default: 7 },
  rawBodies: { expects: 'true or false', is: isBoolean, default: false },
  sampleRefused: { expects: 'an integer of at least 0', is: isIntegerFrom(0), default: 1 },
}

/** @throws InvalidOption naming the option, what it was and what it must be */
export function resolveWebhooksOptions(given: unknown): WebhooksSettings {
  const { inbound, inboundLog, transforms, autoDisable, proxy, ...settings } = resolveOptions<
    ResolvedOptions<Omit<SvcWebhooksOptions, 'inboundLog'>> &
      Pick<SvcWebhooksOptions, 'inboundLog'> & { inbound: unknown }
  >('svcWebhooks', rules, given)
  assertDistinct(settings.allowedEvents)
  const allTransforms = allOf(transforms)
  assertKnown(settings.defaultTransform, allTransforms)
  const sources = resolveSources(inbound)
  const log = inboundLog ?? (sources.length > 0 ? {} : false)
  return {
    ...settings,
    sources,
    autoDisable: resolveAutoDisable(autoDisable),
    proxy: resolveProxy(proxy),
    inboundLog: log && resolveLog(log),
    transforms: allTransforms,
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isRecordOrNull(value: unknown): boolean {
  return value === null || isRecord(value)
}

const isAddressOrNetwork = (value: unknown): boolean =>
  typeof value === 'string' && (isNetwork(value) || isAddress(value))

const MOST_SIGNING_SECRETS = 5

function isEd25519(value: unknown): boolean {
  if (value === null) return true
  if (!isRecord(value)) return false
  const { secretName, secretNames, ...others } = value
  if (Object.keys(others).length > 0) return false
  if (secretNames === undefined) return isString(secretName)
  return (
    secretName === undefined &&
    Array.isArray(secretNames) &&
    secretNames.every(isString) &&
    secretNames.length >= 1 &&
    secretNames.length <= MOST_SIGNING_SECRETS &&
    new Set(secretNames).size === secretNames.length
  )
}

function areTransforms(value: unknown): boolean {
  if (!isRecord(value)) return false
  return Object.entries(value).every(([name, one]) => isTransformName(name) && isTransform(one))
}

function isTransform(value: unknown): boolean {
  if (!isRecord(value)) return isFunction(value)
  const { run, ownSignatures = true, ...others } = value
  return isFunction(run) && isBoolean(ownSignatures) && Object.keys(others).length === 0
}

/** With those that are built in, which a host may replace. */
function allOf(given: Record<string, Transform | TransformDefinition>): Map<string, AnyTransform> {
  const all = new Map<string, AnyTransform>(Object.entries(BUILT_IN))
  for (const [name, one] of Object.entries(given)) {
    const definition: TransformDefinition = typeof one === 'function' ? { run: one } : one
    const { run, ownSignatures = true } = definition
    all.set(name, { run, ownSignatures })
  }
  return all
}

/** @throws InvalidOption */
function assertKnown(name: string | null, transforms: ReadonlyMap<string, AnyTransform>): void {
  if (name === null || name === NO_TRANSFORM || transforms.has(name)) return
  const names = [...transforms.keys(), NO_TRANSFORM].join(', ')
  throw new InvalidOption(
    `svcWebhooks: the option "defaultTransform" must be the name of a transform, but there is no ${JSON.stringify(name)}: use one of ${names}`,
  )
}

const resolveLog = (given: InboundLogOptions) =>
  resolveOptions<ResolvedOptions<InboundLogOptions>>('svcWebhooks', logRules, given, 'inboundLog.')

/** @throws InvalidOption */
function assertDistinct(allowedEvents: string[]): void {
  for (const [index, event] of allowedEvents.entries()) {
    const first = allowedEvents.indexOf(event)
    if (first === index) continue
    throw new InvalidOption(
      `svcWebhooks: the option "allowedEvents" must list each event once, but "${event}" at index ${index} is at index ${first} already: remove one of them`,
    )
  }
}
