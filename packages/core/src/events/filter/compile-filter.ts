/**
 * Filters of webhooks: which of the events that it subscribed to a webhook is sent. The dialect is
 * that of MongoDB's queries, without regular expressions and code, so that the cost of a filter is
 * bounded by its paths.
 */
import { InvalidFilter } from '../../errors.ts'
import { splitPath, type Subject } from './field-path.ts'
import { assertWithinLimits, isObject } from './filter-limits.ts'
import { OPERATORS, type Test } from './operators.ts'
import { keyOfPath, EventValues } from './event-values.ts'
import { TooMuchWork, WorkBound } from './work-bound.ts'

/** Whether an event matches; `null` where that would be more work than one filter may be. */
export type FilterMatch = (event: EventValues, work?: WorkBound) => boolean | null
/** Whether an event matches a part of a filter. @throws TooMuchWork */
type Decide = (event: EventValues, work: WorkBound) => boolean

const LOGICAL = ['$and', '$or', '$not']

/** An event that is too much work does not match. @throws InvalidFilter naming the spot that is wrong */
export function compileFilter(filter: unknown): (subject: Subject) => boolean {
  const match = compileFilterMatch(filter)
  return (subject) => match(new EventValues(subject)) === true
}

/** @throws InvalidFilter naming the spot that is wrong */
export function compileFilterMatch(filter: unknown): FilterMatch {
  assertWithinLimits(filter)
  const decide = compile(filter, [], 'filter')
  return (event, work = new WorkBound()) => {
    try {
      return decide(event, work)
    } catch (error) {
      if (error instanceof TooMuchWork) return null
      throw error
    }
  }
}

/** A condition on the value at `path`: the value that it must equal, or an object of conditions. */
function compile(condition: unknown, path: readonly string[], spot: string): Decide {
  if (!isObject(condition)) {
    if (path.length > 0) return compileTest('$eq', condition, path, spot)
    throw new InvalidFilter(`${spot} must be an object`)
  }
  const names = Object.keys(condition)
  // `{}` at the root is a filter that everything matches; at a path it has no meaning.
  if (names.length === 0 && path.length > 0) {
    throw new InvalidFilter(`${spot} is empty: give it a value, an operator or a field`)
  }
  return every(
    names.map((name) => {
      const inner = `${spot}.${name}`
      if (name === '$not') {
        const decide = compile(condition[name], path, inner)
        return (event, work) => !decide(event, work)
      }
      if (name === '$and') return every(compileAll(condition[name], path, inner))
      if (name === '$or') {
        const branches = compileAll(condition[name], path, inner)
        return (event, work) => branches.some((decide) => decide(event, work))
      }
      if (name.startsWith('$')) return compileTest(name, condition[name], path, inner)
      return compile(condition[name], splitPath(name, path, inner), inner)
    }),
  )
}

function compileAll(conditions: unknown, path: readonly string[], spot: string): Decide[] {
  if (!Array.isArray(conditions) || conditions.length === 0) {
    throw new InvalidFilter(`${spot} must be a list of at least one condition`)
  }
  return conditions.map((one, index) => compile(one, path, `${spot}[${index}]`))
}

function compileTest(
  name: string,
  operand: unknown,
  path: readonly string[],
  spot: string,
): Decide {
  const operator = OPERATORS.get(name)
  if (operator === undefined) {
    const known = [...OPERATORS.keys(), ...LOGICAL].join(', ')
    throw new InvalidFilter(`${spot} is no operator: there are ${known}`)
  }
  if (path.length === 0) throw new InvalidFilter(`${spot} must stand below a field`)
  const test: Test = operator(operand, spot)
  const key = keyOfPath(path)
  const { comparisons = 1 } = test
  return (event, work) => test(event.valuesAt(path, key, work, comparisons))
}

function every(conditions: Decide[]): Decide {
  const [only] = conditions
  if (only !== undefined && conditions.length === 1) return only
  return (event, work) => conditions.every((decide) => decide(event, work))
}
