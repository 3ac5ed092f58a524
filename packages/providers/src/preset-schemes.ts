/** How the requests of a row are verified. preset.ts defines what a place and a text are. */
import type { Reading } from './engine/places.ts'
import type { Found } from './engine/signature.ts'
import type { CertificateText, Place, Text, When } from './preset.ts'

export type Scheme = SignatureScheme | JwtScheme | TokenScheme | BasicScheme

interface EveryScheme {
  /** Fixed values that this scheme demands, for instance a version. @default none */
  when?: When
  /** The scheme is for secrets that begin so, and the others of the row are not. @default any */
  secretBegins?: string
  /**
   * Every item of `split` is verified, by places `item:…`, and an item that fails refuses the
   * request. @default false
   */
  eachItem?: boolean
  /** Values that must be the digest of something: what binds a body to a signed URL or JWT. */
  binds?: readonly Binding[]
}

/** A keyed hash, or a signature with a public key. */
export interface SignatureScheme extends EveryScheme {
  algorithm:
    | 'hmac-sha1'
    | 'hmac-sha256'
    | 'hmac-sha384'
    | 'hmac-sha512'
    /** Not keyed: `{secret}` is part of `signed`. */
    | 'sha1'
    | 'sha256'
    | 'rsa-sha1'
    | 'rsa-sha256'
    /** P-256, the signature in DER. */
    | 'ecdsa-sha256'
    | 'ed25519'
  /** The place of the signature. One of several places must match. */
  signature: SignaturePlace
  encoding: 'hex' | 'base64' | 'base64url'
  /** How the key is made of the secret. @default its text in UTF-8; of a public key: PEM */
  key?: Key
  /** What is signed. @default '{body}' */
  signed?: Text
  timestamp?: Timestamp
  /** Headers that the sender names in the request and signs. */
  covers?: Covers
  /**
   * The secret as it is counts as a signature: the customer may have the provider send it so.
   * @default false
   */
  orSecret?: true
  /** In which other variants `{url}` may be signed; one of all must match. @default as it was sent */
  urls?: UrlVariants
  /**
   * The value of `signed` that may hold the text between the values. All others may not, where the
   * signed text could be taken apart in two ways otherwise. @default see engine/signed-text.ts
   */
  open?: Place
}

/** What a host may say of a signature of its own in functions. No row has one. */
export interface OwnSignature extends SignatureScheme {
  /** Finds the signatures. @default by `signature` */
  extract?: ((reading: Reading) => Found | undefined) | undefined
  /** Builds what is signed. @default by `signed` */
  compute?: ((reading: Reading) => (string | Uint8Array)[]) | undefined
  /** Makes the key of a secret. @default by `key` */
  makeKey?: ((secret: string) => string | Uint8Array) | undefined
}

export interface UrlVariants {
  /** With the port, without it, with that of the scheme. */
  anyPort?: true
  /** As a browser spells it. */
  normalised?: true
  /** With the escapes of these characters decoded. */
  decode?: string
  /**
   * Names of fields that neither its query nor a parameter of its path holds, unless `=` follows. Where
   * the fields follow the URL without anything between, a field could be moved there otherwise.
   */
  without?: readonly string[]
}

export interface SignaturePlace {
  /** `header:…`, `json:…`, `form:…` or `item:…`; of several places one must match. */
  in: Place | readonly Place[]
  /** The header is a list, with this between its elements, or any of these. @default one signature */
  separator?: string | readonly string[]
  /** What each signature begins with; one without it does not count. @default '' */
  prefix?: string
  /**
   * The header is a list of `name=value`: the name of those with a signature. @default it is not a
   * list
   */
  field?: string
}

export interface Key {
  /** Taken off the secret where it begins so, one after the other. */
  strip?: string | readonly string[]
  /** The rest is the key's bytes in this encoding. @default 'text' */
  encoding?: 'text' | 'hex' | 'base64'
  /** The key is the digest of that. @default it is that */
  hash?: 'sha1' | 'sha256'
  /** For a public key: its raw bytes, `SubjectPublicKeyInfo` (DER), or PEM. @default 'pem' */
  form?: 'raw' | 'spki' | 'pem'
  /** For a public key that the request names: an X.509 certificate at this URL. */
  certificate?: Certificate
  /** For a public key of a key set (RFC 7517). */
  jwks?: KeySet
}

