// Genuine and forged requests of many providers: what each is, and how a receiver sees it.
import type { InboundRequest, SecretLookup } from '@svc/webhooks'
import type { Vector } from '../../providers/vectors.ts'

export { vectors, type Vector } from '../../providers/vectors.ts'

/** The request as the functions of a source see it. */
export function requestOf({ headers, body, method, url }: Vector): InboundRequest {
  const at = new URL(url ?? 'https://example.com/hooks')
  return {
    method,
    url: url ? url.slice(url.indexOf('/', at.protocol.length + 2)) : '/hooks',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    rawBody: Buffer.from(body),
    params: {},
  } as unknown as InboundRequest
}

/** Where the sender sees the receiver: scheme, host and port as they are written. */
export function originOf({ url = 'https://example.com/hooks' }: Vector): string {
  return url.slice(0, url.indexOf('/', url.indexOf('//') + 2))
}

/** What the receiver holds, by the kind of secret that its name tells. */
export function secretsOf(vector: Vector): SecretLookup {
  return (name) => {
    if (name.endsWith('PUBLIC_KEY')) return vector.publicKey ?? null
    if (name.endsWith('CERTIFICATE')) return vector.certificate ?? null
    if (name.endsWith('WEBHOOK_ID')) return vector.webhookId ?? null
    return [vector.secret].flat()[name.includes('SECONDARY') ? 1 : 0] ?? null
  }
}
