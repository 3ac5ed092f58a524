/** Bounds of a filter, checked before anything of it is compiled. */
import { InvalidFilter } from '../../errors.ts'

const MAX_BYTES = 4096
/** Objects within objects, and lists within lists: what compiles and compares them is recursive. */
const MAX_LEVELS = 8

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @throws InvalidFilter naming the spot */
export function assertWithinLimits(filter: unknown): asserts filter is Record<string, unknown> {
  if (!isObject(filter)) throw new InvalidFilter('filter must be an object')
  walk(filter, 'filter', 0, 0)
  const bytes = Buffer.byteLength(JSON.stringify(filter))
  if (bytes > MAX_BYTES) {
    throw new InvalidFilter(`filter has ${bytes} bytes, and may have ${MAX_BYTES}`)
  }
}

function walk(value: unknown, spot: string, objects: number, lists: number): void {
  if (Array.isArray(value)) {
    assertLevels(lists + 1, spot)
    for (const [index, one] of value.entries()) {
      walk(one, `${spot}[${index}]`, objects, lists + 1)
    }
  } else if (isObject(value)) {
    assertLevels(objects + 1, spot)
    for (const [name, one] of Object.entries(value)) {
      const inner = `${spot}.${name.slice(0, 100)}`
      assertStorable(name, inner)
      walk(one, inner, objects + 1, lists)
    }
  } else if (typeof value === 'string') assertStorable(value, spot)
  else if (typeof value === 'number' && !Number.isNaN(value)) assertExact(value, spot)
  else if (!isScalar(value)) {
    throw new InvalidFilter(`${spot} must be a text, a number, true, false, null or an object`)
  }
}

const isScalar = (value: unknown): boolean => value === null || typeof value === 'boolean'

/**
 * Larger numbers have been rounded, here and in the payloads that they are compared with: an id of 64
 * bits would match that of a neighbour. Any payload compares rightly with a number within these bounds.
 */
function assertExact(number: number, spot: string): void {
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return
  throw new InvalidFilter(
    `${spot} is a number beyond ±${Number.MAX_SAFE_INTEGER}, which is not compared exactly: publish such a number as a text, and compare that`,
  )
}

function assertLevels(levels: number, spot: string): void {
  if (levels <= MAX_LEVELS) return
  throw new InvalidFilter(`${spot} is deeper than ${MAX_LEVELS} levels`)
}

/** Postgres stores no NUL and no half of a surrogate pair. */
function assertStorable(text: string, spot: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return
  throw new InvalidFilter(`${spot} holds a NUL, or half of a surrogate pair`)
}
