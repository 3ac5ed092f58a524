import { isUtf8 } from 'node:buffer'
import { BodyNotJson, TooManyFields } from './errors.ts'

/**
 * The JSON text of the event that a body becomes. A JSON body is passed on as it was written: what
 * would parse and print it again rounds big numbers.
 *
 * @throws BodyNotJson, TooManyFields
 */
export function payloadText(contentType: string | undefined, body: Buffer): string {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const text = body.toString('utf8')
  if (isJson(type)) return jsonText(body, text)
  if (body.length === 0) return '""'
  if (type === 'application/x-www-form-urlencoded') return JSON.stringify(formFields(text))
  return JSON.stringify(text)
}

function isJson(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json')
}

function jsonText(body: Buffer, text: string): string {
  // RFC 8259 lets a reader pass over a byte order mark; no parser after us would.
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text
  if (!isUtf8(body)) throw new BodyNotJson({ cause: 'the body is not UTF-8' })
  try {
    JSON.parse(json)
  } catch {
    throw new BodyNotJson({ cause: 'the body cannot be parsed' })
  }
  return json
}

/** Reading so many fields takes tens of milliseconds, in which the process serves no other request. */
const MOST_FIELDS = 10_000

/** A field that comes more than once becomes an array of its values. */
function formFields(text: string): Record<string, string | string[]> {
  assertFewFields(text)
  // Not a Map: names that are integers hash to themselves there, so a sender can make them collide.
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
    if (fields > MOST_FIELDS) throw new TooManyFields(MOST_FIELDS)
  }
}
