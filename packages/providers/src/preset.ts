/**
 * What a provider signs, and how, as plain data: the rows in `presets/` are read like a reference,
 * and one engine (`engine/`) carries them out. A row holds no function and no regular expression.
 *
 * A *place* names a value of a request, a *text* is built of places:
 *
 * | place                  | value                                                              |
 * | ---------------------- | ------------------------------------------------------------------ |
 * | `header:x-topic`       | a header, which the request must carry once; `undefined` otherwise |
 * | `header:x-set#key`     | a field of a header `name=value,name=value`                        |
 * | `covered:x-id`         | a header that the sender has named and signed (`covers`)           |
 * | `query:hub.mode`       | a parameter of the query, which must occur once                    |
 * | `json:data.object.id`  | a string, number or boolean of the JSON body; `json:items.0.id`    |
 * | `key:message,poll`     | the first of these names that the JSON body has a value under      |
 * | `form:payload`         | a field of the form body, which must occur once                    |
 * | `form:payload#type`    | the same, where the field's text is JSON: `type` in that           |
 * | `xml:payload#kind`     | the same, where it is XML in base64                                |
 * | `item:sg_event_id`     | as `json:`, in the item of a batch (`split`)                       |
 * | `field:t`              | a field of the signature's header (`t=…,v1=…`), required once         |
 * | `element:0`            | an element of the signature's header, where that is a list         |
 * | `claim:data.bundleId`  | a claim of the JWT, `claim:kid` included                           |
 * | `option:topicArn`      | an option that the host has given                                  |
 *
 * An option may be a part of a place, of a prefix and of an address to fetch, in braces and with a
 * default: `header:{option:header|x-secret}`.
 *
 * A text has places in braces, `{timestamp}.{body}`, and besides: `{body}` the bytes of the body,
 * `{timestamp}` the text at the scheme's timestamp, `{method}`, `{url}` the public origin, path and
 * query, `{path}` path and query, `{params}` name and value of the form fields, sorted, without
 * anything between, `{covered}` what `covers` builds, `{secret}`, `{crc32}` of the body as a
 * decimal, `{sha256-hex:body}` its digest, `{base64url:body}`, and `{hmac-hex:json:plainToken}` or
 * `{hmac-base64:…}`, the HMAC-SHA-256 of a place with the secret, and `{hmac-sha1-hashed-hex:…}` the
 * HMAC-SHA-1 with the SHA-1 of the secret. A text with an absent value is absent itself; `{header:x-tag|}` has a default after
 * the bar, and a part in brackets that holds a value, `[Subject\n{json:Subject}\n]`, is left out
 * where that is absent.
 */
import type { Fetched, Scheme } from './preset-schemes.ts'

/** The place of a value. */
export type Place =
  `${'header' | 'covered' | 'query' | 'json' | 'key' | 'form' | 'xml' | 'item' | 'field' | 'element' | 'claim' | 'option'}:${string}`

/** Places and fixed text. */
export type Text = string

/** What these places must have: one of these texts, or any value (`true`), or none (`false`). */
export type When = Readonly<Partial<Record<Place, string | readonly string[] | boolean>>>

