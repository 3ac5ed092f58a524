/**
 * The body of a request, parsed once for all that use it: its payload, its keys, the name of its
 * event.
 */
import { charsetOf, decoderOf, mediaTypeOf, type Decode } from './body-text.ts'
import { TooManyFields } from './errors.ts'
import type { InboundRequest } from './source.ts'

export type Form = Readonly<Record<string, readonly string[]>>

interface Parsed {
  text: string
  json?: { value: unknown } | { error: unknown }
  form?: Form
}

export const isForm = (request: InboundRequest): boolean =>
  mediaTypeOf(request) === 'application/x-www-form-urlencoded'

const bodies = new WeakMap<object, Parsed>()

/** The body as JSON, whatever its content type; `undefined` where it is not JSON. */
export function jsonOf(request: InboundRequest, body: string): unknown {
  const { json } = parsedJson(request, body)
  return json && 'value' in json ? json.value : undefined
}

/** @throws SyntaxError */
export function assertJson(request: InboundRequest, body: string): void {
  const { json } = parsedJson(request, body)
  if (json && 'error' in json) throw json.error
}

/** Reading 10,000 fields takes tens of milliseconds, in which the process serves no other request. */
const MAX_FIELDS = 10_000

/**
 * The fields of a form body: the values of each name, in the charset of the body.
 *
 * @throws TooManyFields, CharsetUnsupported
 */
export function formOf(request: InboundRequest, body: string): Form {
  const parsed = parsedOf(request, body)
  parsed.form ??= formFields(request.rawBody, decoderOf(charsetOf(request)))
  return parsed.form
}

/** By the URL Standard, section 5.1, but for the charset: URLSearchParams replaces what is not UTF-8. */
function formFields(body: Buffer, decode: Decode): Form {
  const bytes = body.toString('latin1').replaceAll('+', ' ')
  assertFewFields(bytes)
  // Not a Map: it hashes integers to themselves, so that a sender can choose names that collide.
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
    if (fields > MAX_FIELDS) throw new TooManyFields(MAX_FIELDS)
  }
}

/** RFC 8259, section 8.1: a reader may ignore a byte order mark. JSON.parse does not. */
export const withoutMark = (body: string): string =>
  body.startsWith('\uFEFF') ? body.slice(1) : body

function parsedJson(request: InboundRequest, body: string): Parsed {
  const parsed = parsedOf(request, body)
  if (!parsed.json) {
    try {
      parsed.json = { value: JSON.parse(withoutMark(body)) }
    } catch (error) {
      parsed.json = { error }
    }
  }
  return parsed
}

function parsedOf(request: InboundRequest, body: string): Parsed {
  const known = bodies.get(request)
  if (known?.text === body) return known
  const parsed: Parsed = { text: body }
  bodies.set(request, parsed)
  return parsed
}
