/** The header lines of a genuine request changed, and which of its headers have to stay as they are. */
import fc from 'fast-check'
import type { Preset } from '../../packages/providers/src/preset.ts'
import type { Scheme } from '../../packages/providers/src/preset-schemes.ts'
import { textOf, words } from './fuzz.ts'

export type Line = readonly [name: string, value: string]

interface Change {
  kind: keyof typeof CHANGES
  /** Which header, counted round. */
  line: number
  place: number
  text: string
}

const HUGE = 12_000
const filled = (piece: string): string => ''.padEnd(HUGE, piece || '=')
const insert = (value: string, place: number, text: string, removed = 0): string => {
  const at = place % (value.length + 1)
  return value.slice(0, at) + text + value.slice(at + removed)
}

/** What becomes of one line. */
const CHANGES = {
  isMissing: () => [],
  isDoubled: (line: Line) => [line, line],
  isDoubledInUpperCase: ([name, value]: Line) => [
    [name, value] as Line,
    [name.toUpperCase(), value],
  ],
  hasAnotherAfter: (line: Line, { text }: Change) => [line, [line[0], text]],
  hasAnotherBefore: (line: Line, { text }: Change) => [[line[0], text] as Line, line],
  isJoinedWithItself: ([name, value]: Line) => [[name, `${value}, ${value}`]],
  isJoinedAfter: ([name, value]: Line, { text }: Change) => [[name, `${value},${text}`]],
  isJoinedBefore: ([name, value]: Line, { text }: Change) => [[name, `${text},${value}`]],
  isJoinedBySpace: ([name, value]: Line, { text }: Change) => [[name, `${text} ${value}`]],
  isUpperCase: ([name, value]: Line) => [[name, value.toUpperCase()]],
  isLowerCase: ([name, value]: Line) => [[name, value.toLowerCase()]],
  hasBlanksAround: ([name, value]: Line) => [[name, ` \t${value}\t `]],
  hasBlankInside: ([name, value]: Line, { place }: Change) => [[name, insert(value, place, ' ')]],
  isCut: ([name, value]: Line, { place }: Change) => [[name, value.slice(0, place % value.length)]],
  isCutInFront: ([name, value]: Line, { place }: Change) => [
    [name, value.slice(1 + (place % value.length))],
  ],
  isChanged: ([name, value]: Line, { place, text }: Change) => [
    [name, insert(value, place, text.slice(0, 2), 1)],
  ],
  hasMore: ([name, value]: Line, { place, text }: Change) => [[name, insert(value, place, text)]],
  isPadded: ([name, value]: Line, { place }: Change) => [
    [name, value + '='.repeat(1 + (place % 3))],
  ],
  isHuge: ([name, value]: Line, { text }: Change) => [[name, filled(text || value)]],
  isHugeAtTheEnd: ([name, value]: Line, { text }: Change) => [[name, value + filled(text)]],
  isARun: ([name]: Line, { text }: Change) => [[name, `${filled(text.slice(0, 1))}x.e30.AAAA`]],
  isOther: ([name]: Line, { text }: Change) => [[name, text]],
  /** Nothing of these is changed for the receiver. */
  hasItsNameInUpperCase: ([name, value]: Line) => [[name.toUpperCase(), value]],
  isBesideAnUnrelated: (line: Line, { place, text }: Change) => [line, [`x-other-${place}`, text]],
} satisfies Record<string, (line: Line, change: Change) => readonly (readonly string[])[]>

const HARMLESS = ['hasItsNameInUpperCase', 'isBesideAnUnrelated', 'hasBlanksAround']

const noise = fc.oneof(
  textOf('v1=', 't=', ',', '=', ' ', ';', 'v1,', 'v1a,', 'sha256=', 'Bearer ', 'Basic ', '.', 'h='),
  fc.constantFrom(...words('0 a = , \u0130 é ÿ \u212a {} v1= t=1700000000 none AAAA %00')),
)

export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
    line: fc.nat(20),
    place: fc.nat(300),
    text: noise,
  }),
  { minLength: 1, maxLength: 3 },
)

export const isHarmless = (all: readonly Change[]): boolean =>
  all.every(({ kind }) => HARMLESS.slice(0, 2).includes(kind))

/** Changes lines of these names, as far as they are still there. */
export function changed(
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
  all: readonly Change[],
): Line[] {
  let lines: Line[] = Object.entries(headers)
  for (const change of all) {
    const name = names[change.line % names.length]
    const at = lines.findIndex(([given]) => given.toLowerCase() === name)
    const line = lines[at]
    if (line === undefined || line[1] === '') continue
    lines = lines.toSpliced(at, 1, ...(CHANGES[change.kind](line, change) as Line[]))
  }
  return lines
}

