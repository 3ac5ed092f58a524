/** XML of a provider as JSON: elements, their texts and their types. */

/** What no sender of ours has is not read: a document type, entities of its own, sections of CDATA. */
const TOKEN =
  /<\?[^<>]*\?>|<(?<end>\/)?(?<name>[\w.-]+)(?<attributes>(?:\s+[\w:.-]+="[^"<]*")*)\s*(?<empty>\/)?>|(?<text>[^<]+)/gy
const DEEPEST = 100

interface Element {
  name: string
  type: string | undefined
  isNil: boolean
  text: string
  children: { name: string; value: unknown }[]
}

/** The value of the only element of a document; `undefined` where it is not XML that is read. */
export function xmlValue(xml: string): unknown {
  const open: Element[] = []
  let root: { value: unknown } | undefined
  let read = 0
  for (const { 0: whole, groups = {} } of xml.matchAll(TOKEN)) {
    read += whole.length
    const { end, name, attributes = '', empty, text } = groups
    if (text !== undefined) {
      const [inner] = open.slice(-1)
      if (inner) inner.text += text
      else if (text.trim() !== '') return undefined
    }
    if (name === undefined) continue
    if (root || open.length > DEEPEST) return undefined
    if (!end) open.push(elementOf(name, attributes))
    if (!end && !empty) continue
    const closed = open.pop()
    if (closed?.name !== name) return undefined
    const value = valueOf(closed)
    const parent = open.at(-1)
    if (parent) parent.children.push({ name, value })
    else root = { value }
  }
  return read === xml.length && open.length === 0 ? root?.value : undefined
}

function elementOf(name: string, attributes: string): Element {
  const [, type] = /\stype="([^"]*)"/.exec(attributes) ?? []
  return { name, type, isNil: /\snil="true"/.test(attributes), text: '', children: [] }
}

/** An element with others in it is an object; one that comes several times is a list. */
function valueOf({ type, isNil, text, children }: Element): unknown {
  if (isNil) return null
  if (type === 'array') return children.map(({ value }) => value)
  if (children.length === 0) {
    const plain = unescaped(text)
    if (type === 'integer' && Number.isSafeInteger(Number(plain))) return Number(plain)
    return type === 'boolean' ? plain === 'true' : plain
  }
  const object = Object.create(null) as Record<string, unknown>
  for (const [name, same] of Map.groupBy(children, (child) => child.name)) {
    object[name] = same.length === 1 ? same[0]?.value : same.map(({ value }) => value)
  }
  return object
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,6})|(\w+));/g, (whole, code: string | undefined, name: string) =>
    code === undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number(code)),
  )
