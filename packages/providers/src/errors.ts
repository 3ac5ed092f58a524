/** Why a request is not taken. Each says what was wrong in words that quote nothing of a secret. */

/** What is wrong with a body: see {@link BodyRefused}. */
export type BodyFault = 'not-json' | 'content-type' | 'too-many-fields' | 'charset' | 'encoding'

/** A request that is not taken, whatever its signature. */
export class Refused extends Error {
  override name = 'Refused'
}

/** A body that is not read. The sender has to send another. */
export class BodyRefused extends Refused {
  override name = 'BodyRefused'
  readonly fault: BodyFault
  /** What the sender has to send, in words: content types, or a number of fields. */
  readonly expected: string

  constructor(fault: BodyFault, reason: string, expected = '') {
    super(reason)
    this.fault = fault
    this.expected = expected
  }
}

/** Why nothing was fetched from a provider. The request that needed it is refused. */
export class NotFetched extends Refused {
  override name = 'NotFetched'
}

/** A provider that did not answer, or too many requests to it. The sender is to try again. */
export class ProviderAway extends Error {
  override name = 'ProviderAway'
}

/** A handshake that is refused. */
export class HandshakeRefused extends Refused {
  override name = 'HandshakeRefused'
}

/** A secret of which nothing is left as a key: anyone could sign with it. */
export class EmptyKey extends Error {
  override name = 'EmptyKey'
  readonly secretName: string

  constructor(secretName: string) {
    super(`the secret ${secretName} is empty`)
    this.secretName = secretName
  }
}

/**
 * A function of the host returned what it must not, or a secret is not what it must be. The message
 * is ours, and quotes nothing of a request or a secret.
 */
export class HostMistake extends TypeError {}
