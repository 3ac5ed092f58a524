import { InvalidOption } from '@svc/core'
import { isFunction, isString, resolveOptions, type OptionRules } from '@svc/core/internal'
import type { InboundRequest } from '../source.ts'
import { isHeaderName } from './checks.ts'
import { SECRET_NAME, type SecretName } from './secret-names.ts'
import type { SignatureEncoding, TimestampUnit } from './signature.ts'
import type { Extracted, SignatureFields } from './signed-header.ts'

const DIGESTS = { 'SHA-1': 'sha1', 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' }

/** Options of `hmac`. */
export interface HmacOptions {
  /** Header that holds the signature. A request that carries it twice is refused. */
  signatureHeader: string
  /** Name of the secret that holds the shared key, or names. */
  secretName: SecretName
  /** @default "SHA-256" */
  algorithm?: keyof typeof DIGESTS | undefined
  /** How the signature is written; hex is read in either case. @default "hex" */
  encoding?: SignatureEncoding | undefined
  /** What the header begins with before the signature; without it a request is refused. @default "" */
  prefix?: string | undefined
  /**
   * Takes the header apart where it holds more than one signature: a function, or the names of the
   * fields of a `name=value` list. Of several signatures one must match.
   * @default the header is the signature
   */
  extractSignature?: (((headerValue: string) => Extracted) | SignatureFields) | undefined
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

/** {@link HmacOptions} with the defaults filled in. */
export interface HmacSettings extends HmacOptions {
  digest: string
  encoding: SignatureEncoding
  prefix: string
  timestampUnit: TimestampUnit
}

const oneOf =
  (...values: string[]) =>
  (value: unknown): boolean =>
    typeof value === 'string' && values.includes(value)

const rules: OptionRules = {
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
    is: oneOf(...Object.keys(DIGESTS)),
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

/** Fills in the defaults. @throws InvalidOption */
export function resolveHmacOptions(options: HmacOptions): HmacSettings {
  const resolved = resolveOptions<HmacSettings & { algorithm: keyof typeof DIGESTS }>(
    'hmac',
    rules,
    options,
  )
  if (resolved.toleranceSeconds !== undefined) assertSignedTimestamp(resolved)
  return { ...resolved, digest: DIGESTS[resolved.algorithm] }
}

/** @throws InvalidOption */
function assertSignedTimestamp(settings: HmacOptions): void {
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

function hasTimestamp({ timestampHeader, extractSignature }: HmacOptions): boolean {
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
