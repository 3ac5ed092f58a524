/**
 * Names that an object of a JSON text has twice. `JSON.parse` keeps the last one, other readers the
 * first: a proxy that has checked the body would have checked another one.
 */

/** The names of the object that a position is in; `null` in an array. */
type Names = Set<string> | null

const NAME_OR_BRACKET = /["{}[\]]/g

/** The first such name as JSON, `undefined` where there is none. `json` must be valid. */
export function repeatedName(json: string): string | undefined {
  const open: Names[] = []
  let at = next(json, 0)
  while (at < json.length) {
    const token = json[at]
    let end = at + 1
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '"') {
      end = endOfString(json, at)
      const names = open.at(-1)
      if (names && isName(json, end)) {
        const text = json.slice(at, end)
        const name = JSON.parse(text) as string
        if (names.has(name)) return text
        names.add(name)
      }
    } else open.pop()
    at = next(json, end)
  }
  return undefined
}

function next(json: string, from: number): number {
  NAME_OR_BRACKET.lastIndex = from
  return NAME_OR_BRACKET.exec(json)?.index ?? json.length
}

function endOfString(json: string, start: number): number {
  let at = start + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

/** Whether a string that ends there is the name of a field: only then a colon follows. */
function isName(json: string, end: number): boolean {
  let at = end
  while (/\s/.test(json[at] ?? '')) at++
  return json[at] === ':'
}
