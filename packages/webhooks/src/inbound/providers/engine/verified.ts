import type { List } from './request-places.ts'

/** What a verification has found signed in a request, for deduplication keys and types of events. */
export interface Verified {
  /** The claims of the JWT. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /** The variant of the public URL that was signed. */
  url?: string | undefined
  /** The header of the signature, where it is a list. */
  list?: List | undefined
  /** The headers that the sender has named and signed, lower-cased. */
  coveredNames?: ReadonlySet<string> | undefined
}

const known = new WeakMap<object, Verified>()

export const recordVerified = (request: object, verified: Verified): void =>
  void known.set(request, verified)

export const verifiedOf = (request: object): Verified => known.get(request) ?? {}
