/** A row with the options of a host in its places, prefixes and addresses. */
import type { Need, NeedValue, Preset } from '../preset.ts'
import type { Scheme } from '../preset-schemes.ts'
import { Sent } from './sent.ts'
import { stringOf } from './text.ts'

type NeedOptions = { [Name in Need]?: NeedValue<Name> | undefined }

export interface RowOptions extends NeedOptions {
  /** Instead of the tolerance of the row. */
  toleranceSeconds?: number | undefined
}

export type OptionTexts = Readonly<Record<string, string | undefined>>

/** The options of a row that are texts: those that its places may name. */
export function optionTexts(
  { needs = [], mayNeed = [] }: Pick<Preset, 'needs' | 'mayNeed'>,
  options: RowOptions,
): OptionTexts {
  const textOf = (need: Need): string | undefined => {
    const value = options[need]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  return Object.fromEntries([...needs, ...mayNeed].map((need) => [need, textOf(need)]))
}

const NOTHING = new Sent({ method: 'POST', url: '/', headers: {} })

/** @throws TypeError where an option is missing that a place needs */
export function chosen<Row extends Pick<Preset, 'name' | 'schemes'> & Partial<Preset>>(
  preset: Row,
  options: RowOptions,
): Row {
  const texts = optionTexts(preset, options)
  const resolve = (text: string): string => {
    if (!/\{option:\w+(?:\|[^{}]*)?\}/.test(text)) return text
    const resolved = stringOf(text)({ sent: NOTHING, options: texts })
    if (resolved === undefined) throw new TypeError(`${preset.name}: ${text} lacks its option`)
    return resolved
  }
  const { rootCertificates } = options
  const roots = rootCertificates === undefined ? undefined : [rootCertificates].flat()
  const schemes = preset.schemes.map((scheme) =>
    resolvedIn(scheme, resolve, roots === undefined ? {} : { roots }),
  )
  return { ...preset, schemes: schemes as Scheme[] }
}

/** The fields of a scheme that may hold an option. What is signed is built for each request. */
const FIELDS: readonly string[] = ['in', 'prefix', 'names', 'url', 'kid']

function resolvedIn(value: unknown, resolve: (text: string) => string, chain: object): unknown {
  if (Array.isArray(value)) return value.map((one) => resolvedIn(one, resolve, chain))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]): [string, unknown] => {
      if (name === 'x5c') return [name, { ...(one as object), ...chain }]
      if (name === 'binds') return [name, one]
      if (!FIELDS.includes(name)) return [name, resolvedIn(one, resolve, chain)]
      if (typeof one === 'string') return [name, resolve(one)]
      return [name, (one as readonly string[]).map(resolve)]
    }),
  )
}
