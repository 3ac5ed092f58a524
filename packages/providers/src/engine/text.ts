/** Texts of a row: parsed once at boot, built for each request. */
import { Buffer } from 'node:buffer'
import { createHmac, hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Place, Text } from '../preset.ts'
import { findAt, type Reading } from './places.ts'
import type { Form } from './sent.ts'

type Chunk = string | Uint8Array
type Value = (reading: Reading) => Chunk | undefined
/** Appends a piece of a text, and returns whether all values in it were found. */
type Append = (reading: Reading, to: Chunk[]) => boolean

/** The pieces of a text in their order; `undefined` where a value in it is absent. */
export function chunksOf(text: Text): (reading: Reading) => Chunk[] | undefined {
  const append = appendAll(compiled(piecesOf(text)))
  return (reading) => {
    const chunks: Chunk[] = []
    return append(reading, chunks) ? chunks : undefined
  }
}

/** A text as one string; `undefined` where a value in it is absent. */
export function stringOf(text: Text): (reading: Reading) => string | undefined {
  const chunks = chunksOf(text)
  return (reading) => {
    const found = chunks(reading)
    if (!found) return undefined
    let whole = ''
    for (const chunk of found) {
      whole += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    }
    return whole
  }
}

/** The first of these texts that is not absent. */
export function firstOf(
  texts: Text | readonly Text[] | undefined,
): (reading: Reading) => string | undefined {
  const all = [texts ?? []].flat().map(stringOf)
  return (reading) => {
    for (const build of all) {
      const text = build(reading)
      if (text !== undefined && text !== '') return text
    }
    return undefined
  }
}

export type Piece = { plain: string } | { value: string } | { optional: Piece[] }

/** A value in braces, an optional part in brackets with a value in it, and plain text. */
const PIECE = /\{([^{}]+)\}|\[([^[\]]*\{[^[\]]*)\]|([^{[]+|\[)/gy

/** @throws TypeError */
export function piecesOf(text: Text): Piece[] {
  const pieces: Piece[] = []
  let read = 0
  for (const [whole, value, optional, plain] of text.matchAll(PIECE)) {
    read += whole.length
    if (plain !== undefined) pieces.push({ plain })
    else if (value !== undefined) pieces.push({ value })
    else if (optional !== undefined) pieces.push({ optional: piecesOf(optional) })
  }
  if (read !== text.length) throw new TypeError(`the text ${JSON.stringify(text)} cannot be read`)
  return pieces
}

const compiled = (pieces: readonly Piece[]): Append[] =>
  pieces.map((piece) => {
    if ('plain' in piece) return appendValue(() => piece.plain)
    if ('value' in piece) return appendValue(valueOf(piece.value))
    return appendOrNothing(appendAll(compiled(piece.optional)))
  })

const appendValue =
  (value: Value): Append =>
  (reading, to) => {
    const chunk = value(reading)
    if (chunk === undefined) return false
    to.push(chunk)
    return true
  }

const appendOrNothing =
  (append: Append): Append =>
  (reading, to) => {
    const before = to.length
    if (!append(reading, to)) to.length = before
    return true
  }

function appendAll(pieces: readonly Append[]): Append {
  return (reading, to) => {
    for (const append of pieces) if (!append(reading, to)) return false
    return true
  }
}

/** The value of a name in braces. */
export function valueOf(name: string): Value {
  const bar = name.indexOf('|')
  if (bar !== -1) {
    const value = valueOf(name.slice(0, bar))
    const otherwise = name.slice(bar + 1)
    return (reading) => value(reading) ?? otherwise
  }
  const known = KNOWN[name]
  if (known) return known
  const [, coding, coded] = /^(sha256-hex|base64url):(.+)$/.exec(name) ?? []
  if (coded !== undefined) return encodedValue(valueOf(coded), coding === 'base64url')
  const [, sha1, encoding, place] = /^hmac-(sha1-hashed-)?(hex|base64):(.+)$/.exec(name) ?? []
  if (place === undefined) return findAt(name as Place)
  const find = findAt(place as Place)
  return (reading) => {
    const value = find(reading)
    if (value === undefined || !reading.secret) return undefined
    const key = sha1 === undefined ? reading.secret : hash('sha1', reading.secret, 'buffer')
    return createHmac(sha1 === undefined ? 'sha256' : 'sha1', key)
      .update(value)
      .digest(encoding as 'hex' | 'base64')
  }
}

const encodedValue =
  (value: Value, isPlain: boolean): Value =>
  (reading) => {
    const chunk = value(reading)
    if (chunk === undefined) return undefined
    return isPlain ? Buffer.from(chunk as string).toString('base64url') : hash('sha256', chunk)
  }

const KNOWN: Readonly<Record<string, Value>> = {
  body: ({ sent }) => sent.request.rawBody ?? sent.body,
  timestamp: ({ timestamp }) => timestamp,
  method: ({ sent }) => sent.request.method,
  url: ({ url }) => url,
  path: ({ sent }) => sent.target,
  params: ({ sent }) => (sent.isForm ? sortedParams(sent.form) : ''),
  covered: ({ covered }) => covered,
  secret: ({ secret }) => secret,
  type: ({ type }) => type,
  crc32: ({ sent }) => String(crc32(sent.bytes)),
}

/** Each name with its values, each once, sorted, as Twilio's libraries write them. */
function sortedParams(form: Form): string {
  return Object.keys(form)
    .toSorted(byCodeUnit)
    .map((name) => {
      const values = [...new Set(form[name])].toSorted(byCodeUnit)
      return values.map((value) => name + value).join('')
    })
    .join('')
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
