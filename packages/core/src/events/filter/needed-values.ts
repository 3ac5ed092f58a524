/**
 * The values that an event must have for a filter to match it. An index of them saves evaluating
 * each filter.
 */
import { isObject } from './filter-limits.ts'

export type Scalar = string | number | boolean

/** A value at a path, or an element of the list at that path. */
export interface NeededValue {
  path: readonly string[]
  value: Scalar
}

/** One of these an event must have. */
export type OneOf = NeededValue[]

/** A filter with more alternatives is evaluated for each event: an index of them would be large. */
const MOST_ALTERNATIVES = 32

/** An event that a compiled filter matches has a value of each of these lists. */
export function neededValues(filter: unknown): OneOf[] {
  return needsOf(filter, []).filter((one) => one.length <= MOST_ALTERNATIVES)
}

function needsOf(condition: unknown, path: readonly string[]): OneOf[] {
  if (!isObject(condition)) return needsOfEquality(condition, path)
  return Object.entries(condition).flatMap(([name, inner]): OneOf[] => {
    if (name === '$eq') return needsOfEquality(inner, path)
    if (name === '$in') return isScalarList(inner) ? [inner.map((value) => ({ path, value }))] : []
    if (name === '$and') return (inner as unknown[]).flatMap((one) => needsOf(one, path))
    if (name === '$or') return needsOfAny(inner as unknown[], path)
    return name.startsWith('$') ? [] : needsOf(inner, [...path, ...name.split('.')])
  })
}

/** A missing field equals null, and an object is compared field by field: neither is indexed. */
const needsOfEquality = (value: unknown, path: readonly string[]): OneOf[] =>
  isScalar(value) ? [[{ path, value }]] : []

/** Any branch may match: where one of them needs no value, the filter needs none. */
function needsOfAny(branches: unknown[], path: readonly string[]): OneOf[] {
  const needs = branches.map((branch) => needsOf(branch, path)[0])
  return needs.every((need) => need !== undefined) ? [needs.flat()] : []
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

const isScalarList = (list: unknown): list is Scalar[] =>
  Array.isArray(list) && list.every(isScalar)
