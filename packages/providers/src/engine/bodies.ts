/**
 * Reads the body of a row. What it is read as follows from the row and from the bytes, which are
 * signed. The content type, which is not, can only have it refused.
 */
import { isUtf8 } from 'node:buffer'
import { BodyRefused } from '../errors.ts'
import type { Place, Preset } from '../preset.ts'
import { itemsAt, pathOf, valueAt, xmlInBase64 } from './places.ts'
import { charsetOf, isJsonType, mediaTypeOf, withoutMark, type Form, type Sent } from './sent.ts'

/** The payload of a request as JSON text. @throws BodyRefused */
export type Read = (sent: Sent) => string

export function readerOf(preset: Preset): Read {
  const read = typedReader(preset)
  return (sent) => {
    // In another charset the same bytes are another text. JSON has none (RFC 8259, section 11).
    const charset = isJsonType(mediaTypeOf(sent.request))
      ? undefined
      : charsetOf(sent.request, sent.bytes)
    if (charset !== undefined && !/^utf-?8$/.test(charset)) throw unexpected('charset=utf-8')
    return read(sent)
  }
}

/**
 * The payload of a body by its content type alone, for a source without a row. A JSON body stays as the
 * sender wrote it: a parser would round big numbers.
 *
 * @param isJson whether it is read as JSON, whatever its type
 * @throws BodyRefused
 */
export function payloadByType(sent: Sent, isJson: boolean): string {
  if (isJson || isJsonType(mediaTypeOf(sent.request))) return jsonText(sent)
  if (sent.bytes.length === 0) return '""'
  return JSON.stringify(sent.isForm ? formPayload(sent.form) : sent.body)
}

function jsonText(sent: Sent): string {
  if (!isUtf8(sent.bytes)) throw new BodyRefused('not-json', 'the body is not UTF-8')
  if (!sent.isJson) throw new BodyRefused('not-json', 'the body cannot be parsed')
  return withoutMark(sent.body)
}

/** A repeated field becomes an array of its values. */
function formPayload(fields: Form): object {
  const payload = Object.create(null) as Record<string, string | readonly string[]>
  for (const [name, values] of Object.entries(fields)) {
    payload[name] = values.length === 1 ? (values[0] as string) : values
  }
  return payload
}

function typedReader(preset: Preset): Read {
  const { publishes, ...row } = preset
  if (publishes === 'claims') {
    const read = typedReader(row)
    return (sent) => {
      read(sent)
      // The text that was signed: a parser would round big numbers.
      return sent.verified.claimsText ?? '{}'
    }
  }
  const { reads = 'json' } = row
  const mask = masker(maskedIn(preset), preset.split)
  const json: Read = (sent) => mask(structured(sent, jsonText(sent)))
  switch (reads) {
    case 'json':
      return (sent) => {
        if (!isOfRow(preset, sent)) throw unexpected('application/json')
        return json(sent)
      }
    case 'json or lines':
      return (sent) => {
        if (!isOfRow(preset, sent)) throw unexpected('application/json')
        const text = linesText(sent)
        return mask(sent.isJson ? structured(sent, text) : text)
      }
    case 'form':
      return formReader(preset)
    case 'json or form': {
      const form = formReader(preset)
      return (sent) => {
        const type = mediaTypeOf(sent.request)
        if (sent.isForm) return form(sent)
        if (type === '' || isJsonType(type)) return json(sent)
        throw unexpected('application/json or application/x-www-form-urlencoded')
      }
    }
    case 'any':
      return (sent) => (isStructured(sent.json) ? json(sent) : JSON.stringify(sent.body))
  }
}

/** JSON, or a list of the JSON of each line. */
function linesText(sent: Sent): string {
  if (!isUtf8(sent.bytes)) throw new BodyRefused('not-json', 'the body is not UTF-8')
  if (sent.isJson) return withoutMark(sent.body)
  const lines = withoutMark(sent.body)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return `[${lines.map(jsonIn).join(',')}]`
}

