/** Where each error has its part, under its code in small letters. */
const DOCS = 'https://svc.example/reference/errors#'

/** Why a delivery was refused. */
export type InvalidDeliveryCode =
  /** A header of the signature is missing, or came more than once: the message names it. */
  | 'SVC_DELIVERY_HEADER_MISSING'
  /** The timestamp is not plain digits, or further from now than `toleranceSeconds`. */
  | 'SVC_DELIVERY_OUTSIDE_TOLERANCE'
  /** No signature matches the key, this timestamp and this body. */
  | 'SVC_DELIVERY_SIGNATURE_MISMATCH'
  /** The signature matches, but the body is not JSON: it is not one of our deliveries. */
  | 'SVC_DELIVERY_BODY_NOT_JSON'

/** A request that is not one of our deliveries, or is too old. Answer it with `statusCode`. */
export class InvalidDelivery extends Error {
  override readonly name = 'InvalidDelivery'
  readonly code: InvalidDeliveryCode
  readonly statusCode: 400 | 401
  /** The address of its part of the reference. */
  readonly docs: string

  constructor(code: InvalidDeliveryCode, message: string) {
    super(message)
    this.code = code
    this.docs = addressOf(code)
    this.statusCode = code === 'SVC_DELIVERY_BODY_NOT_JSON' ? 400 : 401
  }
}

/** `verifyDelivery` was called wrongly: a mistake of the receiving program, not of the request. */
export class InvalidVerification extends TypeError {
  override readonly name = 'InvalidVerification'
  readonly code = 'SVC_DELIVERY_INVALID_VERIFICATION'
  readonly statusCode = 500
  /** The address of its part of the reference. */
  readonly docs = addressOf(this.code)
}

const addressOf = (code: string): string => DOCS + code.toLowerCase().replaceAll('_', '-')
