import { InvalidVerification } from './invalid-delivery.ts'

export function checkedBody(body: unknown): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw new InvalidVerification(
    'verifyDelivery: "body" must be the body as it was received, a string or bytes: JSON that was parsed and printed again is not what was signed',
  )
}

/** With an empty secret anyone could sign. */
export function checkedSecrets(secret: unknown): string[] {
  const secrets: unknown[] = [secret].flat()
  if (secrets.length > 0 && secrets.every((one) => typeof one === 'string' && one !== '')) {
    return secrets as string[]
  }
  throw new InvalidVerification(
    'verifyDelivery: "secret" must be a secret, or a list of at least one, none of them empty',
  )
}

/** `NaN` would be within every tolerance. */
export function checkedTolerance(toleranceSeconds: unknown): number {
  if (typeof toleranceSeconds === 'number' && toleranceSeconds >= 0) return toleranceSeconds
  throw new InvalidVerification('verifyDelivery: "toleranceSeconds" must be a number of at least 0')
}
