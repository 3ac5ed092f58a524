/** The data of one request during its verification, and how places are read from it. */
import type { InboundRequest } from '../../source.ts'
import { headerValues } from '../../verify/checks.ts'
import { formOf, isForm, jsonOf } from '../../parsed-body.ts'
import type { Place } from '../preset.ts'

/** A header that is a list, and the separator of its elements. */
export interface List {
  text: string
  separator: string | readonly string[]
}

export interface Reading {
  request: InboundRequest
  /** The body read as UTF-8. */
  body: string
  /** The options of the host that a row may refer to. */
  options: Readonly<Record<string, string | undefined>>
  /** The item of a batch. */
  item?: unknown
  /** The header of a signature that is a list of `name=value`, and their separator. */
  list?: List | undefined
  claims?: Readonly<Record<string, unknown>> | undefined
  /** The headers that the sender has named and signed, lower-cased. */
  coveredNames?: ReadonlySet<string> | undefined
  /** The variant of the public URL that is tried. */
  url?: string | undefined
  timestamp?: string | undefined
  covered?: string | undefined
  secret?: string
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
      return ({ request, coveredNames }) =>
        coveredNames?.has(name) ? sole(headerValues(request, name)) : undefined
    case 'query':
      return ({ request }) => sole(queryOf(request).getAll(name))
    case 'json':
      return at(name, ({ request, body }) => jsonOf(request, body))
    case 'key':
      return keyAmong(name.split(','))
    case 'form':
      return formAt(name)
    case 'item':
      return at(name, ({ item }) => item)
    case 'field':
      return ({ list }) => (list ? sole([...new Set(fieldsOf(list, name))]) : undefined)
    case 'claim':
      return ({ claims }) => scalar(claims?.[name])
    case 'option':
      return ({ options }) => options[name]
    default:
      throw new TypeError(`there is no place ${place}`)
  }
}

/** Whether a header or parameter is there at all: one that came twice is, and has no value. */
export function isAbsentAt(place: Place): (reading: Reading) => boolean {
  const name = place.slice(place.indexOf(':') + 1)
  if (place.startsWith('header:')) {
    return ({ request }) => headerValues(request, name).length === 0
  }
  if (place.startsWith('query:')) return ({ request }) => !queryOf(request).has(name)
  const find = findAt(place)
  return (reading) => find(reading) === undefined
}

function headerAt(name: string): Find {
  const [header = '', field] = name.split('#')
  if (field === undefined) return ({ request }) => sole(headerValues(request, header))
  return ({ request }) => {
    const text = sole(headerValues(request, header))
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
  return ({ request, body }) => {
    const json = jsonOf(request, body)
    return names.find((name) => valueAt(json, [name]) !== undefined)
  }
}

function formAt(name: string): Find {
  const [field = '', path] = name.split('#')
  // JSON that is read as a form has fields too, in the middle of its values.
  const text: Find = ({ request, body }) =>
    isForm(request) ? sole(formOf(request, body)[field] ?? []) : undefined
  if (path === undefined) return text
  const names = pathOf(path)
  return (reading) => {
    const json = text(reading)
    if (json === undefined) return undefined
    try {
      return scalar(valueAt(JSON.parse(json), names))
    } catch {
      return undefined
    }
  }
}

const sole = (values: readonly string[]): string | undefined =>
  values.length === 1 ? values[0] : undefined

const scalar = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** Path and query as they were sent, which is what a provider signs: a host may rewrite URLs. */
export const targetOf = ({ originalUrl, url }: InboundRequest): string => originalUrl ?? url

const queries = new WeakMap<object, URLSearchParams>()

/** Parsed by us: the host may have set another parser of queries. */
export function queryOf(request: InboundRequest): URLSearchParams {
  let query = queries.get(request)
  if (!query) {
    const url = targetOf(request)
    const start = url.indexOf('?')
    query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
    queries.set(request, query)
  }
  return query
}
