/** Makes a source of a row and the options of a host. */
import { hash } from 'node:crypto'
import { resolveOptions } from '@svc/core/internal'
import type { InboundRequest, InboundSource } from '../source.ts'
import { showHeaders } from '../verify/secret-headers.ts'
import type { SecretName } from '../verify/secret-names.ts'
import { itemsAt } from './engine/items.ts'
import { replyOf, respondTo, type OnHandshake } from './engine/handshakes.ts'
import { readerOf } from './engine/bodies.ts'
import { assertOneReading } from './engine/one-reading.ts'
import { targetOf, type Reading } from './engine/request-places.ts'
import { firstOf } from './engine/text.ts'
import { verifiedOf } from './engine/verified.ts'
import { verifyBy } from './engine/verify.ts'
import { assertUsed, rulesOf } from './preset-options.ts'
import type { Need, Preset, Text } from './preset.ts'

/** Fields of the source that a host sets itself instead of the preset. */
export type Overrides = { [Name in keyof Overridden]?: Overridden[Name] | undefined }

type Overridden = Omit<InboundSource, 'path'>

/** The options of every preset. */
export interface CommonOptions extends Overrides {
  /** URL path that receives the provider's requests. */
  path: string
  /**
   * How far a timestamp may be from now, in seconds, both ways. @default the tolerance of the
   * provider
   */
  toleranceSeconds?: number | undefined
  /** Keeps the secret that the provider sends with its first request, unsigned. */
  onHandshake?: OnHandshake | undefined
}

type Settled = CommonOptions & { secretName?: SecretName } & Partial<Record<Need, string>>

/**
 * Makes a source of a row.
 *
 * @throws InvalidOption naming the provider and the option
 * @throws TypeError for a row that could be read in two ways
 */
export function sourceOf(id: string, preset: Preset, given: unknown): InboundSource {
  const options = resolveOptions<Settled>(`providers.${id}`, rulesOf(preset, OVERRIDES), given)
  assertUsed(id, preset, options)
  assertOneReading(preset)
  const { path, secretName = null, toleranceSeconds, onHandshake, ...rest } = options
  const { publicOrigin, verifyTokenSecretName } = rest
  const texts = Object.fromEntries(
    [...(preset.needs ?? []), ...(preset.mayNeed ?? [])].map((need) => [need, rest[need]] as const),
  )
  const readingOf = (request: InboundRequest, body: string): Reading => ({
    request,
    body,
    options: texts,
    // The URL as the provider has called it: a host may rewrite URLs.
    ...(publicOrigin !== undefined && { url: publicOrigin + targetOf(request) }),
    ...verifiedOf(request),
  })
  const made: InboundSource = {
    path,
    publishAs: namer(id, preset, readingOf),
    verify: verifyBy(preset, { secretName, toleranceSeconds, readingOf }),
    ...(preset.deduplicate && { deduplicationKey: keyer(id, preset, readingOf) }),
    ...(preset.split !== undefined && { split: itemsAt(preset.split) }),
    readAs: readerOf(preset),
    ...rememberedFor(preset, toleranceSeconds),
    ...respondTo(preset.handshakes ?? [], {
      secretName,
      verifyTokenSecretName,
      onHandshake,
      readingOf,
    }),
    ...(preset.emptyErrors && { emptyErrors: true }),
    ...(preset.answer && { answer: replyOf(preset.answer)(NO_READING) ?? {} }),
  }
  return { ...made, ...overridesOf(options) }
}

/** An answer to an event holds fixed text alone. */
const NO_READING = { options: {}, body: '' } as unknown as Reading

const DAY_SECONDS = 86_400

/** A key is remembered for as long as its request is taken: twice the tolerance, which is both ways. */
function rememberedFor(
  { schemes, remembersSeconds }: Preset,
  override: number | undefined,
): Pick<InboundSource, 'deduplicationTtlSeconds'> {
  if (remembersSeconds !== undefined) return { deduplicationTtlSeconds: remembersSeconds }
  const tolerances = schemes.map((scheme) =>
    'timestamp' in scheme && scheme.timestamp ? scheme.timestamp.toleranceSeconds : 0,
  )
  const seconds = Math.ceil(2 * (override ?? Math.max(...tolerances)))
  return seconds > DAY_SECONDS ? { deduplicationTtlSeconds: seconds } : {}
}

const LONGEST_NAME = 200

/** What no event name may hold is replaced. */
function typeOf(id: string, { type }: Preset): (reading: Reading) => string {
  const find = firstOf(type)
  const longest = LONGEST_NAME - `${id}.`.length
  return (reading) =>
    (find(reading) ?? 'event').replaceAll(/[^A-Za-z0-9_.\-/]/g, '_').slice(0, longest)
}

/** `<id>.<type>` */
function namer(id: string, preset: Preset, readingOf: (r: InboundRequest, b: string) => Reading) {
  const find = typeOf(id, preset)
  const name = (request: InboundRequest, body: string, item?: unknown): string =>
    `${id}.${find({ ...readingOf(request, body), item })}`
  return showHeaders(name, headersIn(preset.type))
}

/** The headers that a text is built of. */
const headersIn = (texts: Text | readonly Text[] = []): string[] =>
  [texts]
    .flat()
    .flatMap((text) => [...text.matchAll(/\{header:([^{}|]+)/g)].flatMap(([, name]) => name ?? []))

function keyer(id: string, preset: Preset, readingOf: (r: InboundRequest, b: string) => Reading) {
  const { deduplicate, split } = preset
  const find = firstOf(deduplicate)
  const typed = typeOf(id, preset)
  const written = JSON.stringify(deduplicate)
  const namesType = written.includes('{type}')
  const distinguishesItems = written.includes('{item:')
  const keyOf = (request: InboundRequest, body: string, item?: unknown): string | null => {
    const reading = { ...readingOf(request, body), item }
    const key = find(namesType ? { ...reading, type: typed(reading) } : reading) ?? null
    if (key === null || split === undefined || distinguishesItems) return key
    return `${key} ${hash('sha256', JSON.stringify(item ?? null))}`
  }
  return showHeaders(keyOf, headersIn(deduplicate))
}

const OVERRIDES: readonly (keyof Overrides)[] = [
  'publishAs',
  'verify',
  'deduplicationKey',
  'deduplicationTtlSeconds',
  'split',
  'tenant',
  'readAs',
  'respond',
  'respondUnverified',
  'answer',
  'emptyErrors',
]

/** Their values are checked where the source is: see sources.ts. */
const overridesOf = (options: Settled): Partial<Overridden> =>
  Object.fromEntries(
    OVERRIDES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
