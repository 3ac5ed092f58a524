/** A JSON Schema as a part of a larger document: its references name their places there. */

/** Keywords whose values are data and not schemas (JSON Schema 2020-12, Validation). */
const OF_DATA = new Set(['const', 'default', 'enum', 'example', 'examples'])

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

function notePlaces(value: unknown, place: string, places: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) return
  const { $id } = value as { $id?: unknown }
  if (typeof $id === 'string') places.set($id, place)
  for (const [name, inner] of schemasIn(value)) {
    notePlaces(inner, `${place}/${escaped(name)}`, places)
  }
}

function moved(value: unknown, root: string, places: Map<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => moved(one, root, places))
  const inner = new Map(schemasIn(value))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, its]) => name !== '$id' || typeof its !== 'string')
      .map(([name, its]) => [
        name,
        name === '$ref' && typeof its === 'string'
          ? movedReference(its, root, places)
          : inner.has(name)
            ? moved(its, root, places)
            : its,
      ]),
  )
}

function movedReference(reference: string, root: string, places: Map<string, string>): string {
  if (reference === '#') return root
  if (reference.startsWith('#/')) return root + reference.slice(1)
  return places.get(reference) ?? reference
}

const schemasIn = (value: object): [string, unknown][] =>
  Object.entries(value).filter(
    ([name, inner]) => !OF_DATA.has(name) && typeof inner === 'object' && inner !== null,
  )

/** RFC 6901, section 3, and section 6 for what a URI fragment cannot hold. */
const escaped = (name: string): string =>
  encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
