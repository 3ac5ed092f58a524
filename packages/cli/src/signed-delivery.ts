/** A delivery as a host sends it: its envelope, its headers and its signatures. */
import { ownSignature, standardSignature } from '@svc/receiver/internal'

export interface Delivery {
  event: string
  payload: unknown
  deliveryId: string
  tenant: string | null
}

export function signedDelivery(
  { event, payload, deliveryId, tenant }: Delivery,
  secret: string,
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({ event, payload, deliveryId })
  const bytes = Buffer.from(body)
  const timestamp = Math.floor(Date.now() / 1000)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-svc-delivery-id': deliveryId,
      'x-svc-event': event,
      'x-svc-attempt': '1',
      'x-svc-timestamp': String(timestamp),
      'x-svc-signature': ownSignature(secret, timestamp, bytes),
      ...(tenant !== null && { 'x-svc-tenant': tenant }),
      ...(secret.startsWith('whsec_') && {
        'webhook-id': deliveryId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': standardSignature(secret, deliveryId, timestamp, bytes),
      }),
    },
  }
}
