/** What the bytes of a body say as text. */
import { isUtf8 } from 'node:buffer'
import { CharsetUnsupported, ContentEncodingUnsupported } from './errors.ts'
import type { InboundRequest, InboundSource } from './source.ts'

type Sent = Pick<InboundRequest, 'headers' | 'rawBody'>

/** The media type of the body in lower case, without its parameters; `''` without a type. */
export const mediaTypeOf = ({ headers }: Pick<Sent, 'headers'>): string =>
  headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''

export function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json')
}

/**
 * The body as the functions of a source get it. JSON is read as UTF-8, whatever charset its type names
 * (RFC 8259, sections 8.1 and 11); all else as {@link charsetOf} says.
 *
 * @throws ContentEncodingUnsupported where the body is compressed: the signature is over the
 *   compressed bytes, so that what is published would not be what was signed
 * @throws CharsetUnsupported
 */
export function bodyText(request: Sent, readAs?: InboundSource['readAs']): string {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity') {
    throw new ContentEncodingUnsupported({ cause: 'the body has a Content-Encoding' })
  }
  const { rawBody } = request
  if (readAs === 'json' || isJsonType(mediaTypeOf(request))) return rawBody.toString('utf8')
  return decoderOf(charsetOf(request))(rawBody)
}

/**
 * The charset of the body: what its Content-Type names, else what its first bytes tell, a byte order
 * mark or the declaration of XML (RFC 7303, section 3).
 *
 * @throws CharsetUnsupported where the type names two
 */
export function charsetOf({ headers, rawBody }: Sent): string | undefined {
  const named = [...(headers['content-type'] ?? '').matchAll(/;\s*charset\s*=\s*"?([^;"\s]*)/gi)]
  const [charset, other] = new Set(named.map(([, name = '']) => name.toLowerCase()))
  if (other !== undefined) {
    throw new CharsetUnsupported({ cause: 'the header Content-Type names two charsets' })
  }
  if (charset) return charset
  if (rawBody[0] === 0xfe && rawBody[1] === 0xff) return 'utf-16be'
  if (rawBody[0] === 0xff && rawBody[1] === 0xfe) return 'utf-16le'
  if (!/\bxml$/.test(mediaTypeOf({ headers }))) return undefined
  const head = rawBody.toString('latin1', 0, 100)
  return /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1]?.toLowerCase()
}

/** Reads bytes as text. @throws CharsetUnsupported where they are not of the charset */
export type Decode = (bytes: Buffer) => string

/**
 * What reads bytes of a charset. Where none is named they are UTF-8, or else one character for each
 * byte (ISO-8859-1), so that no byte is lost.
 *
 * @throws CharsetUnsupported where the charset is not known
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

function refusing<Made>(cause: string, make: () => Made): Made {
  try {
    return make()
  } catch {
    throw new CharsetUnsupported({ cause })
  }
}
