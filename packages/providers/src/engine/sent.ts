/** A request as it was sent, read once for all that use it: its headers, its body, its query. */
import { Buffer, isUtf8 } from 'node:buffer'
import { BodyRefused } from '../errors.ts'

/** What is needed of a request, of whatever server. */
export interface SentRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** The same, where a host rewrites URLs. */
  readonly originalUrl?: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values in turn, with every repeated header. @default those of `headers` */
  readonly rawHeaders?: readonly string[]
  /** @default the text of the body, in UTF-8 */
  readonly rawBody?: Uint8Array
  /** Parameters of the path. */
  readonly params?: unknown
}

export type Form = Readonly<Record<string, readonly string[]>>

/** A header that is a list, and the separator of its elements. */
export interface List {
  text: string
  separator: string | readonly string[]
}

/** What a verification has found signed, for what is read of the request later. */
export interface Verified {
  /** The secret by which it is genuine. */
  secret?: string | undefined
  /** The claims of the JWT. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /** The same as the JSON text that was signed. */
  claimsText?: string | undefined
  /** The variant of the public URL that was signed. */
  url?: string | undefined
  /** The header of the signature, where it is a list. */
  list?: List | undefined
  /** The headers that the sender has named and signed, lower-cased. */
  coveredNames?: ReadonlySet<string> | undefined
}

export class Sent {
  readonly request: SentRequest
  /**
   * Why it was not verified. The sender does not get the reason, since it may be an attacker. It holds
   * nothing of a secret nor of an expected signature.
   */
  reason: string | undefined
  verified: Verified = {}
  #body: string
  #json: { value: unknown } | 'not JSON' | undefined
  #form: Form | undefined
  #query: URLSearchParams | undefined

  constructor(request: SentRequest, body = '') {
    this.request = request
    this.#body = body
  }

  /** The body as text: see {@link bodyText}. */
  get body(): string {
    return this.#body
  }

  /** The same request with its body as this text. */
  as(body: string): this {
    if (body !== this.#body) {
      this.#body = body
      this.#json = undefined
      this.#form = undefined
    }
    return this
  }

  /** The body byte for byte. */
  get bytes(): Buffer {
    const { rawBody } = this.request
    if (rawBody === undefined) return Buffer.from(this.#body)
    return Buffer.isBuffer(rawBody) ? rawBody : Buffer.from(rawBody)
  }

  /** The body as JSON, whatever its content type; `undefined` where it is not JSON. */
  get json(): unknown {
    const json = this.#parsed()
    return json === 'not JSON' ? undefined : json.value
  }

  get isJson(): boolean {
    return this.#parsed() !== 'not JSON'
  }

  #parsed(): { value: unknown } | 'not JSON' {
    if (this.#json === undefined) {
      try {
        this.#json = { value: JSON.parse(withoutMark(this.#body)) }
      } catch {
        this.#json = 'not JSON'
      }
    }
    return this.#json
  }

  get isForm(): boolean {
    return mediaTypeOf(this.request) === 'application/x-www-form-urlencoded'
  }

  /**
   * The fields of a form body: the values of each name, in the charset of the body.
   *
   * @throws BodyRefused where they are too many, or not of that charset
   */
  get form(): Form {
    this.#form ??= formFields(this.bytes, decoderOf(charsetOf(this.request, this.bytes)))
    return this.#form
  }

  /** Path and query as they were sent, which is what a provider signs: a host may rewrite URLs. */
  get target(): string {
    return this.request.originalUrl ?? this.request.url
  }

  /** Parsed by us: the host may have set another parser of queries. */
  get query(): URLSearchParams {
    const start = this.target.indexOf('?')
    this.#query ??= new URLSearchParams(start === -1 ? '' : this.target.slice(start + 1))
    return this.#query
  }

  /**
   * The value of a header that the request carries once. Of a repeated header Node keeps the first
   * value or joins them, and a proxy may have checked another one: a repeated header has none.
   */
  header(name: string): string | undefined {
    const values = this.headerValues(name)
    return values.length === 1 ? values[0] : undefined
  }

  headerValues(name: string): string[] {
    const wanted = name.toLowerCase()
    const { rawHeaders, headers } = this.request
    const values: string[] = []
    if (rawHeaders) {
      for (let line = 0; line < rawHeaders.length; line += 2) {
        const given = rawHeaders[line] ?? ''
        if (given.length !== wanted.length || given.toLowerCase() !== wanted) continue
        values.push(rawHeaders[line + 1] ?? '')
      }
      return values
    }
    // A plain `{ headers }` is read too, so that a host can try its source without a server.
    for (const [given, value = []] of Object.entries(headers)) {
      if (given.toLowerCase() === wanted) values.push(...[value].flat())
    }
    return values
  }

  /** The values of all headers by name, lower-cased: for more names than the headers are searched for. */
  valuesByName(): Record<string, string[]> {
    const { rawHeaders, headers } = this.request
    const lines = rawHeaders ?? Object.entries(headers).flatMap(linesOf)
    // Not a Map: it hashes integers to themselves, so that a sender can choose names that collide.
    const values = Object.create(null) as Record<string, string[]>
    for (let line = 0; line < lines.length; line += 2) {
      const name = (lines[line] ?? '').toLowerCase()
      ;(values[name] ??= []).push(lines[line + 1] ?? '')
    }
    return values
  }

  /** Records why the request is not verified. */
  reject(reason: string): false {
    this.reason = reason
    return false
  }
}

