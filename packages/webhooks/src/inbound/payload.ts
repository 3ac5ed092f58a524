import { isUtf8 } from 'node:buffer'
import { isJsonType, mediaTypeOf } from './body-text.ts'
import { BodyNotJson } from './errors.ts'
import { calling } from './host-functions.ts'
import { assertJson, formOf, isForm, withoutMark, type Form } from './parsed-body.ts'
import type { InboundRequest, InboundSource } from './source.ts'
import { SourceMistake } from './source-mistake.ts'

/**
 * The payload of the event that a body becomes, as JSON text. A JSON body stays as the sender wrote
 * it: a parser would round big numbers.
 *
 * @param text what `bodyText` returns for the request
 * @param readAs what it is read as, whatever its content type, or the function that reads it
 * @throws BodyNotJson, ContentTypeUnexpected, TooManyFields
 */
export function payloadOf(
  request: InboundRequest,
  text: string,
  readAs?: InboundSource['readAs'],
): string {
  if (typeof readAs === 'function') return readWith(readAs, request, text)
  if (readAs === 'json' || isJsonType(mediaTypeOf(request))) return jsonText(request, text)
  if (request.rawBody.length === 0) return '""'
  if (isForm(request)) return JSON.stringify(formPayload(formOf(request, text)))
  return JSON.stringify(text)
}

function readWith(
  readAs: (request: InboundRequest, body: string) => string,
  request: InboundRequest,
  text: string,
): string {
  const json: unknown = calling('readAs', () => readAs(request, text))
  if (typeof json === 'string') return json
  throw new SourceMistake(`readAs must return JSON text, not a value of type ${typeof json}`)
}

/** @throws BodyNotJson */
export function jsonText(request: InboundRequest, text: string): string {
  if (!isUtf8(request.rawBody)) throw new BodyNotJson({ cause: 'the body is not UTF-8' })
  try {
    assertJson(request, text)
  } catch {
    throw new BodyNotJson({ cause: 'the body cannot be parsed' })
  }
  return withoutMark(text)
}

/** A repeated field becomes an array of its values. */
export function formPayload(fields: Form): object {
  const payload = Object.create(null) as Record<string, string | readonly string[]>
  for (const [name, values] of Object.entries(fields)) {
    payload[name] = values.length === 1 ? (values[0] as string) : values
  }
  return payload
}
