import { InvalidDelivery } from './invalid-delivery.ts'

/** Node's headers, or those of a fetch `Request`. */
export type DeliveryHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** Frameworks differ in the case of header names, and in how they show repeated headers. */
export function soleHeader(headers: DeliveryHeaders, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined
  const values = Object.entries(headers)
    .filter(([given]) => given.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
  return values.length === 1 ? values[0] : undefined
}

/** @throws InvalidDelivery */
export function neededHeader(headers: DeliveryHeaders, name: string): string {
  const value = soleHeader(headers, name)
  if (value === undefined) throw missingHeader(name)
  return value
}

export function missingHeader(name: string): InvalidDelivery {
  return new InvalidDelivery(
    'SVC_DELIVERY_HEADER_MISSING',
    `the header ${name} is missing, or came more than once`,
  )
}

/** Recognised by its methods, because a library may have its own `Headers` class. */
function isHeaders(headers: DeliveryHeaders): headers is Headers {
  return typeof headers['get'] === 'function'
}
