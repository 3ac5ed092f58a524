/**
 * What a provider signs, and how, as plain data: the rows in `table/` are read like a reference, and
 * one engine (`engine/`) carries them out. A row holds no function and no regular expression.
 *
 * A *place* says where a value stands in a request, a *text* is built of places:
 *
 * | place                  | value                                                              |
 * | ---------------------- | ------------------------------------------------------------------ |
 * | `header:x-topic`       | a header, which the request must carry once; `undefined` otherwise |
 * | `query:hub.mode`       | a parameter of the query, which must stand there once              |
 * | `json:data.object.id`  | a string, number or boolean of the JSON body; `json:items.0.id`    |
 * | `key:message,poll`     | the first of these names that the JSON body has a value under      |
 * | `form:payload`         | a field of the form body, which must stand there once              |
 * | `form:payload#type`    | the same, where the field's text is JSON: `type` in that           |
 * | `item:sg_event_id`     | as `json:`, in the item of a batch (`split`)                       |
 * | `field:t`              | a field of the signature's header (`t=…,v1=…`), which must stand there once |
 * | `claim:iat`            | a claim of the JWT, `claim:kid` included                           |
 * | `option:topicArn`      | an option that the host has given                                  |
 *
 * A text has places in braces, `{timestamp}.{body}`, and besides: `{body}` the bytes of the body,
 * `{timestamp}` the text at the scheme's timestamp, `{method}`, `{url}` the public origin, path and
 * query, `{path}` path and query, `{params}` name and value of the form fields, sorted, without anything between,
 * `{covered}` what `covers` builds, `{secret}`, `{crc32}` of the body as a decimal, and
 * `{hmac-hex:json:plainToken}` or `{hmac-base64:…}`, the HMAC-SHA-256 of a place with the secret.
 * A text with an absent value is absent itself; `{header:x-tag|}` has a default after the bar, and
 * a part in brackets that holds a value, `[Subject\n{json:Subject}\n]`, is left out where that is absent.
 */

/** Where a value stands. */
export type Place =
  `${'header' | 'query' | 'json' | 'key' | 'form' | 'item' | 'field' | 'claim' | 'option'}:${string}`

/** Places and fixed text. */
export type Text = string

/** What must stand at these places: one of these texts, or anything (`true`), or nothing (`false`). */
export type When = Readonly<Partial<Record<Place, string | readonly string[] | boolean>>>

export interface Preset {
  /** The name for people, for instance `GitHub`. */
  name: string
  /** The provider's own page about its signatures. */
  docs: string
  /**
   * What the row was checked against: a `vector` that the provider has published and that is in
   * `@svc/webhooks/vectors`, its own `sdk`, or its `documentation`.
   */
  checked: 'vector' | 'sdk' | 'documentation'
  /** What exactly was read: package and version, repository and path, or the page. */
  evidence: string
  /** What the secret is, in the provider's words; `null` where the provider has public keys to fetch. */
  secret: string | null
  /** Options that the host must give besides `path` and `secretName`. @default none */
  needs?: readonly Need[]
  /**
   * How requests are verified. The first counts whose `when` holds and whose signature the request
   * carries: no weaker one is tried where that refuses.
   */
  schemes: readonly Scheme[]
  /** Reads a body as this whatever its content type says: SNS sends JSON as `text/plain`. */
  reads?: 'json'
  /**
   * The list that is published as one event each: where it stands in the JSON body, `''` for the body
   * itself. An object in its place is one item. @default the body is one event
   */
  split?: string
  /**
   * The event's type, without the provider: the first of these texts that is there. @default 'event'
   * The event is called `<id>.<type>`.
   */
  type?: Text | readonly Text[]
  /** What a repeat shares with the first: the first of these texts that is there. @default none */
  deduplicate?: Text | readonly Text[]
  /** Requests that ask for an answer and are no events. @default none */
  handshakes?: readonly Handshake[]
  /** The answer to what was accepted, and to repeats. @default 200, { status, eventId } */
  answer?: Answer
  /** What a developer must know besides, in one or two sentences. Goes into the docs. */
  note?: string
}

export type Need =
  /** Scheme, host and port that the provider sends to: it signs the URL. */
  | 'publicOrigin'
  /** Name of the secret that a handshake must show. */
  | 'verifyTokenSecretName'
  /** The topic whose messages are accepted. */
  | 'topicArn'
  /** The id of the webhook at the provider, which is part of what is signed. */
  | 'webhookId'
  /** The account that asks the provider for its keys. */
  | 'clientId'
  /** The account of the sender, to which the provider gives a JWT. */
  | 'serviceAccount'
  /** Whom such a JWT is for. */
  | 'audience'
  /** The user of HTTP Basic credentials. */
  | 'username'

export type Scheme = SignatureScheme | JwtScheme | TokenScheme | BasicScheme

interface EveryScheme {
  /** Fixed values that this scheme demands, for instance a version. @default none */
  when?: When
  /** The scheme is for secrets that begin so, and the others of the row are not. @default any */
  secretBegins?: string
  /** Every item of `split` is verified, by places `item:…`, and one that fails refuses all. @default false */
  eachItem?: boolean
  /** Values that must be the digest of something: what binds a body to a signed URL or JWT. */
  binds?: readonly Binding[]
}

