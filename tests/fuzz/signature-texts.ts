/** Texts of signature headers, nearly right or made up, and requests that carry them. */
import fc from 'fast-check'
import type { InboundRequest } from '@svc/webhooks'
import { spoilt, textOf, words } from './fuzz.ts'

export const requestWith = (headers: Record<string, string>, body = '{}') =>
  ({
    method: 'POST',
    url: '/hooks',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    rawBody: Buffer.from(body),
    params: {},
    query: {},
  }) as unknown as InboundRequest

export const noise = textOf(
  'sha256=',
  'sha1=',
  't=',
  'v1=',
  ',',
  '=',
  ' ',
  '.',
  'Bearer ',
  'Basic ',
  'v0:',
  'v1,',
  ...words('eyJhbGciOiJub25lIn0 AAAA ff 1700000000 {} " ; null %'),
)

/** The genuine text, changed a little, beside something else, or anything. */
export const nearly = (text: string) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(text) },
    { weight: 6, arbitrary: spoilt(text) },
    { weight: 1, arbitrary: noise.map((other) => `${text},${other}`) },
    { weight: 1, arbitrary: noise.map((other) => `${other},${text}`) },
    { weight: 1, arbitrary: fc.constantFrom(text.toUpperCase(), text.toLowerCase(), `${text}\0`) },
    { weight: 2, arbitrary: noise },
  )
