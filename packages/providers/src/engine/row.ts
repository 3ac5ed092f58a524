/** A row with the options of a host: what is read of the requests of its provider. */
import { hash } from 'node:crypto'
import type { Preset, Text } from '../preset.ts'
import { readerOf, type Read } from './bodies.ts'
import { chosen, optionTexts, type RowOptions } from './chosen.ts'
import { responderOf, type Respond, type Stage } from './handshakes.ts'
import { assertOneReading } from './one-reading.ts'
import { itemsAt, type Reading } from './places.ts'
import type { Sent } from './sent.ts'
import { firstOf } from './text.ts'
import { verifierOf, type Verifier } from './verify.ts'

/** A row that requests are read with. */
export interface Row {
  readingOf: (sent: Sent, item?: unknown) => Reading
  verifier: Verifier
  /** The payload as JSON text. */
  payloadOf: Read
  /** The items of a batch, of the parsed body. */
  itemsOf: ((body: unknown) => readonly unknown[]) | undefined
  /** `<id>.<type>` */
  nameOf: (sent: Sent, item?: unknown) => string
  /** The headers that the name is read from. */
  nameHeaders: string[]
  /** What a repeat shares with the first; `null` where it has nothing of that. */
  keyOf: (sent: Sent, item?: unknown) => string | null
  keyHeaders: string[]
  /** The provider's own id of a delivery, which need not be signed; `null` where it has none. */
  idOf: (sent: Sent, item?: unknown) => string | null
  respond: Record<Stage, Respond | undefined>
}

const LONGEST_NAME = 200

/** @throws TypeError for a row that could be read in two ways */
export function rowOf(id: string, given: Preset, options: RowOptions): Row {
  const preset = chosen(given, options)
  assertOneReading(preset)
  const { schemes, split, type, deduplicate, handshakes } = preset
  const texts = optionTexts(preset, options)
  const { publicOrigin, toleranceSeconds } = options
  const readingOf = (sent: Sent, item?: unknown): Reading => ({
    sent,
    options: texts,
    item,
    // The URL as the provider has called it: a host may rewrite URLs.
    ...(publicOrigin !== undefined && { url: publicOrigin + sent.target }),
    ...sent.verified,
  })
  const typeOf = typeFinder(id, type)
  return {
    readingOf,
    verifier: verifierOf(schemes, preset, toleranceSeconds),
    payloadOf: readerOf(preset),
    itemsOf: split === undefined ? undefined : itemsAt(split),
    nameOf: (sent, item) => `${id}.${typeOf(readingOf(sent, item))}`,
    nameHeaders: headersIn(type),
    keyOf: keyFinder(preset, readingOf, typeOf),
    keyHeaders: headersIn(deduplicate),
    idOf: idFinder(preset, readingOf),
    respond: {
      unverified: responderOf(handshakes, 'unverified'),
      verified: responderOf(handshakes, 'verified'),
    },
  }
}

/** What no event name may hold is replaced. */
function typeFinder(id: string, type: Preset['type']): (reading: Reading) => string {
  const find = firstOf(type)
  const longest = LONGEST_NAME - `${id}.`.length
  return (reading) =>
    (find(reading) ?? 'event').replaceAll(/[^A-Za-z0-9_.\-/]/g, '_').slice(0, longest)
}

function keyFinder(
  { deduplicate, split }: Preset,
  readingOf: Row['readingOf'],
  typeOf: (reading: Reading) => string,
): Row['keyOf'] {
  const find = firstOf(deduplicate)
  const written = JSON.stringify(deduplicate ?? '')
  const namesType = written.includes('{type}')
  const distinguishesItems = written.includes('{item:')
  return (sent, item) => {
    const reading = readingOf(sent, item)
    const key = find(namesType ? { ...reading, type: typeOf(reading) } : reading) ?? null
    if (key === null || split === undefined || distinguishesItems) return key
    return `${key} ${hash('sha256', JSON.stringify(item ?? null))}`
  }
}

/** An id is one value of the request, and no text that is made of several. */
function idFinder({ id, deduplicate }: Preset, readingOf: Row['readingOf']): Row['idOf'] {
  const isOneValue = (text: Text): boolean =>
    /^\{(?:json|header|form|item|claim):[^{}|]+\}$/.test(text)
  const find = firstOf(id ?? [deduplicate ?? []].flat().filter(isOneValue))
  return (sent, item) => find(readingOf(sent, item)) ?? null
}

/** The headers that texts are built of. */
const headersIn = (texts: Text | readonly Text[] = []): string[] =>
  [texts]
    .flat()
    .flatMap((text) => [...text.matchAll(/\{header:([^{}|]+)/g)].flatMap(([, name]) => name ?? []))

const DAY_SECONDS = 86_400

/**
 * For how long a repeat is recognised: for as long as a request is taken, which is twice the tolerance,
 * as that is both ways. @default undefined, a day
 */
export function rememberedSeconds(
  { schemes, remembersSeconds }: Preset,
  toleranceSeconds: number | undefined,
): number | undefined {
  if (remembersSeconds !== undefined) return remembersSeconds
  const tolerances = schemes.map((scheme) =>
    'timestamp' in scheme && scheme.timestamp ? scheme.timestamp.toleranceSeconds : 0,
  )
  const seconds = Math.ceil(2 * (toleranceSeconds ?? Math.max(...tolerances)))
  return seconds > DAY_SECONDS ? seconds : undefined
}
