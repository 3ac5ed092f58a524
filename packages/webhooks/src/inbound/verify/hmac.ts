import { isUtf8 } from 'node:buffer'
import { timingSafeEqual } from 'node:crypto'
import { hmacOf } from '../../hmac-of.ts'
import { SecretMissing } from '../errors.ts'
import type { InboundRequest, Verify } from '../source.ts'
import { reject, soleHeader } from './checks.ts'
import { hideHeaders } from './secret-headers.ts'
import { expectNames, secretsOf, type NamedSecret } from './secret-names.ts'
import { type HmacOptions, type HmacSettings, resolveHmacOptions } from './hmac-options.ts'
import { signatureBytes } from './signature.ts'
import { readFields, readWith, type SignedHeader } from './signed-header.ts'
import { isTimely, millisecondsOf } from './timestamps.ts'

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
  const settings = resolveHmacOptions(options)
  const verify: Verify = async (request, body, secret) => {
    const secrets = await secretsOf(request, secret, settings.secretName)
    if (secrets.length === 0) return false
    const keys = secrets.map((one) => hmacKey(settings, one))
    const signed = readSigned(request, settings)
    if (!signed) return false
    const { toleranceSeconds, timestampUnit } = settings
    const sentAt = millisecondsOf(signed.timestamp ?? '', timestampUnit)
    if (
      toleranceSeconds !== undefined &&
      (sentAt === undefined || !isTimely(sentAt, timestampUnit, toleranceSeconds, Date.now()))
    ) {
      return reject(request, 'the timestamp is missing, not plain digits, or outside the tolerance')
    }
    const bytes = signedBytes(settings, request, body, signed.timestamp ?? '')
    const isRight = keys
      .map((key) => hmacOf(settings.digest, key).update(bytes).digest())
      .map((expected) => matchesOne(signed.signatures, expected, settings))
      .includes(true)
    return isRight || reject(request, 'no signature matches')
  }
  return expectNames(hideHeaders(verify, [settings.signatureHeader]), settings.secretName)
}

function hmacKey({ key }: HmacSettings, { name, value }: NamedSecret): string | Uint8Array {
  const bytes = key ? key(value) : value
  if (bytes.length === 0) throw new SecretMissing(name)
  return bytes
}

function readSigned(request: InboundRequest, settings: HmacSettings): SignedHeader | undefined {
  const { signatureHeader, prefix, extractSignature, timestampHeader } = settings
  const header = soleHeader(request, signatureHeader)
  if (header === undefined) return undefined
  const signed = header.startsWith(prefix)
    ? readHeader(header.slice(prefix.length), extractSignature)
    : undefined
  if (!signed) {
    reject(request, `the header ${signatureHeader} cannot be read`)
    return undefined
  }
  if (!timestampHeader) return signed
  const timestamp = soleHeader(request, timestampHeader)
  return timestamp === undefined ? undefined : { ...signed, timestamp }
}

function readHeader(
  header: string,
  extract: HmacSettings['extractSignature'],
): SignedHeader | undefined {
  if (!extract) return { signatures: [header], timestamp: undefined }
  if (typeof extract === 'function') return readWith(extract, header)
  const signed = readFields(header, extract)
  return extract.timestamp !== undefined && signed?.timestamp === undefined ? undefined : signed
}

/**
 * `computePayload` takes text, and a body need not be UTF-8. A body that is not UTF-8 is passed with
 * one character for each byte, and the result is read back in the same way: no byte is lost.
 */
function signedBytes(
  { computePayload }: HmacSettings,
  request: InboundRequest,
  body: string,
  timestamp: string,
): Uint8Array {
  const bytes = request.rawBody ?? Buffer.from(body)
  if (!computePayload) return bytes
  const isText = isUtf8(bytes)
  const text = bytes.toString(isText ? 'utf8' : 'latin1')
  const payload = computePayload(text, timestamp, request)
  return typeof payload === 'string' ? Buffer.from(payload, isText ? 'utf8' : 'latin1') : payload
}

/** Compares every signature, even after a match, so that the duration reveals nothing. */
function matchesOne(
  signatures: readonly string[],
  expected: Buffer,
  { encoding }: HmacSettings,
): boolean {
  return signatures
    .map((text) => signatureBytes(text, encoding, expected.length))
    .map((given) => given !== undefined && timingSafeEqual(given, expected))
    .includes(true)
}
