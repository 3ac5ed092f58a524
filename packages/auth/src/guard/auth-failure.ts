/**
 * Why a request is refused. The guard uses this type from the reading of the headers to the log,
 * which shows the `verdict`.
 */
export type AuthFailure =
  | CredentialsFailure
  | KeyFailure
  | PrefixBlocked
  | {
      readonly verdict:
        | 'insufficient scope'
        | 'address not allowed'
        | 'rate limited'
        | 'quota exceeded'
        | 'unavailable'
        | 'plan unknown'
    }

/** No key, or more than one. */
export interface CredentialsFailure {
  readonly verdict: 'missing' | 'ambiguous'
}

/** The key is not valid. */
export interface KeyFailure {
  readonly verdict: 'unknown' | 'revoked' | 'disabled' | 'expired'
  /** `null` where there is no row of the key. */
  readonly keyId: string | null
}

/** The prefix of the key is blocked; the key itself was not checked. */
export interface PrefixBlocked {
  readonly verdict: 'blocked'
  readonly keyId: null
  readonly forMs: number
}

export const UNKNOWN_KEY: KeyFailure = { verdict: 'unknown', keyId: null }

/** The key cannot be checked at the moment. The guard answers 503. */
export class CannotDecide extends Error {}
