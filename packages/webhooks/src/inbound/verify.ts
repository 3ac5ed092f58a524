/**
 * Verifications of a source with the secrets of the host: those that a host describes itself, and those
 * of rows. All are the engine of `@svc/providers`.
 */
import { InvalidOption } from '@svc/core'
import {
  isFunction,
  isString,
  resolveOptions,
  type OptionRules,
  type ResolvedOptions,
} from '@svc/core/internal'
import {
  bearerScheme,
  EmptyKey,
  hmacScheme,
  HostMistake,
  NO_SECRET,
  sentOf,
  tokenInHeader,
  verifierOf,
  type Extracted,
  type HmacSettings,
  type NamedSecret,
  type OwnSignature,
  type Place,
  type Row,
  type Scheme,
  type SignatureEncoding,
  type SignatureFields,
  type TimestampUnit,
  type Verifier,
} from '@svc/providers/internal'
import { SecretMissing } from './errors.ts'
import { saying, type InboundRequest, type Signs, type Verify } from './source.ts'

/**
 * Name of the secret; a list while one follows another: any of them verifies, those that are not set
 * are passed over; or a function of the request, for a source with many connections. For a request
 * that it returns `null` for nothing is verified: the request is refused.
 */
export type SecretName =
  | string
  | readonly string[]
  | ((request: InboundRequest) => string | readonly string[] | null)

export const SECRET_NAME = {
  expects: 'the name of a secret, a list of names, or a function (request) => name or names',
  is: (value: unknown): boolean =>
    typeof value === 'function' ||
    isString(value) ||
    (Array.isArray(value) && value.length > 0 && value.every((name) => isString(name))),
  required: true,
}

/** @throws HostMistake where the function returns something else */
export function namesOf(secretName: SecretName, request: InboundRequest): readonly string[] {
  if (typeof secretName !== 'function') return [secretName].flat()
  const names: unknown = secretName(request) ?? []
  if (names instanceof Promise) {
    // Its rejection would end the process.
    names.catch(() => undefined)
    throw new HostMistake(
      'secretName returned a promise; it must return the name of a secret, a list of names, or null at once: what has to be waited for belongs into the option "secrets" of svcCore',
    )
  }
  const list = [names].flat()
  if (list.every((name) => typeof name === 'string')) return list
  throw new HostMistake(
    `secretName must return the name of a secret, a list of names, or null, not a value of type ${typeof names}`,
  )
}

/** A host that calls a verification itself may pass an async function. */
type Lookup = (name: string) => string | null | Promise<string | null>

/**
 * The secrets that are set.
 *
 * @throws SecretMissing where all are unset or empty: with an empty key anyone could sign
 */
async function secretsOf(names: readonly string[], lookup: Lookup): Promise<NamedSecret[]> {
  const found = names.map((name) => ({ name, value: lookup(name) }))
  const secrets: NamedSecret[] = []
  for (const { name, value: looked } of found) {
    const value = looked instanceof Promise ? await looked : looked
    if (typeof value === 'string' && value !== '') secrets.push({ name, value })
  }
  if (secrets.length === 0 && names.length > 0) throw new SecretMissing(names.join(', '))
  return secrets
}

/** Verifies with the secrets of the host. They are looked up before it is called: it says which. */
export function verifyBy(
  { verifier, readingOf, itemsOf }: Pick<Row, 'verifier' | 'readingOf' | 'itemsOf'>,
  secretName: SecretName | null,
  signs: Signs | string,
): Verify {
  const verify: Verify = async (request, body, lookup, client) => {
    const sent = sentOf(request, body)
    const names = secretName === null ? [] : namesOf(secretName, request)
    if (secretName !== null && names.length === 0) {
      return sent.reject('there is no secret for this request')
    }
    const secrets = secretName === null ? NO_SECRET : await secretsOf(names, lookup)
    try {
      return await verifier.verify(readingOf(sent), secrets, client, itemsOf?.(sent.json))
    } catch (error) {
      throw error instanceof EmptyKey ? new SecretMissing(error.secretName) : error
    }
  }
  const { hides, shows } = verifier
  if (secretName === null) return saying(verify, { hides, shows, signs })
  const secrets =
    typeof secretName === 'function'
      ? (request: InboundRequest) => namesOf(secretName, request)
      : [secretName].flat()
  return saying(verify, { hides, shows, secrets, signs })
}

/** A row of one scheme, which a host describes itself. */
function verifyByScheme(
  scheme: Scheme,
  secretName: SecretName,
  options: Record<string, string> = {},
  signs: Signs | string = signsBy(scheme, options),
): Verify {
  const verifier: Verifier = verifierOf([scheme], {})
  return verifyBy(
    { verifier, readingOf: (sent) => ({ sent, options }), itemsOf: undefined },
    secretName,
    signs,
  )
}

