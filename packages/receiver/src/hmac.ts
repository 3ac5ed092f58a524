/** `X-Svc-Signature`: HMAC-SHA256 with the webhook's secret. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { missingHeader, neededHeader, soleHeader, type DeliveryHeaders } from './headers.ts'
import { checkTimestamp } from './timestamp.ts'

/** @throws InvalidDelivery where a header is missing, or the timestamp is too far from now */
export function hasHmac(
  headers: DeliveryHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  toleranceSeconds: number,
): boolean {
  const timestamp = neededHeader(headers, 'x-svc-timestamp')
  checkTimestamp(timestamp, toleranceSeconds)
  const signatures = readSignatures(headers)
  let matches = false
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
    for (const signature of signatures) {
      // No early return, so that the duration does not reveal which one matched.
      if (timingSafeEqual(signature, expected)) matches = true
    }
  }
  return matches
}

/** The well-formed signatures of both headers: Node's hex decoder stops at other characters. */
function readSignatures(headers: DeliveryHeaders): Buffer[] {
  const values = [
    soleHeader(headers, 'x-svc-signature'),
    soleHeader(headers, 'x-svc-signature-previous'),
  ].filter((value) => value !== undefined)
  if (values.length === 0) throw missingHeader('x-svc-signature')
  return values
    .filter((value) => /^sha256=[0-9a-f]{64}$/i.test(value))
    .map((value) => Buffer.from(value.slice('sha256='.length), 'hex'))
}
