export { verifyDelivery, type Delivery, type VerifyDeliveryOptions } from './verify-delivery.ts'
export {
  InvalidDelivery,
  InvalidVerification,
  type InvalidDeliveryCode,
} from './invalid-delivery.ts'
