/** Takes secrets out of a payload. */
import type { Place } from '../preset.ts'
import { itemsAt } from './items.ts'
import { pathOf, valueAt } from './request-places.ts'

const MASK = '***'

/** A number keeps its digits: those beyond 2^53 would be rounded otherwise. */
interface Json {
  parse: (
    text: string,
    revive: (name: string, value: unknown, context: { source: string }) => unknown,
  ) => unknown
  stringify: (value: unknown) => string
  rawJSON: (text: string) => unknown
}
const { parse, stringify, rawJSON } = JSON as unknown as Json

/** Masks the values at places `json:…` and `item:…` of a JSON text, which is left as it is without them. */
export function masker(places: readonly Place[], split = ''): (json: string) => string {
  const ofBody = pathsIn(places, 'json:')
  const ofItems = pathsIn(places, 'item:')
  if (ofBody.length + ofItems.length === 0) return (json) => json
  const items = itemsAt(split)
  return (json) => {
    const body = parse(json, (_, value, { source }) =>
      typeof value === 'number' ? rawJSON(source) : value,
    )
    const masked = [
      ...ofBody.map((path) => mask(body, path)),
      ...items(body).flatMap((item) => ofItems.map((path) => mask(item, path))),
    ]
    return masked.includes(true) ? stringify(body) : json
  }
}

const pathsIn = (places: readonly Place[], kind: 'json:' | 'item:'): (readonly string[])[] =>
  places.flatMap((place) => (place.startsWith(kind) ? [pathOf(place.slice(kind.length))] : []))

function mask(root: unknown, path: readonly string[]): boolean {
  const name = path.at(-1) ?? ''
  const parent = valueAt(root, path.slice(0, -1))
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, name)) return false
  ;(parent as Record<string, unknown>)[name] = MASK
  return true
}
