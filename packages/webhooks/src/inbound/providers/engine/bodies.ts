/**
 * Reads the body of a row. What it is read as follows from the row and from the bytes, which are
 * signed. The content type, which is not, can only have it refused.
 */
import { BodyNotJson, ContentTypeUnexpected } from '../../errors.ts'
import { charsetOf, isJsonType, mediaTypeOf } from '../../body-text.ts'
import { formOf, isForm, jsonOf } from '../../parsed-body.ts'
import { formPayload, jsonText } from '../../payload.ts'
import type { InboundRequest } from '../../source.ts'
import type { Place, Preset } from '../preset.ts'
import { masker } from './masks.ts'

type Read = (request: InboundRequest, text: string) => string

/** The payload of a request as JSON text. It throws BodyNotJson and ContentTypeUnexpected. */
export function readerOf(preset: Preset): Read {
  const read = typedReader(preset)
  return (request, text) => {
    // In another charset the same bytes are another text. JSON has none (RFC 8259, section 11).
    const charset = isJsonType(mediaTypeOf(request)) ? undefined : charsetOf(request)
    if (charset !== undefined && !/^utf-?8$/.test(charset)) throw unexpected('charset=utf-8')
    return read(request, text)
  }
}

function typedReader(preset: Preset): Read {
  const { reads = 'json' } = preset
  const mask = masker(maskedIn(preset), preset.split)
  const json: Read = (request, text) => mask(structured(request, jsonText(request, text)))
  switch (reads) {
    case 'json':
      return (request, text) => {
        if (!isOfRow(preset, request)) throw unexpected('application/json')
        return json(request, text)
      }
    case 'form':
      return formReader(preset)
    case 'json or form': {
      const form = formReader(preset)
      return (request, text) => {
        const type = mediaTypeOf(request)
        if (isForm(request)) return form(request, text)
        if (type === '' || isJsonType(type)) return json(request, text)
        throw unexpected('application/json or application/x-www-form-urlencoded')
      }
    }
    case 'any':
      return (request, text) =>
        isStructured(jsonOf(request, text)) ? json(request, text) : JSON.stringify(text)
  }
}

const unexpected = (types: string): Error =>
  new ContentTypeUnexpected(types, { cause: `the content type is not ${types}` })

function isOfRow({ contentTypes = [] }: Preset, request: InboundRequest): boolean {
  const type = mediaTypeOf(request)
  return type === '' || isJsonType(type) || contentTypes.includes(type)
}

/**
 * The fields of a form, or the JSON in the one of them that has it. Text that is JSON is no form: its
 * fields would be taken from the middle of its values.
 */
function formReader({ unwrap, plainForms = unwrap === undefined }: Preset): Read {
  return (request, text) => {
    if (!isForm(request)) throw unexpected('application/x-www-form-urlencoded')
    if (isStructured(jsonOf(request, text))) throw unexpected('application/json')
    const form = formOf(request, text)
    const wrapped = unwrap === undefined ? undefined : form[unwrap]
    if (wrapped?.length === 1) return jsonIn(wrapped[0] ?? '')
    if (plainForms) return JSON.stringify(formPayload(form))
    throw new BodyNotJson({ cause: `the form has no single field ${unwrap}` })
  }
}

function jsonIn(text: string): string {
  try {
    if (isStructured(JSON.parse(text))) return text
  } catch {
    // Below.
  }
  throw new BodyNotJson({ cause: 'the field of the form is not JSON' })
}

const isStructured = (value: unknown): boolean => typeof value === 'object' && value !== null

function structured(request: InboundRequest, text: string): string {
  if (isStructured(jsonOf(request, text))) return text
  throw new BodyNotJson({ cause: 'the body is no JSON object or list' })
}

/** Whoever reads a token in an event could send events of his own. */
const maskedIn = ({ schemes, hides = [] }: Preset): readonly Place[] => [
  ...hides,
  ...schemes.flatMap((scheme) => (scheme.algorithm === 'token' ? scheme.in : [])),
]