const signsBy = (scheme: Scheme, options: Record<string, string> = {}): Signs => ({
  row: { name: 'the source', secret: 'the one of the source', schemes: [scheme] },
  options,
  isOwn: true,
})

/** How a sender writes what `hmac` reads; a function of the host reads only. */
function signsAs(settings: HmacSettings<InboundRequest>): Signs | string {
  const { signatureHeader, prefix, extractSignature: list, timestampHeader } = settings
  if (typeof list === 'function') return 'its extractSignature is a function of this host'
  const timestampAt = timestampHeader
    ? `header:${timestampHeader}`
    : list?.timestamp && `field:${list.timestamp}`
  const scheme: OwnSignature = {
    ...hmacScheme(settings),
    signature: {
      in: `header:${signatureHeader}`,
      ...(list ? { field: list.signature, separator: list.separator ?? ',' } : { prefix }),
    },
    ...(timestampAt && {
      timestamp: { in: timestampAt as Place, unit: settings.timestampUnit, toleranceSeconds: 0 },
    }),
  }
  return list && prefix ? 'its header has a prefix before its list' : signsBy(scheme)
}

/** The characters that a header name may have (RFC 9110, section 5.6.2). */
const isHeaderName = (value: unknown): boolean =>
  typeof value === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value)

/** Options of `hmac`. */
export interface HmacOptions {
  /** Header that holds the signature. A request that carries it twice is refused. */
  signatureHeader: string
  /** Name of the secret that holds the shared key, or names. */
  secretName: SecretName
  /** @default "SHA-256" */
  algorithm?: HmacSettings['algorithm'] | undefined
  /** How the signature is written; hex is read in either case. @default "hex" */
  encoding?: SignatureEncoding | undefined
  /** What the header begins with before the signature; without it a request is refused. @default "" */
  prefix?: string | undefined
  /**
   * Takes the header apart where it holds more than one signature: a function, or the names of the
   * fields of a `name=value` list. Of several signatures one must match.
   * @default the header is the signature
   */
  extractSignature?: ((headerValue: string) => Extracted) | SignatureFields | undefined
  /** Header that holds the timestamp, where the sender has one for it. @default none */
  timestampHeader?: string | undefined
  /** @default "seconds" */
  timestampUnit?: TimestampUnit | undefined
  /**
   * How far the timestamp may be from now, into the past and into the future, in seconds. Needs a
   * `computePayload` with the timestamp in it.
   * @default the timestamp is part of what is signed, but its age is not checked
   */
  toleranceSeconds?: number | undefined
  /**
   * Builds what is signed. A body that is not UTF-8 is passed with one character for each byte.
   * @default the bytes of the body
   */
  computePayload?:
    | ((body: string, timestamp: string, request: InboundRequest) => string | Uint8Array)
    | undefined
  /** Makes the key from the secret, for instance `(secret) => Buffer.from(secret, 'hex')`. @default its text */
  key?: ((secret: string) => string | Uint8Array) | undefined
}

const oneOf =
  (...values: string[]) =>
  (value: unknown): boolean =>
    typeof value === 'string' && values.includes(value)

const HMAC_RULES: OptionRules = {
  signatureHeader: {
    quoted: true,
    expects: 'the name of a header',
    is: isHeaderName,
    required: true,
  },
  secretName: SECRET_NAME,
  algorithm: {
    quoted: true,
    expects: '"SHA-1", "SHA-256", "SHA-384" or "SHA-512"',
    is: oneOf('SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'),
    default: 'SHA-256',
  },
  encoding: {
    quoted: true,
    expects: '"hex" or "base64"',
    is: oneOf('hex', 'base64'),
    default: 'hex',
  },
  prefix: { expects: 'a string', is: (value) => typeof value === 'string', default: '' },
  extractSignature: {
    expects: 'a function, or { signature, timestamp?, separator? } with the names of fields',
    is: (value) => isFunction(value) || isFields(value),
  },
  timestampHeader: { quoted: true, expects: 'the name of a header', is: isHeaderName },
  timestampUnit: {
    quoted: true,
    expects: '"seconds" or "milliseconds"',
    is: oneOf('seconds', 'milliseconds'),
    default: 'seconds',
  },
  toleranceSeconds: {
    expects: 'a number of at least 0 (seconds)',
    is: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  },
  computePayload: { expects: 'a function', is: isFunction },
  key: { expects: 'a function', is: isFunction },
}

/**
 * Makes a verification of an HMAC in a header (RFC 2104), over the bytes of the body or over what
 * `computePayload` builds.
 *
 * @throws InvalidOption when it is called, which is at boot
 * @example
 * hmac({
 *   signatureHeader: 'x-hub-signature-256',
 *   secretName: 'GITHUB_SECRET',
 *   prefix: 'sha256=',
 * })
 * @see https://www.rfc-editor.org/rfc/rfc2104
 */