/** A keyed hash, or a signature with a public key. */
export interface SignatureScheme extends EveryScheme {
  algorithm:
    | 'hmac-sha1'
    | 'hmac-sha256'
    | 'hmac-sha512'
    /** Not keyed: `{secret}` stands in `signed`. */
    | 'sha1'
    | 'sha256'
    | 'rsa-sha1'
    | 'rsa-sha256'
    /** P-256, the signature in DER. */
    | 'ecdsa-sha256'
    | 'ed25519'
  /** Where the signature stands. One of several places must match. */
  signature: SignaturePlace
  encoding: 'hex' | 'base64' | 'base64url'
  /** How the key is made of the secret. @default its text in UTF-8; of a public key: PEM */
  key?: Key
  /** What is signed. @default '{body}' */
  signed?: Text
  timestamp?: Timestamp
  /** Headers that the sender names in the request and signs. */
  covers?: Covers
  /** In which other writings `{url}` may be signed; one of all must match. @default as it was sent */
  urls?: UrlWritings
}

export interface UrlWritings {
  /** With the port, without it, with that of the scheme. */
  anyPort?: true
  /** As a browser spells it. */
  normalised?: true
  /** With the escapes of these characters decoded. */
  decode?: string
}

export interface SignaturePlace {
  /** `header:…`, `json:…`, `form:…` or `item:…`; of several places one must match. */
  in: Place | readonly Place[]
  /** The header is a list, with this between its elements, or any of these. @default one signature */
  separator?: string | readonly string[]
  /** What each signature begins with; one without it does not count. @default '' */
  prefix?: string
  /** The header is a list of `name=value`: the name of those with a signature. @default it is none */
  field?: string
}

export interface Key {
  /** Taken off the secret where it begins so. */
  strip?: string
  /** The rest is the key's bytes in this writing. @default 'text' */
  encoding?: 'text' | 'hex' | 'base64'
  /** The key is the digest of that. @default it is that */
  hash?: 'sha1' | 'sha256'
  /** For a public key: its bytes alone, `SubjectPublicKeyInfo` (DER), or PEM. @default 'pem' */
  form?: 'raw' | 'spki' | 'pem'
  /** For a public key that the request names: an X.509 certificate at this URL. */
  certificate?: Certificate
}

/** Something to fetch. A host that is not in the list is not asked. */
export interface Fetched {
  url: Text
  /** `*` stands for one label: `sns.*.amazonaws.com`. */
  hosts: readonly string[]
}

export interface Certificate extends Fetched {
  /** How the path of its address ends. @default '' */
  endsWith?: string
  /** Whom it must be for (CN); `*` stands for one label. @default anyone: the host that has it says who it is */
  names?: readonly string[]
}

export interface Timestamp {
  in: Place
  /** @default 'seconds' */
  unit?: 'seconds' | 'milliseconds' | 'rfc3339'
  /** How far from now, into the past and into the future. @default the age is not judged */
  toleranceSeconds?: number
}

export interface Covers {
  /** Where the names of the headers stand. */
  names: Place
  /** What stands between the names there. */
  separator: string
  /** How each is written into `{covered}`: of `{name}` and `{value}`. */
  each: Text
  /** What stands between them. */
  join: string
}

export interface Binding {
  in: Place
  /** @default '{body}' */
  of?: Text
  /** @default the text itself */
  hash?: 'sha256'
  /** @default 'hex' */
  encoding?: 'hex' | 'base64' | 'base64url'
}

/** A JWT that stands for the request (RFC 7519). */
export interface JwtScheme extends EveryScheme {
  algorithm: 'jwt'
  in: Place
  /** What stands before it. @default '' */
  prefix?: string
  /** Another `alg` is refused, `none` always. */
  algorithms: readonly ('HS256' | 'RS256' | 'ES256' | 'EdDSA')[]
  /**
   * `secret`: the secret is the shared key, or the public key in PEM. `jwks`: a key set to fetch. `jwk`:
   * one key for each `kid`, asked for with a POST of `json`, found in the answer at `at`.
   */
  key:
    | 'secret'
    | { jwks: Fetched }
    | { jwk: Fetched & { json: Readonly<Record<string, Text>>; at: string } }
  issuer?: string
  audience?: string
  /** How old `iat` may be. `exp` and `nbf` are judged where they are there. @default any age */
  toleranceSeconds?: number
}

/** A shared token, which the request shows as it is. */
export interface TokenScheme extends EveryScheme {
  algorithm: 'token'
  in: Place
  /** What stands before it. @default '' */
  prefix?: string
}

/** HTTP Basic credentials: the option `username`, and the secret as the password. */
export interface BasicScheme extends EveryScheme {
  algorithm: 'basic'
}

/** A request that asks for an answer instead of being an event. */
export interface Handshake {
  method: 'GET' | 'HEAD' | 'POST'
  /** How it is told from an event. */
  when?: When
  /** Whether it is verified as events are. @default a POST is, GET and HEAD are not */
  signed?: boolean
  /** A place that must show the secret `verifyTokenSecretName`. */
  verifyToken?: Place
  /** A place with a secret that the host keeps: it is given to `onHandshake`, without which the request is refused. */
  store?: Place
  /** An address that is fetched to say yes. */
  confirm?: Fetched
  answer: Answer
}

export interface Answer {
  /** @default 200 */
  status?: number
  headers?: Readonly<Record<string, Text>>
  /** Sent as `text/plain`. @default no body */
  text?: Text
  /** Sent as JSON, its strings being texts. */
  json?: Readonly<Record<string, Text | number>>
}
