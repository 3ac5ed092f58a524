/** The data of one request while it is verified, and how places are read from it. */
import { Buffer } from 'node:buffer'
import type { Place } from '../preset.ts'
import type { List, Sent, Verified } from './sent.ts'
import { xmlValue } from './xml.ts'

export interface Reading extends Verified {
  sent: Sent
  /** The options of the host that a row may refer to. */
  options: Readonly<Record<string, string | undefined>>
  /** The item of a batch. */
  item?: unknown
  timestamp?: string | undefined
  covered?: string | undefined
  /** The type of the event, as its name has it. */
  type?: string
}

/** Finds a value; `undefined` where it is missing or not unique. */
export type Find = (reading: Reading) => string | undefined

/** Compiles a place, once at boot. */
export function findAt(place: Place): Find {
  const end = place.indexOf(':')
  const kind = place.slice(0, end)
  const name = place.slice(end + 1)
  switch (kind) {
    case 'header':
      return headerAt(name)
    case 'covered':
      return ({ sent, coveredNames }) => (coveredNames?.has(name) ? sent.header(name) : undefined)
    case 'query':
      return ({ sent }) => sole(sent.query.getAll(name))
    case 'json':
      return at(name, ({ sent }) => sent.json)
    case 'key':
      return keyAmong(name.split(','))
    case 'form':
      return formAt(name, JSON.parse)
    case 'xml':
      return formAt(name, xmlInBase64)
    case 'item':
      return at(name, ({ item }) => item)
    case 'field':
      return ({ list }) => (list ? sole([...new Set(fieldsOf(list, name))]) : undefined)
    case 'element':
      return ({ list }) => (list ? elementsOf(list)[Number(name)]?.trim() : undefined)
    case 'claim':
      return at(name, ({ claims }) => claims)
    case 'option':
      return ({ options }) => options[name]
    default:
      throw new TypeError(`there is no place ${place}`)
  }
}

/** Whether a header or parameter is there at all: one that came twice is, and has no value. */
export function isAbsentAt(place: Place): (reading: Reading) => boolean {
  const name = place.slice(place.indexOf(':') + 1)
  if (place.startsWith('header:')) return ({ sent }) => sent.headerValues(name).length === 0
  if (place.startsWith('query:')) return ({ sent }) => !sent.query.has(name)
  const find = findAt(place)
  return (reading) => find(reading) === undefined
}

function headerAt(name: string): Find {
  const [header = '', field] = name.split('#')
  if (field === undefined) return ({ sent }) => sent.header(header)
  return ({ sent }) => {
    const text = sent.header(header)
    return text === undefined ? undefined : sole(fieldsOf({ text, separator: ',' }, field))
  }
}

export function elementsOf({ text, separator }: List): string[] {
  return [separator]
    .flat()
    .reduce((elements, one) => elements.flatMap((element) => element.split(one)), [text])
}

/** The values of the fields of this name in a list `name=value`. */
export function fieldsOf(list: List, name: string): string[] {
  return elementsOf(list).flatMap((field) => {
    const end = field.indexOf('=')
    return end > 0 && field.slice(0, end).trim() === name ? [field.slice(end + 1).trim()] : []
  })
}

/** The value at a path of names and indices; `undefined` where the path leaves the body. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    if (Array.isArray(value) && name === 'length') return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

export const pathOf = (path: string): readonly string[] => (path === '' ? [] : path.split('.'))

function at(path: string, root: (reading: Reading) => unknown): Find {
  const names = pathOf(path)
  return (reading) => scalar(valueAt(root(reading), names))
}

/** In some bodies the name of the only field is the type. */
function keyAmong(names: readonly string[]): Find {
  return ({ sent }) => names.find((name) => valueAt(sent.json, [name]) !== undefined)
}

function formAt(name: string, parse: (text: string) => unknown): Find {
  const [field = '', path] = name.split('#')
  // JSON that is read as a form has fields too, in the middle of its values.
  const text: Find = ({ sent }) => (sent.isForm ? sole(sent.form[field] ?? []) : undefined)
  if (path === undefined) return text
  const names = pathOf(path)
  return (reading) => {
    const json = text(reading)
    if (json === undefined) return undefined
    try {
      return scalar(valueAt(parse(json), names))
    } catch {
      return undefined
    }
  }
}

/** What MIME wraps lines with is no part of it. */
export const xmlInBase64 = (text: string): unknown =>
  xmlValue(Buffer.from(text, 'base64').toString('utf8'))

const sole = (values: readonly string[]): string | undefined =>
  values.length === 1 ? values[0] : undefined

const scalar = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** The items at the path of a parsed body: those of a list, or a single value as the only item. */
export function itemsAt(path: string): (body: unknown) => readonly unknown[] {
  const names = pathOf(path)
  return (body) => {
    const value = valueAt(body, names)
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value : [value]
  }
}
