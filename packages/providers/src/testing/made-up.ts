/** What a test sends that gives no body: what is read of one of the provider, and nothing else. */
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { itemsAt, pathOf } from '../engine/places.ts'
import type { Preset, Text } from '../preset.ts'
import type { SignableRow } from './signed-request.ts'
import { putAt } from './draft.ts'

export interface MadeUp {
  /** Those with the type. */
  headers: Record<string, string>
  /** A value for JSON, or the fields of a form. */
  body: unknown
}

/** Whether the provider sends forms, or signs the fields of one where it sends both. */
export const sendsForms = ({ reads, unwrap, schemes }: SignableRow): boolean =>
  reads === 'form' ||
  (reads === 'json or form' &&
    unwrap === undefined &&
    schemes.some((scheme) => signedBy(scheme)?.includes('{params}')))

export function madeUp(preset: SignableRow, type = preset.example ?? 'event'): MadeUp {
  const { split, unwrap, unwraps, deduplicate, schemes } = preset
  const headers: Record<string, string> = {}
  const fields: Record<string, string> = {}
  const json = listAt(split)
  const [item] = split === undefined ? [] : itemsAt(split)(json)
  const put = (place: string, value: string) => {
    const [kind, name = ''] = place.split(/:(.*)/s)
    const [field = '', path] = name.split('#')
    if (kind === 'header') headers[name] ??= value
    else if (kind === 'json') putAt(json, pathOf(name), value)
    else if (kind === 'key') putAt(json, [named(name.split(','), value)], value)
    else if (kind === 'item') putAt(item, pathOf(name), value)
    else if ((kind === 'form' || kind === 'xml') && path !== undefined)
      putAt(json, pathOf(path), value)
    else if (kind === 'form' && field !== unwrap) fields[field] = value
  }
  for (const text of [firstOf(deduplicate), ...schemes.map(signedBy)]) {
    for (const place of placesIn(text)) if (!place.startsWith('header:')) put(place, randomUUID())
  }
  // Where the whole body is the key, a second request would repeat the first.
  const whole = ['{body}', '{params}', ...(unwrap === undefined ? [] : [`{form:${unwrap}}`])]
  if ([deduplicate ?? []].flat().some((text) => whole.some((one) => text.includes(one)))) {
    const isForm = sendsForms(preset) && unwrap === undefined
    put(`${isForm ? 'form' : split === undefined ? 'json' : 'item'}:id`, randomUUID())
  }
  const typed = placesIn(typeText(preset, type))
  const parts = typed.length < 2 ? [type] : type.split('.')
  for (const [at, place] of typed.entries()) {
    const isLast = at === typed.length - 1
    put(place, (isLast ? parts.slice(at).join('.') : parts[at]) || 'event')
  }
  if (!sendsForms(preset)) return { headers, body: json }
  if (unwrap === undefined) return { headers, body: fields }
  return { headers, body: { [unwrap]: unwraps === 'xml' ? xmlOf(json) : JSON.stringify(json) } }
}

/** In base64. Each is another, as notifications with a time are. */
function xmlOf(json: unknown): string {
  const elements = Object.entries({ id: randomUUID(), ...(json as object) })
  const text = elements.map(([name, value]) => `<${name}>${String(value)}</${name}>`).join('')
  return Buffer.from(`<notification>${text}</notification>`).toString('base64')
}

const named = (names: readonly string[], wanted: string): string =>
  names.includes(wanted) ? wanted : (names[0] ?? '')

/** The text that has the example; else one of as many parts as the type is written with, or the first. */
function typeText({ type, example }: SignableRow, written: string): Text | undefined {
  const all = [type ?? []].flat()
  if (example !== undefined) return all.find((one) => one.includes('{header:'))
  const parts = written.split('.').length
  return all.find((one) => parts > 1 && placesIn(one).length === parts) ?? all[0]
}

const firstOf = (texts: Text | readonly Text[] | undefined): Text | undefined =>
  [texts ?? []].flat()[0]

const signedBy = (scheme: Preset['schemes'][number]): Text | undefined =>
  'signature' in scheme ? scheme.signed : undefined

const placesIn = (text: Text = ''): string[] =>
  [...text.matchAll(/\{([a-z]+:[^{}|]+)/g)].map(([, place = '']) => place)

/** A body with one item at the path of a batch. */
function listAt(split: string | undefined): unknown {
  if (split === undefined) return {}
  return pathOf(split).reduceRight<unknown>((inner, name) => ({ [name]: inner }), [{}])
}
