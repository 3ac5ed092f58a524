/**
 * Signed texts that can be taken apart in one way only. Two requests with the same signed text must
 * be the same request: a value that may hold what stands between two values is refused.
 */
import type { SignatureScheme } from '../preset-schemes.ts'
import type { Reading } from './places.ts'
import { piecesOf, valueOf, type Piece } from './text.ts'
import type { OfPreset } from './verify.ts'

/**
 * Where a value ends is known of `fixed` text, of a `json` object or list (no beginning or end of one
 * is one itself), of a `time` of RFC 3339, and of `digits` beside something else, or at the beginning,
 * if they are the time: with one digit more or less it is not now. A `free` value may be any text.
 */
type Kind = 'fixed' | 'json' | 'time' | 'digits' | 'free'

interface Part {
  kind: Kind
  /** The text of a fixed part that the row has. */
  plain?: string
  name: string
}

type Limits = Map<string, Set<string>>

/**
 * Compiles the check of the values of a scheme: the name of the first that holds a character which
 * separates values.
 *
 * @throws TypeError where the row does not say how its text is taken apart
 */
export function ambiguity(
  scheme: SignatureScheme,
  preset: OfPreset,
): (reading: Reading) => string | undefined {
  const { signed = '{body}' } = scheme
  const limits: Limits = new Map()
  const pieces = piecesOf(signed)
  const kindOf = kindsIn(scheme, preset)
  const isSeparated = pieces.some((piece) => 'optional' in piece)
    ? limitAll(pieces, kindOf, limits, scheme.open)
    : limitSome(pieces.map(partOf(kindOf)), limits, scheme.open ?? 'covered')
  if (!isSeparated) {
    throw new TypeError(`the signed text ${JSON.stringify(signed)} can be read in two ways`)
  }
  const checks = [...limits].map(([name, characters]) => ({
    name,
    value: valueOf(name),
    characters: [...characters],
  }))
  return (reading) =>
    checks.find(({ value, characters }) => {
      const text = value(reading)
      return text !== undefined && characters.some((one) => text.includes(one as never))
    })?.name
}

function kindsIn({ timestamp, urls }: SignatureScheme, { reads = 'json', unwrap }: OfPreset) {
  const kinds: Record<string, Kind> = {
    method: 'fixed',
    secret: 'fixed',
    crc32: 'digits',
    timestamp: timestamp?.unit === 'rfc3339' ? 'time' : 'digits',
    body: reads === 'json' ? 'json' : 'free',
    'sha256-hex:body': 'fixed',
    // The names of the fields are told from the URL before them.
    params: urls?.without ? 'json' : 'free',
    [`form:${unwrap ?? ''}`]: 'json',
  }
  return (name: string): Kind => (name.startsWith('option:') ? 'fixed' : (kinds[name] ?? 'free'))
}

const partOf =
  (kindOf: (name: string) => Kind) =>
  (piece: Piece): Part => {
    if ('value' in piece) return { kind: kindOf(piece.value), name: piece.value }
    const plain = 'plain' in piece ? piece.plain : ''
    return { kind: 'fixed', plain, name: '' }
  }

/**
 * Takes known values off both ends, and limits others, until one is left, which may be any text.
 * Returns whether that succeeds.
 */
function limitSome(parts: Part[], limits: Limits, open: string): boolean {
  for (;;) {
    while (isKnown(parts.at(-1), parts.at(-2), /\d$/)) parts.pop()
    while (parts[0]?.name === 'timestamp' || isKnown(parts[0], parts[1], /^\d/)) parts.shift()
    if (parts.length <= 1) return true
    const [first, second] = parts
    const last = parts.at(-1)
    const before = parts.at(-2)?.plain
    if (last && last.name !== open && before !== undefined) {
      limit(limits, last.name, before.slice(-1))
      parts.pop()
    } else if (first && first.name !== open && second?.plain !== undefined) {
      limit(limits, first.name, second.plain.slice(0, 1))
      parts.shift()
    } else return false
  }
}

function isKnown(part: Part | undefined, beside: Part | undefined, digit: RegExp): boolean {
  if (!part || part.kind === 'free') return false
  if (part.kind !== 'digits' || !beside) return true
  return beside.kind === 'json' || (beside.plain !== undefined && !digit.test(beside.plain))
}

/**
 * With parts that may be left out every value is limited by what is beside it, and each part begins
 * as nothing does that could stand in its place.
 */
function limitAll(
  pieces: readonly Piece[],
  kindOf: (name: string) => Kind,
  limits: Limits,
  open: string | undefined,
): boolean {
  const parts = pieces
    .flatMap((piece) => ('optional' in piece ? piece.optional : piece))
    .map(partOf(kindOf))
  for (const [place, { name, plain }] of parts.entries()) {
    if (plain !== undefined || name === open) continue
    const before = parts[place - 1]
    const after = parts[place + 1]
    if ((before && before.plain === undefined) || (after && after.plain === undefined)) return false
    if (before?.plain) limit(limits, name, before.plain.slice(-1))
    if (after?.plain) limit(limits, name, after.plain.slice(0, 1))
  }
  const beginnings = pieces.map(beginningOf)
  return pieces.every((piece, place) => {
    if (!('optional' in piece)) return true
    const begins = beginnings[place]
    if (begins === undefined) return false
    const following = pieces.findIndex((one, at) => at > place && !('optional' in one))
    return beginnings
      .slice(place + 1, following === -1 ? undefined : following + 1)
      .every((next) => next !== undefined && !begins.startsWith(next) && !next.startsWith(begins))
  })
}

function beginningOf(piece: Piece): string | undefined {
  const [first] = 'optional' in piece ? piece.optional : [piece]
  return first && 'plain' in first ? first.plain : undefined
}

function limit(limits: Limits, name: string, character: string): void {
  const known = limits.get(name) ?? new Set()
  limits.set(name, known.add(character))
}
