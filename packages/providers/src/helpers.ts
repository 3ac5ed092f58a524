/**
 * Verifications that a host describes itself, as schemes: `hmac`, `basicAuth`, `bearerToken` and
 * `headerToken`. Each is a row of one scheme.
 */
import { Buffer, isUtf8 } from 'node:buffer'
import type { Found } from './engine/signature.ts'
import { fieldsOf, type Reading } from './engine/places.ts'
import type { SentRequest } from './engine/sent.ts'
import type { OwnSignature, TokenScheme } from './preset-schemes.ts'

/** How a signature is written. */
export type SignatureEncoding = 'hex' | 'base64'

/** The unit of a timestamp, counted since 1970. */
export type TimestampUnit = 'seconds' | 'milliseconds'

/** A signature as a host's function finds it. One of its signatures must match. */
export interface ExtractedSignature {
  signature: string | readonly (string | undefined)[] | undefined
  timestamp?: string | number | undefined
}

/** Names the fields of a header such as `t=1700000000,v1=5257a8…,v1=98b0…`. */
export interface SignatureFields {
  /** Name of the field that holds the signature; the field may be repeated. */
  signature: string
  /** Name of the field that holds the timestamp. @default none */
  timestamp?: string | undefined
  /** Text between two fields. @default "," */
  separator?: string | undefined
}

/** The result of a host's function; `null` or `undefined` if it cannot read the header. */
export type Extracted =
  | ExtractedSignature
  | string
  | readonly (ExtractedSignature | string)[]
  | null
  | undefined

/** A signature of a host's own. */
export interface HmacSettings<Request extends SentRequest = SentRequest> {
  signatureHeader: string
  algorithm: 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512'
  encoding: SignatureEncoding
  prefix: string
  extractSignature?: ((headerValue: string) => Extracted) | SignatureFields | undefined
  timestampHeader?: string | undefined
  timestampUnit: TimestampUnit
  toleranceSeconds?: number | undefined
  computePayload?:
    | ((body: string, timestamp: string, request: Request) => string | Uint8Array)
    | undefined
  key?: ((secret: string) => string | Uint8Array) | undefined
}

const ALGORITHMS = {
  'SHA-1': 'hmac-sha1',
  'SHA-256': 'hmac-sha256',
  'SHA-384': 'hmac-sha384',
  'SHA-512': 'hmac-sha512',
} as const

export function hmacScheme<Request extends SentRequest>(
  settings: HmacSettings<Request>,
): OwnSignature {
  const { signatureHeader, toleranceSeconds, computePayload } = settings
  return {
    algorithm: ALGORITHMS[settings.algorithm],
    signature: { in: `header:${signatureHeader}` },
    encoding: settings.encoding,
    extract: (reading) => extracted(reading, settings),
    ...(toleranceSeconds !== undefined && {
      // `extract` finds it.
      timestamp: { in: 'field:', unit: settings.timestampUnit, toleranceSeconds },
    }),
    ...(computePayload && {
      compute: (reading: Reading) => [computed(reading, computePayload as Compute)],
    }),
    makeKey: settings.key,
  }
}

function extracted(
  { sent }: Reading,
  { signatureHeader, prefix, extractSignature, timestampHeader }: HmacSettings<never>,
): Found | undefined {
  const header = sent.header(signatureHeader)
  if (header === undefined) return undefined
  const found = header.startsWith(prefix)
    ? signaturesIn(header.slice(prefix.length), extractSignature)
    : undefined
  if (!timestampHeader || !found) return found
  const timestamp = sent.header(timestampHeader)
  return timestamp === undefined ? undefined : { ...found, timestamp }
}

function signaturesIn(
  header: string,
  extract: HmacSettings['extractSignature'],
): Found | undefined {
  if (!extract) return { signatures: [header] }
  if (typeof extract === 'function') return foundWith(extract, header)
  const list = { text: header, separator: extract.separator ?? ',' }
  const signatures = fieldsOf(list, extract.signature)
  if (extract.timestamp === undefined) return { signatures }
  const [timestamp, ...others] = fieldsOf(list, extract.timestamp)
  // Two timestamps are refused: one might be the signed one and the other the checked one.
  return timestamp === undefined || others.length > 0 ? undefined : { signatures, timestamp }
}

/** Reads with a host's function, which may throw at a malformed header. */
function foundWith(extract: (header: string) => Extracted, header: string): Found | undefined {
  let found: Extracted
  try {
    found = extract(header)
  } catch {
    return undefined
  }
  const entries = [found ?? []]
    .flat()
    .map((one) => (typeof one === 'string' ? { signature: one } : one))
  const signatures = entries
    .flatMap((entry) => entry?.signature ?? [])
    .filter((one) => typeof one === 'string')
  const timestamps = new Set(
    entries
      .map((entry) => entry?.timestamp ?? undefined)
      .filter((one) => typeof one === 'string' || typeof one === 'number')
      .map(String),
  )
  if (entries.length === 0 || timestamps.size > 1) return undefined
  return { signatures, timestamp: [...timestamps][0] }
}

type Compute = (body: string, timestamp: string, request: SentRequest) => string | Uint8Array

/**
 * `computePayload` takes text, and a body need not be UTF-8. A body that is not UTF-8 is passed with
 * one character for each byte, and the result is read back in the same way: each byte is kept.
 */
function computed({ sent, timestamp = '' }: Reading, compute: Compute): Uint8Array {
  const { bytes } = sent
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  const payload = compute(bytes.toString(encoding), timestamp, sent.request)
  return typeof payload === 'string' ? Buffer.from(payload, encoding) : payload
}

/** In another header than `authorization` the token may come without `Bearer`. */
export const bearerScheme = (header: string): TokenScheme => ({
  algorithm: 'token',
  in: `header:${header}`,
  prefix: 'Bearer ',
  mayLackPrefix: header.toLowerCase() !== 'authorization',
})

/** The token is the whole value of the header. */
export const tokenInHeader = (header: string): TokenScheme => ({
  algorithm: 'token',
  in: `header:${header}`,
})