const unexpected = (types: string): Error =>
  new BodyRefused('content-type', `the content type is not ${types}`, types)

function isOfRow({ contentTypes = [] }: Preset, { request }: Sent): boolean {
  const type = mediaTypeOf(request)
  return type === '' || isJsonType(type) || contentTypes.includes(type)
}

/**
 * The fields of a form, or the JSON in the one of them that has it. Text that is JSON is no form: its
 * fields would be taken from the middle of its values.
 */
function formReader({ unwrap, unwraps, plainForms = unwrap === undefined }: Preset): Read {
  return (sent) => {
    if (!sent.isForm) throw unexpected('application/x-www-form-urlencoded')
    if (isStructured(sent.json)) throw unexpected('application/json')
    const wrapped = unwrap === undefined ? undefined : sent.form[unwrap]
    if (wrapped?.length === 1) return (unwraps === 'xml' ? xmlIn : jsonIn)(wrapped[0] ?? '')
    if (plainForms) return JSON.stringify(formPayload(sent.form))
    throw new BodyRefused('not-json', `the form has no single field ${unwrap}`)
  }
}

function jsonIn(text: string): string {
  try {
    if (isStructured(JSON.parse(text))) return text
  } catch {
    // Below.
  }
  throw new BodyRefused('not-json', 'a field of the form, or a line, is not JSON')
}

function xmlIn(text: string): string {
  const value = xmlInBase64(text)
  if (isStructured(value)) return JSON.stringify(value)
  throw new BodyRefused('not-json', 'the field of the form is not XML')
}

const isStructured = (value: unknown): boolean => typeof value === 'object' && value !== null

function structured({ json }: Sent, text: string): string {
  if (isStructured(json)) return text
  throw new BodyRefused('not-json', 'the body is no JSON object or list')
}

/** A token in a body is masked: a reader of the event could sign requests with it. */
const maskedIn = ({ schemes, hides = [] }: Preset): readonly Place[] => [
  ...hides,
  ...schemes.flatMap((scheme) => (scheme.algorithm === 'token' ? scheme.in : [])),
]

const MASK = '***'

/** A number keeps its digits: those beyond 2^53 would be rounded otherwise. */
interface Json {
  parse: (
    text: string,
    revive: (name: string, value: unknown, context: { source: string }) => unknown,
  ) => unknown
  stringify: (value: unknown) => string
  rawJSON: (text: string) => unknown
}
const { parse, stringify, rawJSON } = JSON as unknown as Json

/** Masks the values at places `json:…` and `item:…` of a JSON text, which is left as it is without them. */
function masker(places: readonly Place[], split = ''): (json: string) => string {
  const ofBody = pathsIn(places, 'json:')
  const ofItems = pathsIn(places, 'item:')
  if (ofBody.length + ofItems.length === 0) return (json) => json
  const items = itemsAt(split)
  return (json) => {
    try {
      const body = parse(json, (_, value, { source }) =>
        typeof value === 'number' ? rawJSON(source) : value,
      )
      const masked = [
        ...ofBody.map((path) => mask(body, path)),
        ...items(body).flatMap((item) => ofItems.map((path) => mask(item, path))),
      ]
      return masked.includes(true) ? stringify(body) : json
    } catch (error) {
      // Both call themselves for each level.
      if (error instanceof RangeError) throw new BodyRefused('not-json', 'the body is too deep')
      throw error
    }
  }
}

const pathsIn = (places: readonly Place[], kind: 'json:' | 'item:'): (readonly string[])[] =>
  places.flatMap((place) => (place.startsWith(kind) ? [pathOf(place.slice(kind.length))] : []))

function mask(root: unknown, path: readonly string[]): boolean {
  const name = path.at(-1) ?? ''
  const parent = valueAt(root, path.slice(0, -1))
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, name)) return false
  ;(parent as Record<string, unknown>)[name] = MASK
  return true
}
