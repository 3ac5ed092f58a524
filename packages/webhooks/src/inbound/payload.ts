import { isUtf8 } from 'node:buffer'
import { BodyNotJson } from './errors.ts'

/**
 * The JSON text of the event that a body becomes. A JSON body is passed on as it was written: what
 * would parse and print it again rounds big numbers.
 *
 * @throws BodyNotJson
 */
export function payloadText(contentType: string | undefined, body: Buffer): string {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const text = body.toString('utf8')
  // Zero bytes are no body, whatever type they claim.
  if (body.length === 0) return '""'
  if (type === 'application/x-www-form-urlencoded') return JSON.stringify(formFields(text))
  return isJson(type) ? jsonText(body, text) : JSON.stringify(text)
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

/** A field that comes more than once becomes an array of its values. */
function formFields(text: string): Record<string, string | string[]> {
  const fields = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(fields.keys())].map((name) => {
      const values = fields.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}
