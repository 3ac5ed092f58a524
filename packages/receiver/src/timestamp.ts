import { InvalidDelivery } from './invalid-delivery.ts'

/** @throws InvalidDelivery */
export function checkTimestamp(timestamp: string, toleranceSeconds: number): void {
  const nowSeconds = Math.floor(Date.now() / 1000)
  const isTimely =
    /^\d{1,13}$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= toleranceSeconds
  if (isTimely) return
  throw new InvalidDelivery(
    'SVC_DELIVERY_OUTSIDE_TOLERANCE',
    `the timestamp of the delivery is not within ${toleranceSeconds} seconds of now`,
  )
}