export interface Preset {
  /** The name for people, for instance `GitHub`. */
  name: string
  /** The provider's own page about its signatures. */
  docs: string
  /**
   * What the row was checked against: a `vector` that the provider has published, its own `sdk`, or its
   * `documentation`.
   */
  checked: 'vector' | 'sdk' | 'documentation'
  /** The day of that check. */
  checkedOn: string
  /** What exactly was read: package and version, repository and path, or the page. */
  evidence: string
  /** What the secret is, in the provider's words; `null` where the provider has public keys to fetch. */
  secret: string | null
  /** Options that the host must give besides the secret. @default none */
  needs?: readonly Need[]
  /** Options that the host may give. @default none */
  mayNeed?: readonly Need[]
  /**
   * How requests are verified. The first counts whose `when` holds and whose signature the request
   * carries: no weaker one is tried where that refuses.
   */
  schemes: readonly Scheme[]
  /**
   * What a body is: a JSON object or list, one or a line of JSON for each of several objects, a form,
   * either, or whatever bytes the sender was given (JSON if they are that, else a text). Any other is
   * refused. @default 'json'
   */
  reads?: 'json' | 'json or lines' | 'form' | 'json or form' | 'any'
  /** The claims of the JWT are the payload. @default the body is */
  publishes?: 'claims'
  /** Content types with which the provider sends JSON, besides those of JSON. @default none */
  contentTypes?: readonly string[]
  /** The field of a form whose JSON is the payload; other fields are left out. @default the form is */
  unwrap?: string
  /** That field has XML in base64, whose elements are the payload. @default JSON */
  unwraps?: 'xml'
  /** Forms without that field are published too. @default false */
  plainForms?: boolean
  /** Places of secrets in the body, besides tokens: they are `***` in what is published. @default none */
  hides?: readonly Place[]
  /**
   * The list whose items are published as one event each: its path in the JSON body, `''` for the
   * body itself. An object in its place is one item. @default the body is one event
   */
  split?: string
  /**
   * The event's type, without the provider: the first of these texts that is there. @default 'event'
   * The event is called `<id>.<type>`.
   */
  type?: Text | readonly Text[]
  /** A type, where a header alone has it: what a test sends that names none. @default 'event' */
  example?: string
  /**
   * What a repeat shares with the first: the first of these texts that is there. All of it must be
   * signed, but for `{type}`, the type in the event's name. @default none
   */
  deduplicate?: Text | readonly Text[]
  /**
   * The provider's own id of a delivery: the first of these texts that is there. It need not be signed.
   * @default `deduplicate`, where that is one value of the body or of a header
   */
  id?: Text | readonly Text[]
  /**
   * For how long a repeat is recognised, where the provider may send the same text anew.
   * @default a day, and longer where a request is taken for longer
   */
  remembersSeconds?: number
  /** Requests that expect an answer and are no events. @default none */
  handshakes?: readonly Handshake[]
  /** The answer to what was accepted, and to repeats. @default 200, { status, eventId } */
  answer?: Answer
  /** Errors are answered without a body. @default false */
  emptyErrors?: boolean
  /** One or two sentences for developers, which are shown in the docs. */
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
  /** The account with which the keys of the provider are fetched. */
  | 'clientId'
  /** The account of the sender, to which the provider gives a JWT. */
  | 'serviceAccount'
  /** Whom such a JWT is for. */
  | 'audience'
  /** The user of HTTP Basic credentials. */
  | 'username'
  /** The header that the customer has chosen at the provider. */
  | 'header'
  /** The part of the provider that the account is of, with keys of its own. */
  | 'region'
  /** The address of the customer's own server at the provider, which has its keys. */
  | 'authUrl'
  /** The public part of the customer's key at the provider. */
  | 'publicKey'
  /** The app whose notifications are accepted. */
  | 'bundleId'
  /** The id of that app in the store. */
  | 'appAppleId'
  /** Certificates that a chain must end at, instead of those of the provider. */
  | 'rootCertificates'

/** A certificate in PEM, in base64, or in its bytes (DER). */
export type CertificateText = string | Uint8Array

interface NeedValues {
  region: 'eu' | 'eu2' | 'sandbox'
  appAppleId: string | number
  rootCertificates: CertificateText | readonly CertificateText[]
}

/** What the option of a need may be. */
export type NeedValue<Name> = Name extends keyof NeedValues ? NeedValues[Name] : string

/** A request that expects an answer instead of being an event. */
export interface Handshake {
  method: 'GET' | 'HEAD' | 'POST'
  /** How it is distinguished from an event. */
  when?: When
  /** Whether it is verified as events are. @default a POST is, GET and HEAD are not */
  signed?: boolean
  /**
   * A place that must be 20 to 32 hexadecimal digits. The answer signs it, and a stranger could have
   * anything signed otherwise. @default none
   */
  digits?: Place
  /** A place that must show the secret `verifyTokenSecretName`. */
  verifyToken?: Place
  /** A place with a secret that the host keeps: it is given to `onHandshake`, without which the request is refused. */
  store?: Place
  /** An address that is fetched to confirm. */
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
