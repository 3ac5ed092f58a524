// Requests as the verify helpers see them, without a server.
import { createHmac } from 'node:crypto'
import type { InboundRequest, SecretLookup } from '@svc/webhooks'

/** A request with these header lines, in which a name may stand more than once. */
export function received(
  lines: readonly (readonly [name: string, value: string])[],
  body: string | Buffer = '{}',
): InboundRequest {
  return {
    method: 'POST',
    url: '/hooks',
    headers: Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: lines.flat(),
    rawBody: Buffer.from(body as string),
  } as unknown as InboundRequest
}

/** Every name is that of this secret. */
export const holding =
  (secret: string | null): SecretLookup =>
  () =>
    secret

export const sign = (text: string | Buffer, key = 'a key', algorithm = 'sha256'): Buffer =>
  createHmac(algorithm, key).update(text).digest()