/** As Node makes them of the lines: of some headers it keeps the first, others it joins. */
export function headersOf(lines: readonly Line[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of lines) {
    const lower = name.toLowerCase()
    const known = headers[lower]
    if (known === undefined) headers[lower] = value
    else if (!['authorization', 'content-type', 'host'].includes(lower)) {
      headers[lower] = `${known}, ${value}`
    }
  }
  return headers
}

/**
 * Whether each of these headers is there once, with the value that was signed. Written by the rules of
 * the formats, and without the code of the engine.
 */
export function isIntact(
  scheme: Scheme,
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
  lines: readonly Line[],
): boolean {
  return names.every((name) => {
    const values = lines.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value)
    const [value] = values
    if (values.length !== 1 || value === undefined) return false
    // No signature covers a header that only says which scheme signs: nothing but its field counts.
    const said = Object.keys(scheme.when ?? {}).find((one) => one.startsWith(`header:${name}#`))
    if (said === undefined) return isSame(scheme, headers[name]!, value.trim())
    const field = said.slice(said.indexOf('#') + 1)
    const itsValues = (text: string) =>
      text
        .split(',')
        .map((element) => element.split('=').map((part) => part.trim()))
        .flatMap(([given, ...rest]) => (given === field ? [rest.join('=')] : []))
    return itsValues(value).join() === itsValues(headers[name]!).join()
  })
}

function isSame(scheme: Scheme, wanted: string, value: string): boolean {
  if (value === wanted) return true
  const bytesOf = (text: string) => Buffer.from(text.replace(/^basic +/i, ''), 'base64')
  switch (scheme.algorithm) {
    case 'basic':
      return /^basic +[^ ]+$/i.test(value) && bytesOf(value).equals(bytesOf(wanted))
    case 'token': {
      const { length } = scheme.prefix ?? ''
      const head = (text: string) => text.slice(0, length).toLowerCase()
      // More blanks than one may follow a scheme of Authorization (RFC 9110, 11.4).
      const token = (text: string) =>
        text.slice(length).replace(scheme.prefix?.endsWith(' ') ? /^ +/ : '', '')
      return head(value) === head(wanted) && token(value) === token(wanted)
    }
    case 'jwt':
      return (
        /^[^=]+={1,2}$/.test(value) &&
        value.startsWith(wanted) &&
        !/[^=]/.test(value.slice(wanted.length))
      )
    default:
      return holdsSignature(scheme, wanted, value)
  }
}

/** Hex in either case, base64url with padding or without; a list may hold more than what was signed, but nothing else under its names. */
function holdsSignature(
  {
    signature: { separator, field, prefix = '' },
    encoding,
  }: Exclude<Scheme, { algorithm: 'basic' | 'token' | 'jwt' }>,
  wanted: string,
  value: string,
): boolean {
  const plain = (text: string) => {
    if (encoding === 'base64url') return text.replace(/(?<!=)={1,2}$/, '')
    return encoding === 'hex' && text.startsWith(prefix) ? text.toLowerCase() : text
  }
  if (separator === undefined && field === undefined) return plain(value) === plain(wanted)
  const separators = [separator ?? ','].flat()
  const elements = (text: string) =>
    separators
      .reduce((all, one) => all.flatMap((element) => element.split(one)), [text])
      .map((element) => {
        const end = element.indexOf('=')
        if (field === undefined || end < 1) return plain(element)
        const name = element.slice(0, end).trim()
        const rest = element.slice(end + 1).trim()
        return `${name}=${name === field ? plain(rest) : rest}`
      })
  const given = elements(value)
  return elements(wanted).every((element) => {
    const name = element.slice(0, element.indexOf('=') + 1)
    const isSole = field !== undefined && name !== `${field}=` && name !== ''
    return isSole
      ? given.every((one) => !one.startsWith(name) || one === element) && given.includes(element)
      : given.includes(element)
  })
}

/** The headers without which, or with another value of which, a request is refused. */
export async function essentialHeaders(
  { schemes }: Preset,
  headers: Readonly<Record<string, string>>,
  isAccepted: (lines: Line[]) => Promise<boolean>,
): Promise<string[]> {
  const places = JSON.stringify(schemes.map((one) => ('key' in one ? one.key : null)))
  const found: string[] = []
  for (const name of Object.keys(headers)) {
    // A form may name its character set; another certificate is judged by what it signs.
    if (name === 'content-type' || places.includes(`{header:${name}}`)) continue
    const others = Object.entries(headers).filter(([one]) => one !== name)
    const another: Line = [name, `${headers[name]!.slice(0, -3)}~`]
    const isNeeded = !(await isAccepted(others)) && !(await isAccepted([...others, another]))
    if (isNeeded) found.push(name)
  }
  return found
}