/** Something to fetch. Any other address is never contacted. */
export interface Fetched {
  url: Text
  /**
   * Patterns of whole addresses: `*` stands for letters, digits, `-` and `_`, `{region}` for a
   * region of AWS, `{query}` for a query. @default the URL itself, which must be fixed text then
   */
  at?: readonly string[]
}

export interface KeySet extends Fetched {
  /** The place of the key's id. @default that of the JWT; else each key of the set is tried */
  kid?: Place
}

/** A chain of certificates that a JWT holds itself (RFC 7515, section 4.1.6). */
export interface Chain {
  /** Roots of the provider: the option `rootCertificates` replaces them. */
  roots: readonly CertificateText[]
  /** An extension that the certificates must have, by their place in the chain: the leaf is first. */
  extensions: readonly [leaf: string, intermediate: string]
}

export interface Certificate extends Fetched {
  /**
   * The name that it must have (CN); `*` matches one label. @default any: it is trusted for the
   * host that serves it
   */
  names?: readonly string[]
  /**
   * Its chain must lead to a root that Node trusts. Issuers that its file does not hold are fetched
   * from these addresses, as PEM: patterns as those of `at`.
   * @default the chain is not followed: it is trusted for the host that serves it
   */
  issuers?: readonly string[]
}

export interface Timestamp {
  in: Place
  /** `either`: seconds or milliseconds, by their number of digits. @default 'seconds' */
  unit?: 'seconds' | 'milliseconds' | 'either' | 'rfc3339'
  /** How far from now, into the past and into the future. */
  toleranceSeconds: number
}

export interface Covers {
  /** The place of the names of the headers. */
  names: Place
  /** These must be named. */
  required?: readonly string[]
  /** These must be named if the request has them: a type or an id that is read from them. */
  ifSent: readonly string[]
  /** The one whose value may hold `join`. @default none */
  open?: string
  /** The separator of the names. */
  separator: string
  /** How each is written into `{covered}`: of `{name}` and `{value}`. */
  each: Text
  /** Their separator. */
  join: string
}

export interface Binding {
  /** Of several places the first that is there. */
  in: Place | readonly Place[]
  /** @default '{body}' */
  of?: Text
  /** @default the text itself */
  hash?: 'sha256'
  /** @default 'hex' */
  encoding?: 'hex' | 'base64' | 'base64url'
  /** Both may be absent. @default false */
  orAbsent?: true
  /** It is judged only where the host has given the option that `of` names. @default false */
  ifGiven?: true
}

/** A JWT that authenticates the request (RFC 7519). */
export interface JwtScheme extends EveryScheme {
  algorithm: 'jwt'
  in: Place
  /** The text before it. @default '' */
  prefix?: string
  /** Another `alg` is refused, `none` always. */
  algorithms: readonly ('HS256' | 'RS256' | 'RS512' | 'ES256' | 'EdDSA')[]
  /**
   * `secret`: the secret is the shared key, or the public key in PEM. `jwks`: a key set to fetch.
   * `jwk`: one key for each `kid`, requested with a POST of `json`, found in `field` of the answer.
   * `x5c`: the certificates of the JWT have it.
   */
  key:
    | 'secret'
    | { jwks: KeySet }
    | { x5c: Chain }
    | { jwk: Fetched & { json: Readonly<Record<string, Text>>; field: string } }
  issuer?: string
  audience?: string
  /**
   * What is signed, where the JWT does not hold it (RFC 7515, appendix F). @default its claims, which it
   * holds
   */
  detached?: Text
  /** Where the time is, and its unit. @default `iat` */
  time?: Pick<Timestamp, 'in' | 'unit'>
  /**
   * How old `iat` may be, or the time at `time`, which is required then. @default `exp` is required. Where it is there, it
   * is judged in either case, and so is `nbf`.
   */
  toleranceSeconds?: number
  /** There is no time that must be judged. @default false */
  timeless?: true
}

/** A shared token, which the request shows as it is. */
export interface TokenScheme extends EveryScheme {
  algorithm: 'token'
  in: Place
  /** The text before it. @default '' */
  prefix?: string
  /** That text may be missing. @default false */
  mayLackPrefix?: boolean
}

/** HTTP Basic credentials: the option `username`, and the secret as the password. */
export interface BasicScheme extends EveryScheme {
  algorithm: 'basic'
}