export function hmac(options: HmacOptions): Verify {
  const { secretName, ...settings } = resolveOptions<
    HmacSettings<InboundRequest> & Pick<HmacOptions, 'secretName'>
  >('hmac', HMAC_RULES, options)
  if (settings.toleranceSeconds !== undefined) assertSignedTimestamp(settings)
  return verifyByScheme(hmacScheme(settings), secretName, {}, signsAs(settings))
}

/** @throws InvalidOption */
function assertSignedTimestamp(settings: HmacSettings<InboundRequest>): void {
  // Every request would be refused without a visible reason.
  if (!hasTimestamp(settings)) {
    throw new InvalidOption(
      'hmac: the option "toleranceSeconds" needs a timestamp to judge: give "timestampHeader", or an "extractSignature" that yields one',
    )
  }
  // Only the body is signed then: a recorded request passes with a new timestamp.
  if (settings.computePayload === undefined) {
    throw new InvalidOption(
      'hmac: the option "toleranceSeconds" judges a timestamp that is not signed: give the "computePayload" of the scheme, which puts the timestamp into what is signed, for example (body, timestamp) => `${timestamp}.${body}`, or leave "toleranceSeconds" out',
    )
  }
}

function hasTimestamp({
  timestampHeader,
  extractSignature,
}: Pick<HmacOptions, 'timestampHeader' | 'extractSignature'>): boolean {
  if (timestampHeader !== undefined || typeof extractSignature === 'function') return true
  return extractSignature?.timestamp !== undefined
}

function isFields(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { signature, timestamp, separator, ...others } = value as Record<string, unknown>
  return (
    isString(signature) &&
    (timestamp === undefined || isString(timestamp)) &&
    (separator === undefined || isString(separator)) &&
    Object.keys(others).length === 0
  )
}

/** Options of `basicAuth`. */
export interface BasicAuthOptions {
  /** Expected username, without a colon: in the header a colon separates it from the password. */
  username: string
  /** Name of the secret with the expected password, or names. */
  passwordSecretName: SecretName
}

/**
 * Makes a verification of HTTP Basic credentials, read as UTF-8.
 *
 * @throws InvalidOption when it is called, which is at boot
 * @example
 * basicAuth({ username: 'sender', passwordSecretName: 'SENDER_PASSWORD' })
 * @see https://www.rfc-editor.org/rfc/rfc7617
 */
export function basicAuth(options: BasicAuthOptions): Verify {
  const rules: OptionRules = {
    username: {
      expects: 'a string without a colon',
      is: (value) => isString(value) && !String(value).includes(':'),
      required: true,
    },
    passwordSecretName: SECRET_NAME,
  }
  const { username, passwordSecretName } = resolveOptions<BasicAuthOptions>(
    'basicAuth',
    rules,
    options,
  )
  return verifyByScheme({ algorithm: 'basic' }, passwordSecretName, { username })
}

/** Options of `bearerToken`. */
export interface BearerTokenOptions {
  /** Name of the secret with the expected token, or names. */
  secretName: SecretName
  /**
   * Header that the token is read from. In another header than `authorization` the token may come
   * without `Bearer`. @default "authorization"
   */
  header?: string | undefined
}

/**
 * Makes a verification of a token that is sent as `Authorization: Bearer <token>`.
 *
 * @throws InvalidOption when it is called, which is at boot
 * @example
 * bearerToken({ secretName: 'SENDER_TOKEN' })
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-2.1
 */
export function bearerToken(options: BearerTokenOptions): Verify {
  const rules: OptionRules = {
    secretName: SECRET_NAME,
    header: { expects: 'the name of a header', is: isHeaderName, default: 'authorization' },
  }
  const { secretName, header } = resolveOptions<ResolvedOptions<BearerTokenOptions>>(
    'bearerToken',
    rules,
    options,
  )
  return verifyByScheme(bearerScheme(header), secretName)
}

/** Options of `headerToken`. */
export interface HeaderTokenOptions {
  /** Header that carries the shared token. */
  header: string
  /** Name of the secret with the expected token, or names. */
  secretName: SecretName
}

/**
 * Makes a verification of a shared token that is the whole value of a header.
 *
 * @throws InvalidOption when it is called, which is at boot
 * @example
 * headerToken({ header: 'x-gitlab-token', secretName: 'GITLAB_TOKEN' })
 */
export function headerToken(options: HeaderTokenOptions): Verify {
  const rules: OptionRules = {
    header: { expects: 'the name of a header', is: isHeaderName, required: true },
    secretName: SECRET_NAME,
  }
  const { header, secretName } = resolveOptions<HeaderTokenOptions>('headerToken', rules, options)
  return verifyByScheme(tokenInHeader(header), secretName)
}
