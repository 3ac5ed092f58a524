/** Which leaves of a payload differ from what was before. */
import { InvalidOption } from '../errors.ts'
import { payloadText } from './validate-event.ts'

/** Levels of objects that are compared; what differs below them counts for its parent. */
const DEEPEST = 8
const MOST_PATHS = 200
/** Of all paths together: names of fields may be of any length. */
const MOST_CHARACTERS = 65_536

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/**
 * The dotted paths of the leaves that differ, as JSON text. Both are compared as JSON: an `undefined` is missing. A
 * list that differs is one path, its own. `null` is nothing before: all leaves differ.
 *
 * @param payload JSON text
 * @throws InvalidOption where `before` cannot be written as JSON
 */
export function changedText(before: unknown, payload: string): string {
  let text: string
  try {
    text = payloadText(before)
  } catch (error) {
    throw new InvalidOption(
      `events.publish: the option "before" must be what JSON can write: ${(error as Error).message}`,
    )
  }
  const found: Found = { paths: [], characters: 0 }
  const was = before === null ? undefined : (JSON.parse(text) as Json)
  if (text !== payload) collect(was, JSON.parse(payload) as Json, [], found)
  return JSON.stringify(found.paths)
}

interface Found {
  paths: string[]
  characters: number
}

const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Adds them in the order of the payload, then those that are only in what was before. */
function collect(
  before: Json | undefined,
  after: Json | undefined,
  path: readonly string[],
  found: Found,
): void {
  if (found.paths.length === MOST_PATHS || isEqual(before, after)) return
  const [was, is] = [objectOf(before, after), objectOf(after, before)]
  if (!was || !is || path.length === DEEPEST) {
    const text = path.join('.')
    found.characters += text.length
    if (found.characters <= MOST_CHARACTERS) found.paths.push(text)
    return
  }
  for (const name of new Set([...Object.keys(is), ...Object.keys(was)])) {
    collect(own(was, name), own(is, name), [...path, name], found)
  }
}

/** What is missing where the other is an object with fields counts as an object without any. */
function objectOf(
  value: Json | undefined,
  other: Json | undefined,
): { [name: string]: Json } | null {
  if (isObject(value)) return value
  return value === undefined && isObject(other) && Object.keys(other).length > 0 ? {} : null
}

const own = (value: { [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined

function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((element, n) => isEqual(element, other[n]))
    )
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
  )
}
