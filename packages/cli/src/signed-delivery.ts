/** A delivery as @svc/webhooks makes it: its envelope, its headers and its signatures. */
import { createHmac } from 'node:crypto'

export interface Delivery {
  event: string
  payload: unknown
  deliveryId: string
  tenant: string | null
}

const PREFIX = 'whsec_'

export function signedDelivery(
  { event, payload, deliveryId, tenant }: Delivery,
  secret: string,
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({ event, payload, deliveryId })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-svc-delivery-id': deliveryId,
      'x-svc-event': event,
      'x-svc-attempt': '1',
      'x-svc-timestamp': timestamp,
      'x-svc-signature': `sha256=${signature}`,
      ...(tenant !== null && { 'x-svc-tenant': tenant }),
      ...(secret.startsWith(PREFIX) && standardHeaders(secret, deliveryId, timestamp, body)),
    },
  }
}

/** Standard Webhooks 1.0: the key is the base64 of the secret. */
function standardHeaders(secret: string, id: string, timestamp: string, body: string) {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}
