/** The parts of its payload that the deliveries of a webhook carry. */
import { isRawJSON, parsedExactly } from '../../exact-json.ts'

/** The longest list of paths. */
export const MOST_FIELDS = 50

/** What is wanted of a value: all of it, or of an object these fields. */
type Wanted = 'all' | Map<string, Wanted>

/**
 * The payload with only the fields at these paths, such as `customer.name`. A path walks through objects and, element by
 * element, through lists: an element without it is an empty object. What a path finds no object in is left out, and a
 * payload that has none of the fields is an empty object.
 *
 * @param json the payload, whose numbers stay as they are written
 */
export function onlyFields(json: string, paths: readonly string[]): string {
  if (paths.length === 0) return '{}'
  return JSON.stringify(pickedOf(parsedExactly(json), wantedOf(paths)) ?? {})
}

function wantedOf(paths: readonly string[]): Map<string, Wanted> {
  const root = new Map<string, Wanted>()
  // The short ones first: what is wanted whole needs no path into it.
  const all = paths.map((path) => path.split('.')).toSorted((a, b) => a.length - b.length)
  for (const segments of all) {
    let place: Wanted = root
    for (const [n, segment] of segments.entries()) {
      if (place === 'all') break
      const isLast = n === segments.length - 1
      const below: Wanted = place.get(segment) ?? (isLast ? 'all' : new Map<string, Wanted>())
      place.set(segment, below)
      place = below
    }
  }
  return root
}

/** `undefined` where nothing of it is wanted. */
function pickedOf(value: unknown, wanted: Map<string, Wanted>): object | undefined {
  if (Array.isArray(value)) return value.map((element) => pickedOf(element, wanted) ?? {})
  if (typeof value !== 'object' || value === null || isRawJSON(value)) return undefined
  const found: [string, unknown][] = []
  for (const [name, its] of Object.entries(value)) {
    const of = wanted.get(name)
    if (of === undefined) continue
    const part: unknown = of === 'all' ? its : pickedOf(its, of)
    if (part !== undefined) found.push([name, part])
  }
  return found.length === 0 ? undefined : Object.fromEntries(found)
}
