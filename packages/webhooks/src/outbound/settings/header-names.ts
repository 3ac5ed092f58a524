/** The names of the headers of a delivery that are ours: all of them begin with the prefix of the host. */

export const DEFAULT_PREFIX = 'X-Svc-'

/**
 * The same rule as that of the option `headerPrefix` of `@svc/receiver`. What HTTP's own names, and those of
 * Standard Webhooks, begin with is refused: a header of ours could be one of theirs.
 */
const PREFIX =
  /^(?!(?:accept|access-control|content|if|proxy|sec|transfer|webhook|x-forwarded)-)[a-z][a-z0-9-]*-$/i
const LONGEST_PREFIX = 32

export const isHeaderPrefix = (prefix: unknown): boolean =>
  typeof prefix === 'string' && prefix.length <= LONGEST_PREFIX && PREFIX.test(prefix)

export interface HeaderNames {
  prefix: string
  signature: string
  signaturePrevious: string
  timestamp: string
  deliveryId: string
  event: string
  attempt: string
  tenant: string
  test: string
}

export const headerNames = (prefix: string): HeaderNames => ({
  prefix,
  signature: `${prefix}Signature`,
  signaturePrevious: `${prefix}Signature-Previous`,
  timestamp: `${prefix}Timestamp`,
  deliveryId: `${prefix}Delivery-Id`,
  event: `${prefix}Event`,
  attempt: `${prefix}Attempt`,
  tenant: `${prefix}Tenant`,
  test: `${prefix}Test`,
})
