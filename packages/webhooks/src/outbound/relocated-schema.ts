/** A JSON Schema as a part of a larger document: its references name their places there. */

/** Keywords whose values are data and not schemas (JSON Schema 2020-12, Validation). */
const OF_DATA = new Set(['const', 'default', 'enum', 'example', 'examples'])
/** Keywords whose values have schemas by names of any kind (JSON Schema 2020-12, Core, and draft 7). */
const OF_NAMED = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/**
 * `place`: where the schema stands, as a URI fragment of RFC 6901, such as `#/components/schemas/a`.
 * References into the schema itself, and to a schema of it by its `$id`, become references from the
 * root of the document. Other references stay as they are.
 */
export function relocatedSchema(schema: object, place: string): object {
  const places = new Map<string, string>()
  notePlaces(schema, place, places)
  return moved(schema, place, places) as object
}

/** `isNamed`: the value has schemas by their names, and no keywords. */
function notePlaces(
  value: unknown,
  place: string,
  places: Map<string, string>,
  isNamed = false,
): void {
  if (typeof value !== 'object' || value === null) return
  const { $id } = value as { $id?: unknown }
  if (typeof $id === 'string' && !isNamed) places.set($id, place)
  for (const [name, inner] of Object.entries(value)) {
    if (!isNamed && OF_DATA.has(name)) continue
    notePlaces(inner, `${place}/${escaped(name)}`, places, !isNamed && OF_NAMED.has(name))
  }
}

function moved(
  value: unknown,
  root: string,
  places: Map<string, string>,
  isNamed = false,
): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => moved(one, root, places))
  const entries = Object.entries(value)
  if (isNamed) {
    return Object.fromEntries(entries.map(([name, its]) => [name, moved(its, root, places)]))
  }
  return Object.fromEntries(
    entries
      .filter(([name, its]) => name !== '$id' || typeof its !== 'string')
      .map(([name, its]) => {
        if (OF_DATA.has(name)) return [name, its]
        if (name === '$ref' && typeof its === 'string') {
          return [name, movedReference(its, root, places)]
        }
        return [name, moved(its, root, places, OF_NAMED.has(name))]
      }),
  )
}

function movedReference(reference: string, root: string, places: Map<string, string>): string {
  if (reference === '#') return root
  if (reference.startsWith('#/')) return root + reference.slice(1)
  return places.get(reference) ?? reference
}

/** RFC 6901, section 3, and section 6 for what a URI fragment cannot hold. */
const escaped = (name: string): string =>
  encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
