import { isUtf8 } from 'node:buffer'
import { isJsonType, mediaTypeOf } from './body-text.ts'
import { BodyNotJson } from './errors.ts'
import { assertJson, formOf, withoutMark, type Form } from './parsed-body.ts'
import type { InboundRequest } from './source.ts'

/**
 * The payload of the event that a body becomes, as JSON text. A JSON body stays as the sender wrote
 * it: a parser would round big numbers.
 *
 * @param text what `bodyText` returns for the request
 * @param readAs what it is read as, whatever its content type
 * @throws BodyNotJson, TooManyFields
 */
export function payloadOf(request: InboundRequest, text: string, readAs?: 'json'): string {
  const type = mediaTypeOf(request)
  if (readAs === 'json' || isJsonType(type)) return jsonText(request, text)
  if (request.rawBody.length === 0) return '""'
  if (type === 'application/x-www-form-urlencoded') {
    return JSON.stringify(formPayload(formOf(request, text)))
  }
  return JSON.stringify(text)
}

function jsonText(request: InboundRequest, text: string): string {
  if (!isUtf8(request.rawBody)) throw new BodyNotJson({ cause: 'the body is not UTF-8' })
  try {
    assertJson(request, text)
  } catch {
    throw new BodyNotJson({ cause: 'the body cannot be parsed' })
  }
  return withoutMark(text)
}

/** A repeated field becomes an array of its values. */
function formPayload(fields: Form): object {
  const payload = Object.create(null) as Record<string, string | readonly string[]>
  for (const [name, values] of Object.entries(fields)) {
    payload[name] = values.length === 1 ? (values[0] as string) : values
  }
  return payload
}
