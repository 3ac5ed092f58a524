import { isUtf8 } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { SecretMissing } from '../errors.ts'
import { expectSecrets } from '../expected-secrets.ts'
import type { InboundRequest, Verify } from '../source.ts'
import { soleHeader } from './header.ts'
import { type HmacOptions, type HmacSettings, settleHmac } from './hmac-options.ts'
import { refuse } from './refusal.ts'
import { neededSecret } from './secret.ts'
import { signatureBytes } from './signature.ts'
import { readFields, readWith, type SignedHeader } from './signed-header.ts'
import { isTimely } from './timestamp.ts'

/**
 * Verifies an HMAC that stands in a header, over the bytes of the body or over what
 * `computePayload` makes of it.
 *
 * @throws InvalidOption when it is called, which is at boot
 */
export function hmac(options: HmacOptions): Verify {
  const settings = settleHmac(options)
  const verify: Verify = async (request, body, secret) => {
    const key = keyOf(settings, await neededSecret(secret, settings.secretName))
    const signed = readSigned(request, settings)
    if (!signed) return false
    const { toleranceSeconds, timestampUnit } = settings
    if (
      toleranceSeconds !== undefined &&
      !isTimely(signed.timestamp ?? '', timestampUnit, toleranceSeconds, Date.now())
    ) {
      return refuse(
        request,
        'the timestamp is missing, not plain digits, or outside of the tolerance',
      )
    }
    const expected = createHmac(settings.digest, key)
      .update(signedBytes(settings, request, body, signed.timestamp ?? ''))
      .digest()
    return (
      matchesOne(signed.signatures, expected, settings) || refuse(request, 'no signature matches')
    )
  }
  return expectSecrets(verify, [settings.secretName])
}

function keyOf({ key, secretName }: HmacSettings, secret: string): string | Uint8Array {
  const made = key ? key(secret) : secret
  if (made.length === 0) throw new SecretMissing(secretName)
  return made
}

function readSigned(request: InboundRequest, settings: HmacSettings): SignedHeader | undefined {
  const { signatureHeader, prefix, extractSignature, timestampHeader } = settings
  const header = soleHeader(request, signatureHeader)
  if (header === undefined) return undefined
  const signed = header.startsWith(prefix)
    ? readHeader(header.slice(prefix.length), extractSignature)
    : undefined
  if (!signed) {
    refuse(request, `the header ${signatureHeader} cannot be read`)
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
 * A payload is computed as text, and a body need not be UTF-8: one that is not is handed over with
 * one character for each byte, and its payload read back in the same way, so that no byte is lost.
 */
function signedBytes(
  { computePayload }: HmacSettings,
  request: InboundRequest,
  body: string,
  timestamp: string,
): Uint8Array {
  const bytes = request.rawBody ?? Buffer.from(body)
  if (!computePayload) return bytes
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  const payload = computePayload(bytes.toString(encoding), timestamp, request)
  return typeof payload === 'string' ? Buffer.from(payload, encoding) : payload
}

/** Every signature is compared, also after one that matched. */
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
