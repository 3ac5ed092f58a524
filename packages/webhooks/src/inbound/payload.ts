import { isUtf8 } from 'node:buffer'
import { BodyNotJson, TooManyFields } from './errors.ts'

/**
 * The payload of the event that a body becomes, as JSON text. A JSON body stays as the sender wrote
 * it: a parser would round big numbers.
 *
 * @param text the body read as UTF-8
 * @throws BodyNotJson, TooManyFields
 */
export function payloadOf(contentType: string | undefined, body: Buffer, text: string): string {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (isJson(type)) return jsonText(body, text)
  if (body.length === 0) return '""'
  if (type === 'application/x-www-form-urlencoded') return JSON.stringify(formFields(text))
  return JSON.stringify(text)
}

function isJson(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json')
}

function jsonText(body: Buffer, text: string): string {
  // RFC 8259, section 8.1: a reader may ignore a byte order mark. JSON.parse does not.
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text
  if (!isUtf8(body)) throw new BodyNotJson({ cause: 'the body is not UTF-8' })
  try {
    JSON.parse(json)
  } catch {
    throw new BodyNotJson({ cause: 'the body cannot be parsed' })
  }
  return json
}

/** Reading 10,000 fields takes tens of milliseconds, in which the process serves no other request. */
const MAX_FIELDS = 10_000

/** A repeated field becomes an array of its values. */
function formFields(text: string): Record<string, string | string[]> {
  assertFewFields(text)
  // Not a Map: it hashes integers to themselves, so that a sender can choose names that collide.
  const fields = Object.create(null) as Record<string, string | string[]>
  new URLSearchParams(text).forEach((value, name) => {
    const before = fields[name]
    if (before === undefined) fields[name] = value
    else if (typeof before === 'string') fields[name] = [before, value]
    else before.push(value)
  })
  return fields
}

function assertFewFields(text: string): void {
  let fields = 1
  for (let end = text.indexOf('&'); end !== -1; end = text.indexOf('&', end + 1)) {
    fields += 1
    if (fields > MAX_FIELDS) throw new TooManyFields(MAX_FIELDS)
  }
}