const linesOf = ([name, value = []]: [string, string | string[] | undefined]): string[] =>
  [value].flat().flatMap((one) => [name, one])

/** Where a request carries what is known of it. */
export const SENT = Symbol('svc.sent')

/** What is known of a request. It stays with it, for all functions of a source that are called. */
export function sentOf(request: SentRequest & { [SENT]?: Sent | null }, body: string): Sent {
  const known = request[SENT]
  if (known) return known.as(body)
  const sent = new Sent(request, body)
  if (Object.isExtensible(request)) request[SENT] = sent
  return sent
}

/** RFC 8259, section 8.1: a reader may ignore a byte order mark. JSON.parse does not. */
export const withoutMark = (body: string): string =>
  body.startsWith('\uFEFF') ? body.slice(1) : body

type Headers = Pick<SentRequest, 'headers'>

const contentTypeOf = ({ headers }: Headers): string =>
  [headers['content-type'] ?? ''].flat()[0] ?? ''

/** The media type of the body in lower case, without its parameters; `''` without a type. */
export const mediaTypeOf = (request: Headers): string =>
  contentTypeOf(request).split(';', 1)[0]?.trim().toLowerCase() ?? ''

export function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json')
}

/**
 * A body as text. JSON is read as UTF-8, whatever charset its type names (RFC 8259, sections 8.1 and
 * 11); all else as {@link charsetOf} says.
 *
 * @param isJson whether it is read as JSON whatever its type
 * @throws BodyRefused where the body is compressed: the signature is over the compressed bytes, so
 *   that what is published would not be what was signed. Also where its charset is not known
 */
export function bodyText(request: Headers, bytes: Buffer, isJson = false): string {
  const encoding = [request.headers['content-encoding'] ?? ''].flat().join(',').trim().toLowerCase()
  if (encoding !== '' && encoding !== 'identity') {
    throw new BodyRefused('encoding', 'the body has a Content-Encoding')
  }
  if (isJson || isJsonType(mediaTypeOf(request))) return bytes.toString('utf8')
  return decoderOf(charsetOf(request, bytes))(bytes)
}

/**
 * The charset of a body: what its Content-Type names, else what its first bytes tell, a byte order
 * mark or the declaration of XML (RFC 7303, section 3).
 *
 * @throws BodyRefused where the type names two
 */
export function charsetOf(request: Headers, bytes: Buffer): string | undefined {
  const named = [...contentTypeOf(request).matchAll(/;\s*charset\s*=\s*"?([^;"\s]*)/gi)]
  const [charset, other] = new Set(named.map(([, name = '']) => name.toLowerCase()))
  if (other !== undefined) {
    throw new BodyRefused('charset', 'the header Content-Type names two charsets')
  }
  if (charset) return charset
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (!/\bxml$/.test(mediaTypeOf(request))) return undefined
  const head = bytes.toString('latin1', 0, 100)
  return /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1]?.toLowerCase()
}

/** Reads bytes as text. @throws BodyRefused where they are not of the charset */
export type Decode = (bytes: Buffer) => string

/**
 * What reads bytes of a charset. Where none is named they are UTF-8, or else one character for each
 * byte (ISO-8859-1), so that each byte is kept.
 *
 * @throws BodyRefused where the charset is not known
 */
export function decoderOf(charset: string | undefined): Decode {
  if (charset === undefined) return (bytes) => bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
  const decoder = refusing('the charset is not known', () => new TextDecoder(charset, STRICT))
  if (decoder.encoding === 'windows-1252') return decodeWindows1252
  return (bytes) => refusing('the body is not of its charset', () => decoder.decode(bytes))
}

/** The characters of the bytes 0x80 to 0x9f in windows-1252, as the Encoding Standard has them. */
const OF_C1 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** The decoder of Node 22 reads these bytes as ISO-8859-1. */
const decodeWindows1252: Decode = (bytes) =>
  bytes.toString('latin1').replaceAll(/[\x80-\x9f]/g, (char) => OF_C1[char.charCodeAt(0) - 0x80]!)

const STRICT = { fatal: true, ignoreBOM: true }

function refusing<Made>(reason: string, make: () => Made): Made {
  try {
    return make()
  } catch {
    throw new BodyRefused('charset', reason)
  }
}

/** Reading 10,000 fields takes tens of milliseconds, in which the process serves no other request. */
const MAX_FIELDS = 10_000

/** By the URL Standard, section 5.1, but for the charset: URLSearchParams replaces what is not UTF-8. */
function formFields(body: Buffer, decode: Decode): Form {
  const bytes = body.toString('latin1').replaceAll('+', ' ')
  assertFewFields(bytes)
  // Not a Map, as above.
  const fields = Object.create(null) as Record<string, string[]>
  for (const field of bytes.split('&')) {
    if (field === '') continue
    const [name = '', ...value] = field.split('=')
    ;(fields[fieldText(name, decode)] ??= []).push(fieldText(value.join('='), decode))
  }
  return fields
}

/** @param bytes a character for each byte */
function fieldText(bytes: string, decode: Decode): string {
  const unescaped = bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return decode(Buffer.from(unescaped, 'latin1'))
}

function assertFewFields(text: string): void {
  let fields = 1
  for (let end = text.indexOf('&'); end !== -1; end = text.indexOf('&', end + 1)) {
    fields += 1
    if (fields > MAX_FIELDS) {
      throw new BodyRefused('too-many-fields', 'the form has too many fields', String(MAX_FIELDS))
    }
  }
}
