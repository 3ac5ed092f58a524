/** The headers that a webhook adds to its deliveries. */
import { isSealed } from '@svc/core/internal'
import { InvalidHeader } from '../../errors.ts'
import { DEFAULT_PREFIX } from './header-names.ts'

export type CustomHeaders = Readonly<Record<string, string>>

export const MAX_HEADERS = 20
const MAX_NAME_CHARACTERS = 200
export const MAX_VALUE_BYTES = 4096

/** What is shown in place of a value. */
export const MASK = '***'

/** RFC 9110, section 5.6.2: a token. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** RFC 9110, section 5.5, with the bytes that Node sends as they are. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** RFC 9110 and 9112: the headers that route and frame a message. */
const FRAMING = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const OURS = new Set(['accept-encoding', 'user-agent'])
/** Those of Standard Webhooks. */
const STANDARD_PREFIX = 'webhook-'

export const CONTENT_TYPE = 'content-type'

/**
 * Our own names begin with `prefix`. The default prefix is refused too: another host on the database may
 * have no other.
 *
 * @throws InvalidHeader naming the header that is wrong
 */
export function assertCustomHeaders(headers: CustomHeaders, prefix: string): void {
  const prefixes = [STANDARD_PREFIX, DEFAULT_PREFIX, prefix]
  assertHeaders(headers, (name) => assertNotOurs(name, prefixes))
}

/**
 * Checks headers that replace others of the same names, ours too. The type of the body is no part of a
 * signature.
 *
 * @throws InvalidHeader naming the header that is wrong
 */
export function assertReplacingHeaders(headers: CustomHeaders): void {
  assertHeaders(headers, (name) => {
    if (name.toLowerCase() !== CONTENT_TYPE) return
    throw new InvalidHeader(`the header ${name} is that of the body, which contentType gives`)
  })
}

function assertHeaders(headers: CustomHeaders, assertFree: (name: string) => void): void {
  const names = Object.keys(headers)
  if (names.length > MAX_HEADERS) {
    throw new InvalidHeader(`there are ${names.length} headers, and there may be ${MAX_HEADERS}`)
  }
  const seen = new Set<string>()
  for (const name of names) {
    assertName(name)
    assertFree(name)
    const lower = name.toLowerCase()
    if (seen.has(lower)) throw new InvalidHeader(`the header ${name} is given twice`)
    seen.add(lower)
    assertValue(name, headers[name])
  }
}

/**
 * Those that are sent. A webhook may have been registered where our names had another prefix: a header of
 * ours that comes twice is one that no receiver can verify.
 */
export const sentHeaders = (headers: CustomHeaders, prefix: string): [string, string][] =>
  Object.entries(headers).filter(([name]) => !beginsWith(name, prefix))

/** The case of a name does not count. */
const beginsWith = (name: string, prefix: string): boolean =>
  name.length >= prefix.length &&
  name.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()

function assertName(name: string): void {
  if (name.length > MAX_NAME_CHARACTERS || !NAME.test(name)) {
    throw new InvalidHeader(`${JSON.stringify(name.slice(0, 40))} is not a name of a header`)
  }
  if (FRAMING.has(name.toLowerCase())) {
    throw new InvalidHeader(`the header ${name} belongs to HTTP itself`)
  }
}

function assertNotOurs(name: string, prefixes: readonly string[]): void {
  if (OURS.has(name.toLowerCase())) {
    throw new InvalidHeader(`the header ${name} is one that every delivery has already`)
  }
  const ours = prefixes.find((prefix) => beginsWith(name, prefix))
  if (ours !== undefined) {
    throw new InvalidHeader(`the header ${name} begins with "${ours}", as headers of ours do`)
  }
}

/** The message does not repeat a value: it is a secret. */
function assertValue(name: string, value: unknown): void {
  if (typeof value !== 'string' || !VALUE.test(value)) {
    throw new InvalidHeader(
      `the value of the header ${name} must be a text of one line, with no character beyond ÿ (U+00FF)`,
    )
  }
  if (Buffer.byteLength(value, 'latin1') > MAX_VALUE_BYTES) {
    throw new InvalidHeader(
      `the value of the header ${name} is longer than ${MAX_VALUE_BYTES} bytes`,
    )
  }
  // It would be taken for one that is stored encrypted.
  if (isSealed(value)) {
    throw new InvalidHeader(`the value of the header ${name} begins as our encrypted ones do`)
  }
  // A list that is sent back would replace the values by their masks.
  if (value === MASK) {
    throw new InvalidHeader(`the value of the header ${name} is a mask: give the value itself`)
  }
}

/** The type of the body is ours, save where a transform makes the body. @throws InvalidHeader */
export function assertNoContentType(headers: CustomHeaders | null): void {
  if (headers === null) return
  if (!Object.keys(headers).some((name) => name.toLowerCase() === CONTENT_TYPE)) return
  throw new InvalidHeader('the header content-type can be given only with a transform')
}

/** Only the names: values are secrets. */
export const maskedHeaders = (headers: CustomHeaders | null): CustomHeaders | null =>
  headers && Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]))
