/** The operators of filters. Each makes a test of the values that its path leads to. */
import { InvalidFilter } from '../../errors.ts'
import { isObject } from './filter-limits.ts'

export interface Test {
  /** `values`: several where the path leads through lists, `undefined` for a field that is missing. */
  (values: readonly unknown[]): boolean
  /** With how many objects and lists it compares each value. @default 1 */
  comparisons?: number
}

/** @throws InvalidFilter */
type Operator = (operand: unknown, spot: string) => Test

const not = (test: Test): Test => Object.assign((values: readonly unknown[]) => !test(values), test)

/** A list matches where one of its elements does. */
const some =
  (matches: (value: unknown) => boolean): Test =>
  (values) =>
    values.some((value) => matches(value) || (Array.isArray(value) && value.some(matches)))

const equals: Operator = (operand, spot) => {
  assertValue(operand, spot)
  // A missing field counts as null.
  if (operand === null) {
    const isNull = some((value) => value === null || value === undefined)
    return (values) => values.length === 0 || isNull(values)
  }
  return some((value) => isEqual(value, operand))
}

const isIn: Operator = (operand, spot) => {
  if (!Array.isArray(operand)) throw new InvalidFilter(`${spot} must be a list`)
  for (const [index, one] of operand.entries()) assertValue(one, `${spot}[${index}]`)
  const scalars = new Set(operand.filter((one) => typeof one !== 'object'))
  const tests = operand.filter((one) => typeof one === 'object').map((one) => equals(one, spot))
  const isScalar = some((value) => scalars.has(value))
  const test: Test = (values) => isScalar(values) || tests.some((one) => one(values))
  return Object.assign(test, { comparisons: 1 + tests.length })
}

/** Numbers with numbers and texts with texts: another type is neither more nor less. */
function compares(holds: (value: never, operand: never) => boolean): Operator {
  return (operand, spot) => {
    if (typeof operand !== 'number' && typeof operand !== 'string') {
      throw new InvalidFilter(`${spot} must be a number or a text`)
    }
    return some(
      (value) => typeof value === typeof operand && holds(value as never, operand as never),
    )
  }
}

function ofText(holds: (value: string, operand: string) => boolean): Operator {
  return (operand, spot) => {
    if (typeof operand !== 'string') throw new InvalidFilter(`${spot} must be a text`)
    return some((value) => typeof value === 'string' && holds(value, operand))
  }
}

const contains: Operator = (operand, spot) => {
  assertValue(operand, spot)
  return (values) =>
    values.some((value) =>
      Array.isArray(value)
        ? value.some((element) => isEqual(element, operand))
        : typeof value === 'string' && typeof operand === 'string' && value.includes(operand),
    )
}

const exists: Operator = (operand, spot) => {
  if (typeof operand !== 'boolean') throw new InvalidFilter(`${spot} must be true or false`)
  return (values) => values.some((value) => value !== undefined) === operand
}

/** A `Map`: a name such as `constructor` finds nothing. */
export const OPERATORS = new Map<string, Operator>([
  ['$eq', equals],
  ['$ne', (operand, spot) => not(equals(operand, spot))],
  ['$gt', compares((value, operand) => value > operand)],
  ['$gte', compares((value, operand) => value >= operand)],
  ['$lt', compares((value, operand) => value < operand)],
  ['$lte', compares((value, operand) => value <= operand)],
  ['$in', isIn],
  ['$nin', (operand, spot) => not(isIn(operand, spot))],
  ['$exists', exists],
  ['$startsWith', ofText((value, operand) => value.startsWith(operand))],
  ['$endsWith', ofText((value, operand) => value.endsWith(operand))],
  ['$contains', contains],
])

/** An operator within a value would be compared as a field of that name. */
function assertValue(operand: unknown, spot: string): void {
  if (Array.isArray(operand)) {
    for (const [index, one] of operand.entries()) assertValue(one, `${spot}[${index}]`)
  } else if (isObject(operand)) {
    for (const [name, one] of Object.entries(operand)) {
      if (name.startsWith('$')) {
        throw new InvalidFilter(`${spot}.${name} cannot stand within a value`)
      }
      assertValue(one, `${spot}.${name}`)
    }
  }
}

/** Bounded by the depth of the operand. The order of the fields of an object does not matter. */
function isEqual(value: unknown, operand: unknown): boolean {
  if (Array.isArray(operand)) {
    return (
      Array.isArray(value) &&
      value.length === operand.length &&
      operand.every((one, index) => isEqual(value[index], one))
    )
  }
  if (!isObject(operand)) return value === operand
  const names = Object.keys(operand)
  return (
    isObject(value) &&
    names.every((name) => Object.hasOwn(value, name) && isEqual(value[name], operand[name])) &&
    // Last: the value may have many fields.
    sizeOf(value) === names.length
  )
}

/** Counted once: a value may have many fields, and many conditions compare it. */
const sizes = new WeakMap<object, number>()

function sizeOf(value: object): number {
  const known = sizes.get(value)
  if (known !== undefined) return known
  const size = Object.keys(value).length
  sizes.set(value, size)
  return size
}
